"""Files of tasks become examples, and a bad line is refused with its number."""

import gzip
import json

import numpy as np
import pytest

from kgraft.errors import BadInput, NotFound
from kgraft.measure import f1, macro_f1
from kgraft.tasks import GRAFT_TASKS
from kgraft.tasks.examples import mark_spans
from kgraft.tasks.graft.semeval2010_8 import CLASSES, RELATIONS, SEMEVAL
from kgraft.tasks.graft.typing import TYPING
from kgraft.tasks.graft.wic import WIC

PAIR = {"text1": "a bank", "span1": [2, 6], "text2": "banks", "span2": [0, 5], "same": True}
RELATED = {"text": "a cat sat", "head": [6, 9], "tail": [2, 5], "relation": "Other"}
TYPED = {
    "text": "She ran",
    "mentions": [{"start": 0, "end": 3, "types": ["person", "runner", "group"]}],
}


def write(folder, *lines):
    path = folder / "train.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_tasks_are_registered_by_their_names():
    for task in (WIC, SEMEVAL, TYPING):
        assert GRAFT_TASKS[task.name] is task


def test_words_in_context(tmp_path):
    examples = WIC.read(write(tmp_path, PAIR, PAIR | {"same": False}))
    assert len(examples) == 2
    assert examples.text.tolist() == [[0, 1], [0, 1]]  # the same texts are read once
    assert examples.texts[1] == "banks"
    assert examples.classes.tolist() == [[False, True], [True, False]]


def test_relations_are_marked_by_signs(tmp_path):
    examples = SEMEVAL.read(write(tmp_path, RELATED))
    [text] = examples.texts
    assert examples.text.tolist() == [[0, 0]]
    assert text == "a # cat # @ sat @"
    head, tail = zip(examples.start[0], examples.end[0], strict=True)
    assert text[slice(*head)] == "sat"
    assert text[slice(*tail)] == "cat"


def test_a_span_inside_another_is_marked_too():
    text, spans = mark_spans("new york city", [0, 13], [4, 8])
    assert [text[a:b] for a, b in spans][1] == "york"


def test_types(tmp_path):
    examples = TYPING.read(write(tmp_path, TYPED))
    assert [c for c, there in zip(TYPING.classes, examples.classes[0], strict=True) if there] == [
        "person",
        "group",
    ]


@pytest.mark.parametrize("line", ['{"text1": 1}', "no json", "[]"])
def test_a_bad_line_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(PAIR) + "\n" + line)
    with pytest.raises(BadInput, match=r"train\.jsonl:2"):
        WIC.read(path)


def test_no_file_and_an_empty_one(tmp_path):
    with pytest.raises(NotFound):
        WIC.read(tmp_path / "none.jsonl")
    with pytest.raises(BadInput, match=r"train\.jsonl"):
        WIC.read(write(tmp_path))


def test_a_packed_file(tmp_path):
    path = tmp_path / "train.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps(PAIR))
    assert len(WIC.read(path)) == 1


def slow_macro_f1(true, found):
    """The official score: directions together, Other left out, a wrong direction is no hit."""
    scores = []
    for relation in RELATIONS:
        right = sum(t == f and t.startswith(relation) for t, f in zip(true, found, strict=True))
        wanted = sum(t.startswith(relation) for t in true)
        given = sum(f.startswith(relation) for f in found)
        scores.append(2 * right / (wanted + given) if wanted + given else 0.0)
    return sum(scores) / len(scores)


def test_the_official_score_of_relations():
    draw = np.random.default_rng(0)
    true, found = (draw.integers(len(CLASSES), size=300) for _ in range(2))
    found[:150] = true[:150]
    one_hot = np.eye(len(CLASSES), dtype=bool)
    counts = SEMEVAL.counts(one_hot[true], one_hot[found])
    expected = slow_macro_f1([CLASSES[i] for i in true], [CLASSES[i] for i in found])
    assert float(macro_f1(counts.sum(0))) == pytest.approx(expected)


def test_the_score_of_types():
    true = np.array([[1, 1, 0], [0, 0, 1]], bool)
    found = np.array([[1, 0, 0], [0, 1, 1]], bool)
    assert float(f1(TYPING.counts(true, found).sum(0))) == pytest.approx(2 * 2 / (3 + 3))
