"""Parts of names are found by a rare word that few names hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names.partial_names import MOST_HOLDERS, RARE, SHORTEST, find_parts
from kgraft.graph.names.words import ordinary_frequency

# Rare words, common ones, short ones, and a sign.
WORDS = ["lakers", "sachs", "angeles", "city", "team", "xyz", "-"]
NAMES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), max_size=8, unique=True
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=12)


def parts(aliases, words, covered=()):
    flags = np.array([position in covered for position in range(len(words))], bool)
    columns = find_parts(aliases, words, flags)
    assert all(column.dtype == np.int64 for column in columns)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(found) == len(set(found))
    return sorted(found)


def naive_parts(keys, words, covered):
    """Lay every name over the text at every rare word, and look how far they agree."""
    found = set()
    for position, word in enumerate(words):
        holders = [
            (row, name.split(" ")) for row, name in enumerate(keys) if word in name.split(" ")
        ]
        is_rare = len(word) >= SHORTEST and ordinary_frequency([word])[0] < RARE
        if not is_rare or position in covered or len(holders) > MOST_HOLDERS:
            continue
        for row, name in holders:
            shift = position - name.index(word)
            agrees = [
                0 <= at - shift < len(name) and words[at] == name[at - shift]
                for at in range(len(words))
            ]
            first = max((at + 1 for at in range(position) if not agrees[at]), default=0)
            behind = range(position, len(words))
            last = min((at for at in behind if not agrees[at]), default=len(words))
            if last - first < len(name):
                found.add((first, last, row))
    return sorted(found)


@pytest.mark.slow
@given(names=NAMES, words=TEXT, covered=st.sets(st.integers(0, 11), max_size=4))
def test_parts_are_those_of_a_plain_search(make_aliases, names, words, covered):
    aliases = make_aliases([(name, 0) for name in names])
    keys = list(aliases.keys)
    assert parts(aliases, words, covered) == naive_parts(keys, words, covered)


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("Los Angeles Lakers", "the lakers won", "lakers"),
        ("Los Angeles Lakers", "angeles lakers", "angeles lakers"),
        ("Tay-Sachs Disease", "has tay - sachs now", "tay - sachs"),
        ("Team of Lakers", "out of lakers now", "lakers"),
        ("Lakers of the City", "lakers of the day", "lakers"),
    ],
)
def test_a_part_reaches_as_far_as_text_and_name_agree(make_aliases, name, text, part):
    words = text.split(" ")
    [(first, last, alias)] = parts(make_aliases([(name, 0)]), words)
    assert (" ".join(words[first:last]), alias) == (part, 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Los Angeles Lakers", "los angeles lakers"),  # the name itself
        ("Xyz Team", "xyz"),  # too short
        ("City Team", "city"),  # too common
        ("Lakers Team", "laker"),
        ("Lakers Team", ""),
    ],
)
def test_what_is_no_part(make_aliases, name, text):
    assert parts(make_aliases([(name, 0)]), text.split()) == []


def test_a_word_that_many_names_hold_stands_for_none(make_aliases):
    names = [(f"Lakers {number}", 0) for number in range(MOST_HOLDERS + 1)]
    assert len(parts(make_aliases(names[:-1]), ["lakers"])) == MOST_HOLDERS
    assert parts(make_aliases(names), ["lakers"]) == []


def test_a_word_that_folds_to_several_hides_no_other(make_aliases):
    assert parts(make_aliases([("Lakers Team", 0)]), ["(10)", "lakers"]) == [(1, 2, 0)]


def test_no_names_have_no_parts(make_aliases):
    assert parts(make_aliases([]), ["lakers"]) == []
