"""Patterns that say facts in words: "[X] is the capital of [Y] ." or "who rules {x}?"."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"\[([XY])\]|\{([a-z]{1,2})\}")


def fill_pattern(pattern: str, words: Mapping[str, str]) -> tuple[str, list[tuple[str, int, int]]]:
    """Fill the placeholders of a pattern; return the text, and where each placeholder went.

    `[X]` and `{x}` both stand for the words of "x". What has no words stays as it is.

    >>> fill_pattern("[X] borders [Y] .", {"x": "Peru", "y": "Chile"})
    ('Peru borders Chile .', [('x', 0, 4), ('y', 13, 18)])
    """
    text, spans, last = "", [], 0
    for match in PLACEHOLDER.finditer(pattern):
        name = placeholder_name(match)
        if name not in words:
            continue
        text += pattern[last : match.start()]
        spans.append((name, len(text), len(text) + len(words[name])))
        text += words[name]
        last = match.end()
    return text + pattern[last:], spans


def placeholder_name(match: re.Match[str]) -> str:
    """Return the name of a placeholder: "x" of `[X]` and of `{x}`."""
    return (match[1] or match[2]).lower()


def placeholders(pattern: str) -> set[str]:
    """Return the names of a pattern's placeholders.

    >>> sorted(placeholders("who was the king of {x} in {n}?"))
    ['n', 'x']
    """
    return {placeholder_name(match) for match in PLACEHOLDER.finditer(pattern)}


def says_both_ends(template: str) -> bool:
    """Tell whether a relation's template has a placeholder for either end of a fact.

    >>> says_both_ends("[X] borders [Y] ."), says_both_ends("[X] is old .")
    (True, False)
    """
    return "[X]" in template and "[Y]" in template
