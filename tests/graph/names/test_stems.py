"""Phrases are variants of names whose content words have the same stems, in any order."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names.fold import fold_name
from kgraft.graph.names.stems import (
    FUNCTION_WORDS,
    LONGEST,
    Phrases,
    VariantIndex,
    build_variants,
    name_stems,
    stem,
    stem_hashes,
)

# Few words, so that phrases repeat, overlap and are variants of one another.
WORDS = ["cancer", "cancers", "breast", "lung", "tumour", "tumors", "of", "the", "-", ".", "x1"]
PHRASE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
NAMES = st.lists(PHRASE, max_size=8, unique=True)
TEXT = st.lists(st.sampled_from(WORDS), max_size=25)


def stems(words):
    """Return the stems of words that have one, in no order."""
    return Counter(stem(word) for word in words if stem(word))


def naive_find(names, words, barrier):
    """Try every phrase with every name."""
    found = []
    for first in range(len(words)):
        for last in range(first + 1, min(first + LONGEST + 2, len(words)) + 1):
            phrase = words[first:last]
            if any(barrier[first:last]) or not (stem(phrase[0]) and stem(phrase[-1])):
                continue
            for alias, name in enumerate(names):
                content = stems(name.split(" "))
                if 0 < content.total() <= LONGEST and content == stems(phrase):
                    found.append((first, last, alias))
    return sorted(found)


def variants(names):
    return build_variants(*name_stems(pa.array(names, pa.string())), len(names))


def find(names, words, barrier=None):
    index = VariantIndex(variants(names))
    blocked = [False] * len(words) if barrier is None else barrier
    columns = index.find(Phrases.of(words, np.array(blocked, bool)))
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    "words",
    [
        "tumour tumours tumor tumors",
        "ischaemia ischaemic ischemia ischemic",
        "oedema edema",
        "oesophagus esophagus",
        "foetus fetus",
        "aetiology etiology",
        "diarrhoea diarrhea",
        "thrombosis thromboses thrombotic",
        "analysis analyses analytic analytically",
        "epilepsy epilepsies epileptic",
        "hero heroes",
        "shoe shoes",
        "potato potatoes",
        "phase phases phased",
        "close closes closed closing",
        "disease diseases",
        "base bases based",
        "city cities",
        "virus viruses",
    ],
)
def test_inflected_words_have_one_stem(words):
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "words",
    ["poets pets", "heroes here", "canoes canes", "four for", "his hi", "new news", "basis base"],
)
def test_other_words_have_other_stems(words):
    one, other = words.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", [*sorted(FUNCTION_WORDS), "", "-", "...", "😀", "\ufffd"])
def test_function_words_and_signs_have_no_stem(word):
    assert stem(word) == ""


@pytest.mark.parametrize("word", ["who", "p53", "東", "московский", "x", "1990s"])
def test_short_and_foreign_words_are_their_own_stems(word):
    assert stem(word) == word


@given(st.text(max_size=12))
def test_every_visible_word_has_a_stem(word):
    has_stem = any(map(str.isalnum, word)) and word not in FUNCTION_WORDS
    assert bool(stem(word)) == has_stem


@given(st.lists(st.text(max_size=5), max_size=8))
def test_hashes_are_equal_where_stems_are(words):
    hashes = stem_hashes(words)
    assert (hashes.dtype, hashes.shape) == (np.uint64, (len(words),))
    assert [h == 0 for h in hashes] == [not stem(word) for word in words]
    encodable = [stem(word).encode("utf-8", "replace") for word in words]
    assert len(set(hashes.tolist())) == len(set(encodable))


@given(NAMES)
def test_the_table_has_the_names_in_order_of_their_keys(names):
    table = variants(names).to_pydict()
    contents = [stems(name.split(" ")) for name in names]
    usable = [row for row, content in enumerate(contents) if 0 < content.total() <= LONGEST]
    assert sorted(table["alias"]) == usable
    assert table["hash"] == sorted(table["hash"])
    for one, row in zip(table["hash"], table["alias"], strict=True):
        for other, other_row in zip(table["hash"], table["alias"], strict=True):
            assert (one == other) == (contents[row] == contents[other_row])


@given(NAMES, TEXT)
def test_variants_are_those_of_a_plain_search(names, words):
    barrier = [word == "." for word in words]
    assert find(names, words, barrier) == naive_find(names, words, barrier)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Breast Cancer", "cancer of the breast"),
        ("Breast Cancer", "breast-cancers"),
        ("cancer of the breast", "Breast Cancer"),
        ("Neoplasm, Malignant", "malignant neoplasms"),
        ("tumor", "tumours"),
        ("Ischemia", "ischaemic"),
        ("Yahoo!", "yahoo"),
        ("The Matrix", "matrix"),
        ("Nonpolyposis Cancer", "non-polyposis cancer"),
        ("Anti-inflammatory", "antiinflammatory"),
    ],
)
def test_a_whole_text_is_a_variant(name, text):
    words = fold_name(text).split(" ")
    assert (0, len(words), 0) in find([fold_name(name)], words)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("breast cancer", "cancer . breast"),
        ("breast cancer", "cancer lung breast"),
        ("breast cancer", "breast breast cancer"),
        ("breast", "the breast of"),
        ("the", "the"),
        ("the - of", "of the"),
    ],
)
def test_a_whole_text_is_no_variant(name, text):
    words = text.split(" ")
    barrier = [word == "." for word in words]
    assert (0, len(words)) not in {(first, last) for first, last, _ in find([name], words, barrier)}


def test_a_name_of_too_many_words_has_no_variant():
    words = [f"w{n}" for n in range(LONGEST + 1)]
    names = [" ".join(words[:-1]), " ".join(words)]
    assert find(names, words[::-1]) == [(1, LONGEST + 1, 0)]


@pytest.mark.parametrize(("between", "count"), [(0, 1), (2, 1), (3, 0)])
def test_a_phrase_may_have_two_words_without_a_stem_beyond_the_longest(between, count):
    words = [f"w{n}" for n in range(LONGEST)]
    text = [words[0], *["of"] * between, *words[1:]]
    assert find([" ".join(words)], text) == [(0, len(text), 0)] * count


@pytest.mark.parametrize(
    ("names", "words"), [([], ["a", "x"]), (["x"], []), ([], []), (["-"], ["-"])]
)
def test_nothing_is_found_in_nothing(names, words):
    assert find(names, words) == []
    index = VariantIndex(variants(names))
    assert [
        len(column) for column in index.find(Phrases.of(words, np.zeros(len(words), bool)))
    ] == [0, 0, 0]


PREFIXED = st.sampled_from(["anti", "inter", "non", "sub", "pre", "pseudo", ""])
RESTS = st.sampled_from(["body", "bodies", "type", "types", "view", "polyposis", "vent", "vention"])


@given(st.lists(st.tuples(PREFIXED, RESTS).map("".join), min_size=2, max_size=6))
def test_words_of_one_stem_have_one_hash(words):
    hashes = stem_hashes(words).tolist()
    for word, hash_ in zip(words, hashes, strict=True):
        for other, other_hash in zip(words, hashes, strict=True):
            assert (hash_ == other_hash) == (stem(word) == stem(other))
