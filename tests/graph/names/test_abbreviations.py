"""Abbreviations are found where a text defines them, and wherever it uses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names.abbreviations import find_definitions, find_uses

PIECES = [
    *("Wilson disease", "multiple sclerosis", "WD", "MS", "(WD)", "(MS)", "(", ")", "(multiple"),
    *(" ", " ", ";", ",", "-", "ß", "İ", "ŉ", "Ⅳ", "É", "\u0301", "\ud800", "😀", "a", "B", "1"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=15).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=15).map(" ".join),
    st.text("aBc1()-/. ß", max_size=40),
    st.text(max_size=30),
)


def definitions(text):
    """Return each short form with the text of its long form."""
    return [(short, text[start:end]) for short, start, end in find_definitions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wilson disease (WD) is rare.", [("WD", "Wilson disease")]),
        ("MS (multiple sclerosis)", [("MS", "multiple sclerosis")]),
        ("Wilson disease ( WD ) is", [("WD", "Wilson disease")]),
        ("Wilson disease  \n(WD)", [("WD", "Wilson disease")]),
        ("Wilson disease (WD; OMIM 277900)", [("WD", "Wilson disease")]),
        ("tumour necrosis factor (TNF-α)", []),
        ("tumour necrosis factor alpha (TNF-a)", [("TNF-a", "tumour necrosis factor alpha")]),
        ("the Food and Drug Administration (FDA)", [("FDA", "Food and Drug Administration")]),
        ("interleukin 2 (IL2)", [("IL2", "interleukin 2")]),
        ("acquired immunodeficiency (AID) or (X)", [("AID", "acquired immunodeficiency")]),
        ("adenomatous polyposis coli gene (APC)", [("APC", "adenomatous polyposis coli gene")]),
        ("Straßburg (STR)", [("STR", "Straßburg")]),
    ],
)
def test_definitions_by_hand(text, expected):
    assert definitions(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(WD)",
        "WD (",
        "Wilson disease (see below)",
        "Wilson disease (1999)",
        "Wilson disease (Texas)",
        "Wilson disease (DW)",  # the letters are in another order
        "swollen disease (WD)",  # no word begins with the first letter
        "WD (WD)",
        "W" + "x" * 60 + " disease (WD)",  # too far away
        "WD (a multiple sclerosis)",
    ],
)
def test_what_is_no_definition(text):
    assert definitions(text) == []


@given(TEXT)
def test_every_definition_fits_its_text(text):
    for short, start, end in find_definitions(text):
        assert 0 <= start < end <= len(text)
        assert short in text
        assert end - start > len(short)
        long = text[start:end]
        assert long == long.strip()
        assert start == 0 or not text[start - 1].isalnum()
        letters = [c for c in short.casefold() if c.isalnum()]
        remaining = iter(c.casefold() for c in long)
        assert all(letter in remaining for letter in letters)  # in this order
        assert long[0].casefold() == letters[0]


def naive_uses(text, short):
    """Try every position."""
    uses, end = [], 0
    for start in range(len(text)):
        stop = start + len(short)
        if start < end or text[start:stop] != short:
            continue
        edges = text[start - 1 : start] if start else "", text[stop : stop + 1]
        if not any(c.isalnum() or c == "_" for c in edges):
            uses.append((start, stop))
            end = stop
    return uses


@given(text=st.text("WD.+ _x1é-", max_size=25), short=st.sampled_from(["WD", "W.D", "W+", "x1"]))
def test_uses_are_those_of_a_plain_search(text, short):
    assert list(find_uses(text, short)) == naive_uses(text, short)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("WD, (WD) WD's WD-like", [(0, 2), (5, 7), (9, 11), (14, 16)]),
        ("wd WDs xWD WD_ WD1 ÉWD", []),
        ("", []),
    ],
)
def test_uses_stand_at_word_boundaries(text, uses):
    assert list(find_uses(text, "WD")) == uses
