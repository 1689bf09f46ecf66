"""Rewordings: words that names of one entity exchange, and phrases that are names but for them."""

from collections import Counter
from itertools import combinations
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names import rewordings
from kgraft.graph.names.rewordings import (
    RELIABLE,
    RewordingIndex,
    around_brackets,
    build_rewordings,
    in_brackets,
    plausible_rewordings,
)
from kgraft.graph.names.stems import (
    Phrases,
    VariantIndex,
    build_variants,
    name_stems,
    stem,
    stem_hashes,
)

WORDS = ["kidney", "renal", "failure", "stone", "cancer", "x1", "of", "disease"]
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
ENTITIES = st.lists(st.lists(NAME, min_size=1, max_size=4, unique=True), max_size=12)
TEXT = st.lists(st.sampled_from([*WORDS, ".", "the"]), max_size=10)
ORGANS = [
    ["kidney failure", "renal failure"],
    ["kidney stone", "renal stone"],
    ["kidney cancer", "renal cancer"],
    ["kidney papillary necrosis"],
]


def names_of(entities):
    """Return the distinct names, and the rows of (name, entity)."""
    names = sorted({name for own in entities for name in own})
    pairs = sorted({(names.index(n), e) for e, own in enumerate(entities) for n in own})
    return names, np.array(pairs, np.int64).reshape(-1, 2)


def build(entities):
    names, pairs = names_of(entities)
    name, hashes = name_stems(pa.array(names, pa.string()))
    tables = build_rewordings(name, hashes, pairs[:, 0], pairs[:, 1])
    tables["variants"] = build_variants(name, hashes, len(names))
    return names, tables


def index_of(tables):
    return RewordingIndex(tables["rewordings"], tables["reduced"])


def find(tables, words, barrier):
    """Return first word, last word and name of all rewordings."""
    index, phrases = index_of(tables), Phrases.of(words, barrier)
    exchanged = index.exchanged(phrases, VariantIndex(tables["variants"]))
    columns = [*zip(index.shortened(phrases), exchanged, strict=True)]
    return set(zip(*(np.concatenate(pair).tolist() for pair in columns), strict=True))


def bag(words):
    return tuple(sorted(stem(word) for word in words if stem(word)))


def without(content, word):
    rest = list(content)
    if word:
        rest.remove(word)
    return tuple(rest)


def naive_pairs(entities):
    """Count, for every two words, the rests to which both make a name; "" is no word."""
    names, _ = names_of(entities)
    owners = {}
    for entity, own in enumerate(entities):
        for name in own:
            owners.setdefault(bag(name.split()), set()).add(entity)
    words = {"", *(word for content in owners for word in content)}
    rests = {without(c, w) for c in owners for w in {"", *c} if len(c) > (w != "")}
    kept = set()
    for one, other in combinations(sorted(words), 2):
        every, same = 0, 0
        for rest in rests:
            both = [tuple(sorted([*rest, w])) if w else rest for w in (one, other)]
            if all(content in owners for content in both):
                every += 1
                same += bool(owners[both[0]] & owners[both[1]])
        if same >= rewordings.FEWEST and same >= RELIABLE * every:
            kept |= {(one, other), (other, one)}
    return names, kept


def naive_find(entities, words):
    """Try every phrase with every name."""
    names, pairs = naive_pairs(entities)
    contents = [bag(name.split()) for name in names]
    found = set()
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            phrase = words[first:last]
            if "." in phrase or not (stem(phrase[0]) and stem(phrase[-1])):
                continue
            content = bag(phrase)
            reached = {content[:i] + content[i + 1 :] + (b,) for i, a in enumerate(content)
                       for b in WORD_STEMS if (a, b) in pairs and len(content) > 1}  # fmt: skip
            reached |= {(*content, b) for b in WORD_STEMS if ("", b) in pairs}
            reached = {tuple(sorted(c)) for c in reached}
            found |= {(first, last, row) for row, c in enumerate(contents) if c in reached}
    return sorted(found)


WORD_STEMS = sorted({stem(word) for word in WORDS if stem(word)})


