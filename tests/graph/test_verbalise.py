"""Patterns are filled, and the places of what fills them are known."""

from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph import fill_pattern, placeholders

WORDS = st.dictionaries(st.sampled_from(["x", "y", "r", "cs"]), st.text("aé{}[XY]x", max_size=4))
PIECES = st.lists(st.sampled_from(["[X]", "[Y]", "{x}", "{cs}", "{r}", "{Z}", "[]", " of ", "é"]))


def naive_fill(pieces, words):
    """Fill piece by piece."""
    text, spans = "", []
    for piece in pieces:
        name = piece.strip("[]{}").lower()
        if piece in ("[X]", "[Y]", "{x}", "{cs}", "{r}") and name in words:
            spans.append((name, len(text), len(text) + len(words[name])))
            piece = words[name]
        text += piece
    return text, spans


@given(PIECES, WORDS)
def test_placeholders_are_filled_as_by_a_plain_loop(pieces, words):
    assert fill_pattern("".join(pieces), words) == naive_fill(pieces, words)


@given(PIECES)
def test_a_pattern_that_is_filled_with_nothing_stays(pieces):
    pattern = "".join(pieces)
    assert fill_pattern(pattern, {}) == (pattern, [])
    names = {"x", "y", "cs", "r"}
    assert placeholders(pattern) == {p.strip("[]{}").lower() for p in pieces} & names
