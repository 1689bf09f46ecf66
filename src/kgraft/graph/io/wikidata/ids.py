"""Wikidata's ids: which of them have been met, and labels of those that everybody uses."""

from __future__ import annotations

from functools import cache

from kgraft.graph.folder import BUILT_IN

LABELS = BUILT_IN / "wikidata_labels.tsv"
LARGEST = 1 << 29  # above it, numbers are kept one by one


class SeenIds:
    """A set of ids; one of Wikidata's form, Q42 or P31, takes a bit.

    >>> seen = SeenIds()
    >>> seen.add("Q42"), seen.add("Q42"), seen.add("P42")
    (True, False, True)
    """

    def __init__(self) -> None:
        self._bits = {"Q": bytearray(), "P": bytearray()}
        self._others: set[str] = set()

    def add(self, item: str) -> bool:
        """Add an id, and return whether it is new."""
        bits, number = self._bits.get(item[:1]), _number(item[1:])
        if bits is None or number is None:
            is_new = item not in self._others
            self._others.add(item)
            return is_new
        octet, bit = number >> 3, 1 << (number & 7)
        if octet >= len(bits):
            bits.extend(bytes(max(octet + 1 - len(bits), len(bits) // 2)))
        is_new = not bits[octet] & bit
        bits[octet] |= bit
        return is_new


def _number(digits: str) -> int | None:
    """Return the number that digits write, None where it is too large or written otherwise."""
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10) or digits[0] == "0":
        return None
    number = int(digits)
    return number if number < LARGEST else None


@cache
def common_labels() -> dict[str, str]:
    """Return English labels of the properties and classes that are used most, by id.

    >>> common_labels()["P31"], common_labels()["Q5"]
    ('instance of', 'human')
    """
    rows = LABELS.read_text(encoding="utf-8").splitlines()[1:]
    return dict(row.split("\t", 1) for row in rows)
