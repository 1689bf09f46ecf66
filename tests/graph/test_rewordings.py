"""Rewordings: words that names of one entity exchange, and phrases that are names but for them."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.rewordings import FEWEST, RELIABLE, RewordingIndex, build_rewordings
from kgraft.graph.variants import (
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
    reduced = VariantIndex(tables["reduced"])
    return RewordingIndex(VariantIndex(tables["variants"]), tables["rewordings"], reduced)


def find(tables, words, barrier):
    """Return first word, last word and name of all rewordings."""
    index, phrases = index_of(tables), Phrases.of(words, barrier)
    columns = [*zip(index.shortened(phrases), index.exchanged(phrases), strict=True)]
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
        if same >= FEWEST and same >= RELIABLE * every:
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


@given(ENTITIES)
def test_words_are_exchangeable_as_a_plain_count_says(entities):
    names, tables = build(entities)
    hashes = dict(zip(map(stem, WORDS), stem_hashes(WORDS).tolist(), strict=True))
    _, expected = naive_pairs(entities)
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
    _, tables = build(entities)
    barrier = np.array([word == "." for word in words], bool)
    found = find(tables, words, barrier)
    assert sorted(found) == naive_find(entities, words)


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
