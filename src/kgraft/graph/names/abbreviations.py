"""Abbreviations that a text defines: "Wilson disease (WD)", "WD (Wilson disease)".

The short form is found by its brackets, the long form by its letters (Schwartz and Hearst 2003):
read from the right, each letter of the short form stands in the long form in order, and the first
one begins a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SHORT = r"[^\W_][\w./'+-]{1,9}"
_LONG_THEN_SHORT = re.compile(rf"\(\s*({_SHORT})\s*[),;]")
_SHORT_THEN_LONG = re.compile(rf"(?<![\w-])({_SHORT})\s*\(\s*([^()]{{4,100}}?)\s*[),;]")
_REACH = 12  # characters of the text before a bracket, per letter of the short form


class Definition(NamedTuple):
    """A short form, and the characters start:end of the long form in the text."""

    short: str
    start: int
    end: int


def find_definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that a text defines.

    >>> [d.short for d in find_definitions("Wilson disease (WD) and MS (multiple sclerosis).")]
    ['WD', 'MS']
    """
    for match in _LONG_THEN_SHORT.finditer(text):
        if _is_short_form(match[1]):
            end = len(text[: match.start()].rstrip())
            start = _long_form_start(text, end, match[1])
            if start is not None:
                yield Definition(match[1], start, end)
    for match in _SHORT_THEN_LONG.finditer(text):
        if _is_short_form(match[1]):
            start = _long_form_start(text, match.end(2), match[1])
            if start == match.start(2):
                yield Definition(match[1], start, match.end(2))


def find_uses(text: str, short: str) -> Iterator[tuple[int, int]]:
    """Yield the characters start:end of each use of a short form in a text."""
    for match in re.finditer(rf"(?<![\w]){re.escape(short)}(?![\w])", text):
        yield match.span()


def may_stand_for(short: str, name: str) -> bool:
    """Tell whether a name may be the long form of an abbreviation.

    >>> may_stand_for("WD", "Wilson disease"), may_stand_for("WD", "hepatic disease")
    (True, False)
    """
    return _long_form_start(name, len(name), short, reach=len(name)) is not None


def _is_short_form(form: str) -> bool:
    """Tell whether a form is one by its looks: it has a capital, and is not a plain word."""
    capitals = sum(map(str.isupper, form))
    return capitals >= 2 or (capitals == 1 and (len(form) <= 3 or any(map(str.isdigit, form))))


def _long_form_start(text: str, end: int, short: str, *, reach: int = _REACH) -> int | None:
    """Return where the long form that ends at `end` begins, None where the letters do not fit."""
    letters = [c for c in short.casefold() if c.isalnum()]
    lowest = max(0, end - reach * len(letters))
    position = end
    for number, letter in enumerate(reversed(letters)):
        is_first = number == len(letters) - 1
        position -= 1
        while position >= lowest and not _fits(text, position, letter, is_first):
            position -= 1
        if position < lowest:
            return None
    return position if end - position > len(short) else None


def _fits(text: str, position: int, letter: str, is_first: bool) -> bool:
    if text[position].casefold() != letter:
        return False
    return not is_first or position == 0 or not text[position - 1].isalnum()
