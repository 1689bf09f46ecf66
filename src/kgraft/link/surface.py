"""Whether a name found in a text is likely to be meant as one, judged by how it is written."""

from __future__ import annotations

from kgraft.graph import Mention

SHORTEST = 4  # letters of a name in a text without capitals


def plausible(text: str, mention: Mention) -> bool:
    """Keep names that are written like names.

    Where the text uses capitals, a name in small letters counts only if some candidate is written
    so ("euro"). Where it uses none, short names are left out: most of them are common words.
    """
    surface = mention.surface
    if not any(character.isalnum() for character in surface):
        return False
    if surface.upper() == surface.lower() or surface != surface.lower():
        return True
    if text != text.lower():
        return any(_written_so(surface, mention))
    return len(surface) >= SHORTEST


def _written_so(surface: str, mention: Mention) -> list[bool]:
    return [
        surface == candidate.entity.label or surface in candidate.entity.aliases
        for candidate in mention.candidates
    ]
