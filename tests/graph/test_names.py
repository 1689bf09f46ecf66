"""Names are found where they stand, with the entities that bear them, as those come and go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import build, quick

from kgraft.graph.fold import key
from kgraft.graph.names import Names

WORDS = [
    "Paris",
    "paris",
    "New",
    "York",
    "City",
    "La",
    "France",
    "TEXAS",
    "Zu\u0308rich",
    "東京",
    "都",
]
OTHERS = ["😀", "\u00ad", "\u0301", "\ud800", ".", "'", "\n", " ", "  "]
TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS + OTHERS), max_size=12).map("".join),
    st.text(max_size=20),
)
TEXTS = st.lists(TEXT, max_size=5)
INVENTED = [{"id": "x", "label": "Xanadu", "aliases": ["Paris"]}, {"id": "y", "label": "Zorblax"}]


@pytest.fixture(scope="module")
def nothing(graph, tmp_path_factory):
    everything = graph.entities["id"].to_pylist()
    return graph.without(tmp_path_factory.mktemp("nothing") / "graph", entities=everything)


@pytest.fixture(scope="session")
def invented(tmp_path_factory):
    return build(tmp_path_factory.mktemp("invented") / "graph", [], INVENTED, None)


def spans(named):
    return list(zip(named.start.tolist(), named.end.tolist(), strict=True))


def surfaces(names, text):
    return [text[start:end] for start, end in spans(names.find([text]))]


def entities(named, row):
    return named.entity[slice(*named.candidates[row : row + 2])].tolist()


@given(texts=TEXTS)
@quick
def test_what_is_found_folds_to_a_name_whatever_the_script(graph, texts):
    named, keys = Names(graph).find(texts), set(graph.aliases.keys)
    whole = "\n".join(texts)
    assert spans(named) == sorted(set(spans(named)))
    for start, end in spans(named):
        assert key(whole[start:end]) in keys


@given(texts=TEXTS)
@quick
def test_texts_read_together_have_the_names_they_have_alone(graph, texts):
    names = Names(graph)
    named = names.find(texts)
    text = named.text_of(named.start)
    assert (named.text_of(named.end - 1) == text).all()
    for number, alone in enumerate(map(names.find, ([t] for t in texts))):
        here = text == number
        shift = named.bounds[number]
        assert (named.start[here] - shift).tolist() == alone.start.tolist()
        assert (named.end[here] - shift).tolist() == alone.end.tolist()


def test_a_name_does_not_run_on_into_the_next_text(graph):
    named = Names(graph).find(["New", "York City", "in New York"])
    assert spans(named) == [(4, 8), (17, 25), (21, 25)]
    assert named.text_of(named.start).tolist() == [1, 2, 2]


@given(texts=TEXTS)
@quick
def test_candidates_are_those_of_the_alias_table(graph, texts):
    named = Names(graph).find(texts)
    whole = "\n".join(texts)
    for row, (start, end) in enumerate(spans(named)):
        expected, prior = graph.aliases.candidates(graph.aliases.row(whole[start:end]))
        assert entities(named, row) == expected.tolist()
        priors = named.prior[slice(*named.candidates[row : row + 2])]
        assert priors.tolist() == pytest.approx(prior.tolist())
        assert priors.sum() == pytest.approx(1)


@given(texts=TEXTS, asked=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=20))
@quick
def test_rows_are_those_of_exact_spans(graph, texts, asked):
    named = Names(graph).find(texts)
    wanted = [(start, start + size) for start, size in asked] + spans(named)
    start, end = np.array(wanted, np.int64).reshape(-1, 2).T
    found = spans(named)
    expected = [found.index(span) if span in found else -1 for span in wanted]
    assert named.rows(start, end).tolist() == expected


@given(texts=TEXTS)
@quick
def test_words_begin_and_end_at_what_can_be_seen(graph, texts):
    named, whole = Names(graph).find(texts), "\n".join(texts)
    assert (np.diff(named.word_starts) > 0).all()
    assert (named.word_starts < named.word_ends).all()
    for start, end in zip(named.word_starts.tolist(), named.word_ends.tolist(), strict=True):
        assert not any(map(str.isspace, whole[start:end]))


@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
def test_texts_that_say_nothing_hold_no_names(graph, texts):
    named = Names(graph).find(texts)
    assert len(named) == len(named.entity) == 0
    assert named.bounds.dtype == np.int64
    assert named.rows(np.array([0]), np.array([1])).tolist() == [-1]


def test_added_names_are_found_beside_the_others(graph, invented):
    names, count = Names(graph), len(graph.entities)
    names.add(invented, np.array([count, count + 1]))
    assert surfaces(names, "From Zorblax to Paris, Xanadu.") == ["Zorblax", "Paris", "Xanadu"]
    named = names.find(["Paris"])
    assert set(entities(named, 0)) == {*graph.numbers_of(["fr-paris", "tx-paris", "myth"]), count}
    assert named.prior.sum() == pytest.approx(1)


def test_what_is_added_replaces_and_hides(graph, invented):
    """The euro is now called Xanadu, and Texas Zorblax; their old names are gone."""
    names, numbers = Names(graph), graph.numbers_of(["euro", "texas"])
    names.add(invented, numbers)
    assert surfaces(names, "euro Texas Lone Star State Xanadu Zorblax") == ["Xanadu", "Zorblax"]
    assert entities(names.find(["Zorblax"]), 0) == [numbers[1]]


def test_adding_again_takes_the_place_of_what_was_added(graph, invented, tmp_path):
    names, count = Names(graph), len(graph.entities)
    names.add(invented, np.array([count, count + 1]))
    names.add(build(tmp_path / "g", [], [{"id": "z", "label": "Quux"}], None), np.array([count]))
    assert surfaces(names, "Zorblax Quux Paris") == ["Quux", "Paris"]


def test_removed_entities_have_no_names_and_leave_the_prior_to_the_others(graph, invented):
    names, count = Names(graph), len(graph.entities)
    names.add(invented, np.array([count, count + 1]))
    names.remove(np.array([count, *graph.numbers_of(["fr-paris", "france"])]))
    assert surfaces(names, "France, Xanadu, Zorblax, Paris") == ["Zorblax", "Paris"]
    named = names.find(["Paris"])
    assert set(entities(named, 0)) == set(graph.numbers_of(["tx-paris", "myth"]))
    assert named.prior.sum() == pytest.approx(1)


def test_a_graph_without_entities_has_no_names(nothing):
    named = Names(nothing).find(["Paris in Texas"])
    assert len(named) == 0
    assert len(named.word_starts) == 3


@given(texts=TEXTS, data=st.data())
@quick
def test_other_names_stand_among_those_found(graph, texts, data):
    found = Names(graph).find(texts)
    last = int(found.bounds[-1])
    span = st.tuples(st.integers(0, last), st.integers(1, 9), st.integers(0, 29))
    more = data.draw(st.lists(span, max_size=5))
    taken = set(spans(found))
    more = {(s, s + n): e for s, n, e in more if (s, s + n) not in taken}
    start, end = np.array(list(more), np.int64).reshape(-1, 2).T
    both = found.also(start, end, np.array(list(more.values()), np.int64))
    assert spans(both) == sorted([*spans(found), *more])
    for row, place in enumerate(spans(both)):
        before = [entities(found, n) for n, other in enumerate(spans(found)) if other == place]
        assert entities(both, row) == (before[0] if before else [more[place]])


def test_other_names_may_mean_several(graph):
    found = Names(graph).find(["Paris and more"])
    both = found.also(
        np.array([6, 10]), np.array([9, 14]), np.array([5, 3, 4]),
        np.array([0.5, 0.3, 0.2], np.float32), np.array([0, 3]),
    )  # fmt: skip
    assert spans(both) == [(0, 5), (6, 9), (10, 14)]
    assert [entities(both, row) for row in (1, 2)] == [[], [5, 3, 4]]
    assert both.prior[-3:].tolist() == pytest.approx([0.5, 0.3, 0.2])


@given(texts=TEXTS, data=st.data())
@quick
def test_names_apart_from_some_spans(graph, texts, data):
    found = Names(graph).find(texts)
    cuts = data.draw(st.lists(st.integers(0, int(found.bounds[-1]) + 3), max_size=8, unique=True))
    cuts = sorted(cuts)[: len(cuts) // 2 * 2]
    taken = list(zip(cuts[::2], cuts[1::2], strict=True))
    rest = found.apart(*np.array(taken, np.int64).reshape(-1, 2).T)
    rows = [n for n, (a, b) in enumerate(spans(found)) if all(b <= c or d <= a for c, d in taken)]
    assert spans(rest) == [spans(found)[row] for row in rows]
    assert [entities(rest, n) for n in range(len(rest))] == [entities(found, row) for row in rows]
