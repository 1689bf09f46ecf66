"""Annotated texts: files that are read or refused line by line, and parts of them."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import examples, some

from kgraft.errors import BadInput, NotFound
from kgraft.graph.annotated import (
    IGNORED,
    Annotated,
    annotate,
    documents_of,
    joined,
    read_annotated,
    split_texts,
)

GOOD = {"text": "Paris, 東京", "mentions": [{"start": 0, "end": 5, "entity": "fr-paris"}]}


def rows(data):
    """Return each text with its mentions."""
    columns = (data.start, data.end, data.entity)
    mentions = list(zip(*(column.tolist() for column in columns), strict=True))
    found = [(text, []) for text in data.texts]
    for number, mention in zip(data.text.tolist(), mentions, strict=True):
        found[number][1].append(mention)
    return found


def numbered(counts):
    """Return texts with so many mentions each; every mention can be told from the others."""
    text = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(text))
    texts = [f"text {n}" for n in range(len(counts))]
    return Annotated(texts, text.astype(np.int64), place, place + 1, place * 10)


COUNTS = st.lists(st.integers(0, 3), max_size=8)


def test_examples_become_arrays(graph):
    data = annotate(graph, [(GOOD["text"], GOOD["mentions"]), ("nothing", [])])
    assert rows(data) == [
        ("Paris, 東京", [(0, 5, graph.numbers_of(["fr-paris"])[0])]),
        ("nothing", []),
    ]
    assert data.start.dtype == data.entity.dtype == np.int64


def test_an_entity_that_the_graph_lacks_has_the_number_of_none(graph):
    data = annotate(graph, [("Zorblax", [{"start": 0, "end": 7, "entity": "zorblax"}])])
    assert data.entity.tolist() == [-1]


def test_texts_without_mentions_are_fine(graph):
    data = annotate(graph, [("a", []), ("b", [])])
    assert (len(data), len(data.text)) == (2, 0)


@pytest.mark.parametrize("name", ["texts.jsonl", "texts.jsonl.gz"])
def test_a_file_is_read_plain_or_packed(graph, tmp_path, name):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(tmp_path / name, "wt", encoding="utf-8") as file:
        for text, mentions in examples():
            file.write(json.dumps({"text": text, "mentions": mentions, "more": 1}) + "\n\n")
    assert rows(read_annotated(tmp_path / name, graph)) == rows(annotate(graph, examples()))


def test_unlinked_spans_are_neither_right_nor_wrong(graph, tmp_path):
    lines = [
        GOOD | {"unlinked": [{"start": 7, "end": 9, "why": "a village"}]},
        GOOD | {"unlinked": []},
        {"text": "nothing", "mentions": [], "unlinked": [{"start": 0, "end": 3}]},
    ]
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    data = read_annotated(file, graph)
    [paris] = graph.numbers_of(["fr-paris"])
    assert [mentions for _, mentions in rows(data)] == [
        [(0, 5, paris), (7, 9, IGNORED)],
        [(0, 5, paris)],
        [(0, 3, IGNORED)],
    ]
    assert data.entity.dtype == np.int64
    assert graph.numbers_of(["no such entity", ""]).tolist() == [-1, -1]  # not what is ignored


def test_a_part_keeps_its_unlinked_spans(graph):
    span = {"start": 0, "end": 1, "entity": None}
    data = annotate(graph, [("a", []), ("b", [span]), ("c", [span])])
    assert data.entity.tolist() == [IGNORED, IGNORED]
    assert rows(data.part(np.array([2, 0]))) == [("c", [(0, 1, IGNORED)]), ("a", [])]


@pytest.mark.parametrize("empty", ["[]", "{}", '""'])
def test_mentions_may_be_empty_in_any_way(graph, tmp_path, empty):
    (tmp_path / "texts.jsonl").write_text(f'{{"text": "a", "mentions": {empty}}}')
    assert rows(read_annotated(tmp_path / "texts.jsonl", graph)) == [("a", [])]


def mention(**changes):
    return {"text": "Paris", "mentions": [GOOD["mentions"][0] | changes]}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "TypeError"),
        ("7", "TypeError"),
        ('{"text": "a"}', "KeyError: 'mentions'"),
        ('{"mentions": []}', "KeyError: 'text'"),
        ('{"text": 7, "mentions": []}', "its text is no string"),
        ('{"text": "a", "mentions": null}', "TypeError"),
        ('{"text": "a", "mentions": ["b"]}', "TypeError"),
        ('{"text": "a", "mentions": [{"start": 0}]}', "KeyError: 'end'"),
        (json.dumps(mention(start="0")), "start and end of a mention are whole numbers"),
        (json.dumps(mention(end=5.0)), "start and end of a mention are whole numbers"),
        (json.dumps(mention(end=True)), "start and end of a mention are whole numbers"),
        (json.dumps(mention(end=10**30)), "start and end"),
        (json.dumps(mention(entity=7)), "the entity of a mention is an id"),
        (json.dumps(mention(entity=None)), "the entity of a mention is an id"),
        (json.dumps(GOOD | {"unlinked": None}), "TypeError"),
        (json.dumps(GOOD | {"unlinked": ["b"]}), "TypeError"),
        (json.dumps(GOOD | {"unlinked": [{"start": 0}]}), "KeyError: 'end'"),
        (json.dumps(GOOD | {"unlinked": [{"start": 0, "end": "1"}]}), "start and end"),
    ],
)
def test_a_bad_line_is_refused_with_file_and_line(graph, tmp_path, line, reason):
    file = tmp_path / "texts.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_annotated(file, graph)
    assert (error.value.file, error.value.line) == (str(file), 3)
    assert reason in error.value.reason
    assert error.value.remedy.startswith('write {"text"')
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_told_of(graph, tmp_path):
    with pytest.raises(NotFound, match=r"no file .*gone.jsonl; give JSON Lines"):
        read_annotated(tmp_path / "gone.jsonl", graph)


def test_a_file_without_texts_is_refused(graph, tmp_path):
    (tmp_path / "texts.jsonl").write_text("\n\n")
    with pytest.raises(BadInput, match=r"texts.jsonl: holds no text; write \{"):
        read_annotated(tmp_path / "texts.jsonl", graph)


def packed(damage):
    return damage(gzip.compress(json.dumps(GOOD).encode() * 50))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("texts.jsonl", b'{"text": "\xff"}', "no UTF-8"),
        ("texts.jsonl", b"[" * 100_000, "nested too deeply"),
        ("texts.jsonl.gz", b"no gzip", "damaged"),
        ("texts.jsonl.gz", packed(lambda whole: whole[:-20]), "truncated"),
        ("texts.jsonl.gz", packed(lambda w: w[:30] + b"\xff" * 9 + w[39:]), "damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(graph, tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=reason) as error:
        read_annotated(tmp_path / name, graph)
    assert error.value.file == str(tmp_path / name)


@given(counts=COUNTS, data=st.data())
@some
def test_a_part_has_the_texts_in_the_order_given(counts, data):
    whole = numbered(counts)
    numbers = data.draw(st.lists(st.integers(0, max(len(counts) - 1, 0)), unique=True))
    numbers = numbers if counts else []
    part = whole.part(np.array(numbers, np.int64))
    assert rows(part) == [rows(whole)[number] for number in numbers]


@given(st.lists(COUNTS, min_size=1, max_size=4))
@some
def test_several_sets_become_one(sets):
    parts = [numbered(counts) for counts in sets]
    assert rows(joined(parts)) == [row for part in parts for row in rows(part)]


@given(counts=COUNTS, seed=st.integers(0, 9))
@some
def test_a_split_loses_nothing(counts, seed):
    whole = numbered(counts)
    learnt, chosen_by = split_texts(whole, seed=seed)
    assert sorted(rows(learnt) + rows(chosen_by)) == sorted(rows(whole))
    assert len(chosen_by) == (max(len(counts) // 10, 1) if len(counts) > 1 else 0)


def test_the_split_comes_from_the_seed():
    whole = numbered([1] * 50)
    assert split_texts(whole, seed=1)[1].texts == split_texts(whole, seed=1)[1].texts
    assert split_texts(whole, seed=1)[1].texts != split_texts(whole, seed=2)[1].texts
    assert len(split_texts(whole)[1]) == 5


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.1", "a.2", "b.1"], ["a", "a", "b"]),
        (["a.1", "b.1", "a.2"], None),  # no two neighbours
        (["a.1", "a.2", "3"], None),
        ([None, None], None),
    ],
)
def test_documents_are_told_by_ids(tmp_path, names, expected):
    path = tmp_path / "texts.jsonl"
    lines = [{"text": "x", "mentions": []} | ({"id": n} if n else {}) for n in names]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert documents_of(path) == expected