@pytest.mark.slow
@given(ENTITIES)
def test_words_are_exchangeable_as_a_plain_count_says(entities):
    with mock.patch.object(rewordings, "FEWEST", 1):  # so that there are some
        names, tables = build(entities)
        _, expected = naive_pairs(entities)
    hashes = dict(zip(map(stem, WORDS), stem_hashes(WORDS).tolist(), strict=True))
    rows = zip(*tables["rewordings"].to_pydict().values(), strict=True)
    assert set(rows) == {(hashes[a], hashes[b]) for a, b in expected if a and b}
    dropped = {b for a, b in expected if not a}
    contents = [bag(name.split()) for name in names]
    reduced = Counter(
        row for row, c in enumerate(contents) if len(c) > 1 for word in c if word in dropped
    )
    assert Counter(tables["reduced"]["alias"].to_pylist()) == reduced


@given(ENTITIES, TEXT)
def test_rewordings_are_those_of_a_plain_search(entities, words):
    barrier = np.array([word == "." for word in words], bool)
    with mock.patch.object(rewordings, "FEWEST", 1):
        _, tables = build(entities)
        assert sorted(find(tables, words, barrier)) == naive_find(entities, words)


def test_a_name_is_found_in_the_words_of_other_names():
    names, tables = build(ORGANS)
    words = ["a", "renal", "papillary", "necrosis"]
    found = find(tables, words, np.zeros(len(words), bool))
    assert found == {(1, 4, names.index("kidney papillary necrosis"))}


def test_words_that_mostly_tell_entities_apart_are_not_exchangeable():
    mixed_up = [[f"anemia {i} type 1", f"anemia {i} type 2"] for i in range(3)]
    apart = [[f"{name} type {number}"] for name in "abcdefgh" for number in (1, 2)]
    _, tables = build(mixed_up)
    assert len(tables["rewordings"]) == 2
    _, tables = build(mixed_up + apart)
    assert len(tables["rewordings"]) == 0


def test_a_sample_of_the_entities_tells_as_much():
    many = [[f"kidney {i}x", f"renal {i}x"] for i in range(40)]
    for sampled in (40, 13):
        with mock.patch.object(rewordings, "SAMPLED", sampled):
            _, tables = build(many)
        assert len(tables["rewordings"]) == 2


def plausible(text, phrase, names=()):
    """Tell whether a phrase of a text may be a rewording; names of the text are given too."""
    words = text.split()

    def span(part):
        first = next(i for i in range(len(words)) if words[i : i + len(part)] == part)
        return first, first + len(part)

    phrases = Phrases.of(words, np.zeros(len(words), bool))
    first, last = np.array([span(phrase.split())], np.int64).T
    spans = np.array([span(name.split()) for name in names], np.int64).reshape(-1, 2).T
    return len(plausible_rewordings(phrases, (first, last, first), tuple(spans))[0]) == 1


def test_what_is_no_rewording():
    assert plausible("a renal papillary necrosis", "renal papillary necrosis")
    assert not plausible("a renal failure", "failure")
    assert not plausible("the 1 ml", "1 ml")
    assert not plausible("renal , necrosis", "renal , necrosis")
    assert not plausible("renal and necrosis", "renal and necrosis")
    assert not plausible("her myopathy", "her myopathy")


def test_a_piece_of_a_name_is_no_rewording():
    text, name = "of von willebrand disease type", ["von willebrand disease"]
    assert not plausible(text, "willebrand disease", name)
    assert not plausible(text, "willebrand disease type", name)
    assert not plausible(text, "of von willebrand", name)
    assert plausible(text, "von willebrand disease", name)
    assert plausible(text, "von willebrand disease type", name)


def test_phrases_go_on_behind_brackets():
    words = ["von", "hippel", "-", "lindau", "(", "vhl", ")", "disease", "."]
    barrier = np.array([word in "().-" for word in words])
    around = around_brackets(Phrases.of(words, barrier))
    inner = Phrases.of(["lindau", "disease"], np.zeros(2, bool))
    assert around.first.tolist() == [3]
    assert around.last.tolist() == [8]
    assert around.key[0] == inner.key[inner.last - inner.first == 2][0]


def test_brackets_with_much_in_them_are_no_part_of_a_name():
    few, many = ["(", *"ab", ")"], ["(", *"abcdefghi", ")"]
    assert in_brackets(["x", *few, "y"]).tolist() == [False, *[True] * 4, False]
    assert not in_brackets(["x", *many, "y"]).any()
    assert not in_brackets(["a", ")", "(", "b"]).any()
