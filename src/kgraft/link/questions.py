"""Questions that people ask about facts, by the relation's label, as patterns with places to fill.

    {x} {y}      head and tail; {xy}: the head, called by both, as "paris texas" is
    {c} {cs}     the kind of thing that the tail is, in singular and plural; {d} {ds}: the head
    {n}          a year

They are in a file of the package, one per line.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent.parent / "data" / "questions.tsv"
PLACES = re.compile(r"\{([a-z]{1,2})\}")


@cache
def questions() -> dict[str, tuple[str, ...]]:
    """Return the patterns of each relation, by its label in small letters."""
    patterns: dict[str, list[str]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            patterns.setdefault(row["relation"], []).append(row["question"])
    return {label: tuple(found) for label, found in patterns.items()}


def places(pattern: str) -> set[str]:
    """Return what a pattern needs.

    >>> sorted(places("who was the king of {x} in {n}?"))
    ['n', 'x']
    """
    return set(PLACES.findall(pattern))


def plural(word: str) -> str:
    """Return the plural of a word, as most have it.

    >>> [plural(word) for word in ("river", "country", "church", "bay")]
    ['rivers', 'countries', 'churches', 'bays']
    """
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")
