from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names import alias_build
from kgraft.graph.names.alias_build import LONGER, Form, Names, build_aliases, lengthen
from kgraft.graph.names.fold import HashedTokens, fold_name
from kgraft.graph.names.stems import build_variants, name_stems
from kgraft.hashing import multiplier

NAMES = st.lists(st.text("abA -\u00ad", max_size=7), max_size=12)


def build(names, entities=None, *, degree=(0,) * 20, counts=None, origin=None):
    entity = np.array(range(len(names)) if entities is None else entities, np.int32)
    column = pa.chunked_array([names], pa.string())
    seen = np.full(len(names), -1) if counts is None else np.array(counts, np.int64)
    origins = None if origin is None else np.array(origin, np.uint8)
    return build_aliases(Names(column, entity, seen, origins), np.array(degree))


def phrase_hash(words, seed):
    """h(w₁…wₙ₊₁) = h(w₁…wₙ)·C + wₙ₊₁ in Python's whole numbers."""
    factor, total = int(multiplier(seed + 1)), 0
    for place, word in enumerate(words):
        token = int(HashedTokens.of(word, seed).hash[0])
        total = (total * factor + token) % 2**64 if place else token
    return total


def lists(tables, name):
    return tables[name].to_pydict()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=2), st.integers(0, 99))
def test_lengthen_follows_its_formula(pair, seed):
    phrase, token = (np.array([value], np.uint64) for value in pair)
    expected = (pair[0] * int(multiplier(seed + 1)) + pair[1]) % 2**64
    assert lengthen(phrase, token, seed).tolist() == [expected]


def test_aliases_are_the_different_keys_in_order():
    tables, _ = build(["b", "A  x", "á X", "", "東"])
    assert lists(tables, "aliases") == {"key": ["a x", "b", "東"]}
    assert lists(tables, "alias_bounds") == {"start": [0, 2, 3, 4]}
    assert lists(tables, "candidates")["entity"] == [1, 2, 0, 4]


def test_a_name_weighs_one_more_than_the_degree():
    tables, _ = build(["a", "A", "a", "b"], [0, 1, 0, 2], degree=[4, 9, 0])
    assert lists(tables, "candidates") == {"entity": [1, 0, 2], "weight": [10, 5, 1]}


def test_a_name_weighs_one_more_than_all_its_counts():
    tables, _ = build(["a", "A", "a", "b"], [0, 1, 0, 2], degree=[4, 9, 0], counts=[2, 3, 5, 0])
    assert lists(tables, "candidates") == {"entity": [0, 1, 2], "weight": [8, 4, 1]}


@given(NAMES)
def test_phrases_are_the_beginnings_of_all_aliases(names):
    tables, seed = build(names)
    keys = sorted({fold_name(name) for name in names} - {""})
    expected = {}
    for row, name in enumerate(keys):
        words = name.split(" ")
        for size in range(1, len(words) + 1):
            value = row + 1 if size == len(words) else int(LONGER)
            phrase = phrase_hash(words[:size], seed)
            expected[phrase] = expected.get(phrase, 0) | value
    phrases = lists(tables, "phrases")
    assert phrases["hash"] == sorted(expected)
    assert phrases["value"] == [expected[phrase] for phrase in phrases["hash"]]


@given(NAMES)
def test_words_lead_to_all_aliases_that_hold_them(names):
    tables, seed = build(names)
    held = {}
    for row, name in enumerate(sorted({fold_name(name) for name in names} - {""})):
        for word in set(name.split(" ")):
            held.setdefault(phrase_hash([word], seed), []).append(row)
    words, postings = lists(tables, "words"), lists(tables, "postings")["alias"]
    bounds = [*words["start"], len(postings)]
    found = [postings[first:last] for first, last in pairwise(bounds)]
    assert dict(zip(words["hash"], found, strict=True)) == held


@given(NAMES)
def test_names_are_folded_in_pieces_as_in_one(names):
    whole, seed = build(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alias_build, "_NAMES", 2)
        pieces, again = build(names)
    assert again == seed
    assert {name: table.to_pydict() for name, table in pieces.items()} == {
        name: table.to_pydict() for name, table in whole.items()
    }


