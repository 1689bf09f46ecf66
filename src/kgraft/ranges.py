"""The ranges of settings: what lies outside is refused where it is set, before anything begins."""

from __future__ import annotations

from collections.abc import Mapping

from kgraft.errors import BadInput

LARGEST_SEED = (1 << 63) - 1
Range = tuple[float, float]

SEED: Range = (0, LARGEST_SEED)
PASSES: Range = (1, 1_000_000)  # epochs, or validations without a better figure
PASSES_OR_NONE: Range = (0, 1_000_000)
SIZE: Range = (1, 1 << 24)  # texts, tokens, queries or triples that are worked on at once
RANK: Range = (1, 4096)  # of the changes to an encoder
COUNT: Range = (1, 10_000_000)  # rows that are shown, read or made
WEIGHT: Range = (0, 1e6)  # of a loss or a regulariser
RATE: Range = (1e-12, 1000)  # size of a step


def check_ranges(settings: object, ranges: Mapping[str, Range]) -> None:
    """Refuse settings with a number outside its range, both ends included; None is left alone.

    >>> from types import SimpleNamespace
    >>> check_ranges(SimpleNamespace(seed=-1), {"seed": SEED})
    Traceback (most recent call last):
    kgraft.errors.BadInput: seed is -1; give 0 to 9.22337e+18
    """
    for name, (least, most) in ranges.items():
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:  # nan is in no range
            raise BadInput(f"{name} is {shown(value)}", remedy=f"give {least:g} to {most:g}")


def shown(number: float) -> str:
    """Return a number as it is told in a message, however long it is."""
    text = str(number)
    return text if len(text) <= 24 else f"{text[:20]}… ({len(text)} digits)"
