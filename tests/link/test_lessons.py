"""Lessons hold every marked mention with its entity, and weigh names that are not marked."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import few

from kgraft.graph.annotated import Annotated, annotate
from kgraft.link.lessons import Lessons, Marked, Unmarked, find_lessons
from kgraft.link.reading import positions

TEXT = "Paris and New York City pay in euro, not in Texas."
OFTEN = Unmarked(name=0.3, word=0.8)
WORDS = ["Paris", "New", "York", "City", "rules", "the", "Zürich", "東京", "euro", "'s"]


def mark(graph, *surfaces, text=TEXT):
    """Mark surfaces of a text, each given with its entity."""
    mentions = [
        {"start": text.index(name), "end": text.index(name) + len(name), "entity": entity}
        for name, entity in surfaces
    ]
    return annotate(graph, [(text, mentions)])


def surfaces(marked, places):
    start, end = positions(marked.windows, marked.named, places)
    return [TEXT[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)]


@pytest.fixture
def marked(model, knowledge, graph):
    return Marked.of(model, knowledge, mark(graph, ("New York", "ny")), OFTEN)


def test_names_that_touch_no_mark_weigh_by_how_they_are_written(marked):
    weights = dict(zip(surfaces(marked, marked.names), marked.weight.tolist(), strict=True))
    assert weights == pytest.approx({"Paris": 0.3, "euro": 0.8, "Texas": 0.3})
    assert surfaces(marked, marked.gold) == ["New York"]


def test_lessons_weigh_unmarked_names_less(model, knowledge, marked):
    lessons = find_lessons(model, knowledge, marked)
    found = surfaces(marked, lessons.places)
    weights = dict(zip(found, lessons.weight.tolist(), strict=True))
    assert weights["New York"] == weights["New York City"] == 1  # marked, and beside a mark
    assert (weights["Paris"], weights["euro"]) == pytest.approx((0.3, 0.8))
    assert all(weight == 1 for name, weight in weights.items() if name not in
               ("Paris", "euro", "Texas"))  # fmt: skip


def test_the_marked_entity_is_among_the_candidates_by_name_or_not(model, knowledge, graph):
    """A Paris that is a candidate, a euro that no name leads to, and a span that is no name."""
    given = (("Paris", "myth"), ("euro", "r3"), ("not in", "tokyo"))
    marked = Marked.of(model, knowledge, mark(graph, *given), OFTEN)
    lessons = find_lessons(model, knowledge, marked)
    rows = dict(zip(surfaces(marked, lessons.places), range(len(lessons.gold)), strict=True))
    for name, entity in given:
        row = rows[name]
        assert lessons.entity[row, lessons.gold[row]] == graph.numbers_of([entity])[0]
    others = [row for name, row in rows.items() if name not in dict(given)]
    assert (lessons.gold[others] == -1).all()


@given(data=st.data(), words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
@few
def test_gold_is_always_among_the_candidates_and_none_stands_twice(
    model, knowledge, graph, data, words
):
    text, count = " ".join(words), len(graph.entities)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:-1]
    chosen = data.draw(st.sets(st.integers(0, len(words) - 1)))
    numbers = np.array(sorted(chosen), np.int64)
    entity = np.array([data.draw(st.integers(-1, count - 1)) for _ in numbers], np.int64)
    ends = starts + [len(word) for word in words]
    mentions = Annotated([text], np.zeros_like(numbers), starts[numbers], ends[numbers], entity)
    marked = Marked.of(model, knowledge, mentions, OFTEN)
    lessons = find_lessons(model, knowledge, marked)
    assert len(marked.gold.window) == len(numbers)
    assert (np.diff(lessons.window) >= 0).all()
    told = {}
    for row, column in enumerate(lessons.gold.tolist()):
        kept = lessons.entity[row][lessons.entity[row] >= 0].tolist()
        assert len(kept) == len(set(kept))
        if column >= 0:
            start, _ = positions(marked.windows, marked.named, lessons.places)
            told[int(start[row])] = int(lessons.entity[row, column])
    known = zip(starts[numbers].tolist(), entity.tolist(), strict=True)
    assert told == {start: number for start, number in known if number >= 0}


def test_mentions_that_fit_no_text_or_window_are_left_out(model, knowledge, graph):
    size = len(TEXT)
    spans = [(-1, 3), (3, 3), (5, 2), (size - 1, size + 1), (0, size), (5, 6), (0, 5)]
    start, end = np.array(spans).T
    data = Annotated([TEXT], np.zeros(7, np.int64), start, end, np.arange(7))
    marked = Marked.of(model, knowledge, data, OFTEN)
    assert surfaces(marked, marked.gold) == ["Paris"]
    assert marked.entity.tolist() == [6]


def test_lessons_survive_as_tensors(model, knowledge, marked):
    lessons = find_lessons(model, knowledge, marked)
    again = Lessons.of_state({name: tensor.clone() for name, tensor in lessons.state().items()})
    for name, tensor in lessons.state().items():
        assert torch.equal(tensor, again.state()[name])
        assert tensor.dtype == again.state()[name].dtype


def test_texts_without_names_and_marks_have_lessons_of_nothing(model, knowledge):
    none = np.zeros(0, np.int64)
    marked = Marked.of(model, knowledge, Annotated(["", "…"], none, none, none, none), OFTEN)
    lessons = find_lessons(model, knowledge, marked)
    assert (lessons.gold == -1).all()
    assert len(marked.names.window) == len(marked.gold.window) == 0