def test_a_seed_under_which_two_aliases_hash_alike_is_passed_over(monkeypatch):
    def clash_at_first(values, bounds, seed):
        hashes = true_hash(values, bounds, seed)
        return hashes * 0 if seed == 0 else hashes

    true_hash = alias_build.hash_segments
    monkeypatch.setattr(alias_build, "hash_segments", clash_at_first)
    tables, seed = build(["a", "b"])
    assert seed == 1
    assert len(tables["phrases"]) == 2


def test_no_names_give_empty_tables():
    tables, _ = build([])
    assert {name: len(table) for name, table in tables.items()} == {
        "aliases": 0,
        "alias_bounds": 1,
        "candidates": 0,
        "name_forms": 0,
        "variants": 0,
        "rewordings": 0,
        "reduced": 0,
        "phrases": 0,
        "phrase_buckets": 2,
        "words": 0,
        "word_buckets": 2,
        "postings": 0,
    }


def test_progress_counts_the_names():
    class Seen:
        def __init__(self):
            self.stages, self.done = [], 0

        def start(self, what, total=None):
            self.stages.append((what, total))

        def advance(self, amount=1):
            self.done += amount

    seen = Seen()
    names = Names(pa.chunked_array([["a", "b"], ["c"]]), np.zeros(3, np.int32), np.full(3, -1))
    build_aliases(names, np.zeros(1, np.int64), seen)
    assert seen.stages == [("folding names", 3), ("indexing names", None)]
    assert seen.done == 3


def test_counts_of_one_name_leave_the_degrees_of_others_alone():
    tables, _ = build(["a", "A", "b"], [0, 1, 2], degree=[4, 9, 7], counts=[-1, -1, 3])
    assert lists(tables, "candidates") == {"entity": [1, 0, 2], "weight": [10, 5, 4]}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("cancer", Form.LOWER),
        ("t-cell 2", Form.LOWER),
        ("WD", Form.UPPER),
        ("HIV-1", Form.UPPER),
        ("Paris", Form.MIXED),
        ("mRNA", Form.MIXED),
        ("東京", Form.MIXED),
        ("42", Form.MIXED),
        ("", Form.MIXED),
        ("état", Form.LOWER),
        ("ÉTAT", Form.UPPER),
    ],
)
def test_the_case_of_a_name_is_its_form(name, form):
    column, entity = pa.chunked_array([[name]], pa.string()), np.zeros(1, np.int32)
    forms = Names(column, entity, np.array([-1])).forms()
    assert (forms.tolist(), forms.dtype) == ([form], np.uint8)
    origin = np.array([Form.LABEL], np.uint8)
    assert Names(column, entity, np.array([-1]), origin).forms().tolist() == [form | Form.LABEL]


NAMED = st.lists(
    st.tuples(
        st.text("abA ", max_size=3),
        st.integers(0, 3),
        st.sampled_from([0, Form.LABEL, Form.DERIVED]),
    ),
    max_size=10,
)


@given(NAMED)
def test_the_forms_of_a_candidate_are_those_of_all_its_names(rows):
    names, entities, origin = (list(c) for c in zip(*rows, strict=True)) if rows else ([], [], [])
    tables, _ = build(names, entities, origin=origin)
    expected = {}
    for name, entity, start in rows:
        is_upper, is_lower = name.isupper(), name.islower()
        case = Form.UPPER if is_upper else Form.LOWER if is_lower else Form.MIXED
        expected.setdefault((fold_name(name), entity), []).append((case, start))
    bounds, aliases = lists(tables, "alias_bounds")["start"], lists(tables, "aliases")["key"]
    alias = np.repeat(np.arange(len(aliases)), np.diff(bounds)).tolist()
    for row, entity in enumerate(lists(tables, "candidates")["entity"]):
        cases, starts = zip(*expected[aliases[alias[row]], entity], strict=True)
        forms = Form(lists(tables, "name_forms")["forms"][row])
        for case in (Form.LOWER, Form.UPPER, Form.MIXED):
            assert (case in forms) == (case in cases)
        assert (Form.LABEL in forms) == (Form.LABEL in starts)
        assert (Form.DERIVED in forms) == all(start == Form.DERIVED for start in starts)


@given(NAMES)
def test_variants_are_those_of_the_aliases(names):
    tables, _ = build(names)
    aliases = tables["aliases"]["key"]
    expected = build_variants(*name_stems(aliases), len(aliases))
    assert tables["variants"].to_pydict() == expected.to_pydict()
