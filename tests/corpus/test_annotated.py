"""Annotated texts: files that are read or refused line by line, and parts of them."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts
from tests.graph.tiny import examples, quick

from kgraft.corpus import AnnotatedTexts, annotate, read_annotated, read_links
from kgraft.errors import BadInput, NotFound
from kgraft.graph import IGNORED, UNKNOWN, Mentions

GOOD = {"text": "Paris, 東京", "mentions": [{"start": 0, "end": 5, "entity": "fr-paris"}]}


def rows(data):
    """Return each text with its mentions."""
    columns = (data.mentions.start, data.mentions.end, data.gold)
    mentions = list(zip(*(column.tolist() for column in columns), strict=True))
    texts = [(text, []) for text in data.texts]
    for index, mention in zip(data.mentions.text.tolist(), mentions, strict=True):
        texts[index][1].append(mention)
    return texts


def numbered(counts):
    """Return texts with so many mentions each; every mention can be told from the others."""
    text = np.repeat(np.arange(len(counts)), counts)
    start = np.arange(len(text))
    texts = [f"text {n}" for n in range(len(counts))]
    return annotated_texts(texts, text.astype(np.int64), start, start + 1, start * 10)


COUNTS = st.lists(st.integers(0, 3), max_size=8)


def test_examples_become_arrays(graph):
    data = annotate(graph, [(GOOD["text"], GOOD["mentions"]), ("nothing", [])])
    assert rows(data) == [
        ("Paris, 東京", [(0, 5, graph.indices_of(["fr-paris"])[0])]),
        ("nothing", []),
    ]
    assert data.mentions.start.dtype == data.gold.dtype == np.int64


def test_an_entity_that_the_graph_lacks_is_unknown(graph):
    data = annotate(graph, [("Zorblax", [{"start": 0, "end": 7, "entity": "zorblax"}])])
    assert data.gold.tolist() == [UNKNOWN]


def test_texts_without_mentions_are_fine(graph):
    data = annotate(graph, [("a", []), ("b", [])])
    assert (len(data), len(data.mentions)) == (2, 0)


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
    [paris] = graph.indices_of(["fr-paris"])
    assert [mentions for _, mentions in rows(data)] == [
        [(0, 5, paris), (7, 9, IGNORED)],
        [(0, 5, paris)],
        [(0, 3, IGNORED)],
    ]
    assert data.gold.dtype == np.int64
    assert graph.indices_of(["no such entity", ""]).tolist() == [-1, -1]  # not what is ignored


def test_a_part_keeps_its_unlinked_spans(graph):
    span = {"start": 0, "end": 1, "entity": None}
    data = annotate(graph, [("a", []), ("b", [span]), ("c", [span])])
    assert data.gold.tolist() == [IGNORED, IGNORED]
    assert rows(data.select(np.array([2, 0]))) == [("c", [(0, 1, IGNORED)]), ("a", [])]


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
        ("[]", "[]"),
        ("7", "7, not an object"),
        ('{"text": "a"}', "it has no 'mentions'"),
        ('{"mentions": []}', "it has no 'text'"),
        ('{"text": 7, "mentions": []}', "7, not a string"),
        ('{"text": "a", "mentions": null}', "None, not a list"),
        ('{"text": "a", "mentions": ["b"]}', "'b', not an object"),
        ('{"text": "a", "mentions": [{"start": 0}]}', "it has no 'end'"),
        (json.dumps(mention(start="0")), "'0'"),
        (json.dumps(mention(end=5.0)), "5.0"),
        (json.dumps(mention(end=True)), "True"),
        (json.dumps(mention(end=10**30)), "1000"),
        (json.dumps(mention(entity=7)), "entity of a mention is 7"),
        (json.dumps(mention(entity=None)), "entity of a mention is None"),
        (json.dumps(GOOD | {"unlinked": None}), "unlinked is None"),
        (json.dumps(GOOD | {"unlinked": ["b"]}), "'b', not an object"),
        (json.dumps(GOOD | {"unlinked": [{"start": 0}]}), "it has no 'end'"),
        (json.dumps(GOOD | {"unlinked": [{"start": 0, "end": "1"}]}), "'1'"),
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
    with pytest.raises(BadInput, match=r"texts\.jsonl: contains no text"):
        read_annotated(tmp_path / "texts.jsonl", graph)


def packed(damage):
    return damage(gzip.compress(json.dumps(GOOD).encode() * 50))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("texts.jsonl", b'{"text": "\xff"}', "is not UTF-8"),
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
@quick
def test_selected_texts_come_in_the_order_given(counts, data):
    whole = numbered(counts)
    indices = data.draw(st.lists(st.integers(0, max(len(counts) - 1, 0)), unique=True))
    indices = indices if counts else []
    selected = whole.select(np.array(indices, np.int64))
    assert rows(selected) == [rows(whole)[index] for index in indices]
    mask = np.array([data.draw(st.booleans()) for _ in counts], bool)
    expected = [row for row, is_kept in zip(rows(whole), mask, strict=True) if is_kept]
    assert rows(whole.select(mask)) == expected


@given(st.lists(COUNTS, min_size=1, max_size=4))
@quick
def test_several_sets_become_one(sets):
    parts = [numbered(counts) for counts in sets]
    expected = [row for part in parts for row in rows(part)]
    assert rows(AnnotatedTexts.concat(parts)) == expected


@given(counts=COUNTS, seed=st.integers(0, 9), fraction=st.sampled_from([0.1, 0.5, 1.0]))
@quick
def test_texts_that_are_held_out_are_not_trained_on(counts, seed, fraction):
    whole = numbered(counts)
    train, valid = whole.hold_out(fraction=fraction, seed=seed)
    assert sorted(rows(train) + rows(valid)) == sorted(rows(whole))
    assert bool(len(train)) == bool(counts)


def test_texts_without_gold_entities_are_not_annotated():
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="gold"):
        AnnotatedTexts(["a"], Mentions.without_candidates(none, none, none))


def test_other_texts_and_other_mentions_have_another_digest():
    whole = numbered([1, 2])
    digests = {numbered(counts).digest() for counts in ([1, 2], [2, 1], [1, 1], [1, 2, 0])}
    assert len(digests) == 4
    assert whole.digest() == numbered([1, 2]).digest()


def test_links_are_read_as_annotations(graph, tmp_path):
    file = tmp_path / "links.jsonl"
    links = [{"start": 0, "end": 5, "id": "myth", "score": 0.5}, {"start": 7, "end": 9, "id": "?"}]
    lines = [{"text": "Paris, 東京", "links": links}, {"text": "nothing", "links": []}]
    file.write_text("\n".join(map(json.dumps, lines)))
    myth = int(graph.indices_of(["myth"])[0])
    spans = [(0, 5, myth), (7, 9, UNKNOWN)]
    assert rows(read_links(file, graph)) == [("Paris, 東京", spans), ("nothing", [])]


@pytest.mark.parametrize("line", ["{", "[]", '{"text": "a"}', '{"text": "a", "links": [{}]}'])
def test_a_line_without_links_is_refused(graph, tmp_path, line):
    file = tmp_path / "links.jsonl"
    file.write_text('{"text": "a", "links": []}\n' + line)
    with pytest.raises(BadInput) as error:
        read_links(file, graph)
    assert (error.value.file, error.value.line) == (str(file), 2)
