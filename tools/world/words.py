"""Words for descriptions: numbers of people, and lists."""

from __future__ import annotations

from collections.abc import Sequence


def people(number: int) -> str:
    """Return a number of people in words.

    >>> people(2_138_551), people(24_782), people(1_411_778_724), people(829)
    ('2.1 million people', '25 thousand people', '1.4 billion people', '829 people')
    """
    for unit, size in (("billion", 10**9), ("million", 10**6), ("thousand", 10**3)):
        if number >= size:
            return f"{_rounded(number / size)} {unit} people"
    return f"{number} people"


def _rounded(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")


def listed(items: Sequence[str], *, limit: int = 5) -> str:
    """Return items joined by commas, with the number of those left out.

    >>> listed(["Spain", "Mexico"]), listed(["A", "B", "C", "D"], limit=2)
    ('Spain and Mexico', 'A, B and 2 more')
    """
    if len(items) > limit:
        return f"{', '.join(items[:limit])} and {len(items) - limit} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]])) if items else ""


def the(name: str) -> str:
    """Return a name with the article it takes in a sentence.

    >>> the("Netherlands"), the("France")
    ('the Netherlands', 'France')
    """
    plural = name.endswith(("Islands", "Emirates", "Maldives", "Bahamas", "Philippines", "Comoros"))
    union = name.startswith(("United", "Netherlands", "Gambia", "Isle of", "Caribbean", "Americas"))
    state = "Republic" in name or name.endswith(("Territory", "Territories", "Seychelles"))
    district = name == "District of Columbia"
    return f"the {name}" if plural or union or state or district else name
