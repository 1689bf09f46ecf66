"""The names of one entity: how they are cleaned, compared, refused and weighed.

A name's share says how often it is used for the entity, where the label's share is 1. Times the
weight of the entity it gives the count from which the graph derives p(entity | surface).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable

from tools.world.common_words import COMMON_WORDS

EQUAL = 1.0
"""A name as usual as the label: `New York` for New York City."""
ENGLISH = 0.7
"""Another English name, or a demonym."""
NATIVE = 0.5
"""A name in an official language of the country."""
LARGE = 0.2
"""A name in a language of many speakers."""
SMALL = 0.01
"""A name in any other language."""
RARE = 0.002
"""A spelling of unknown origin, most often a transliteration."""

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛ʼʻ`´′"), "'") | dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_BIDI = dict.fromkeys([0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x00AD])
_JUNK = re.compile(r"[\d;=<>@#*_\\{}\[\]\"“”]|https?:|www\.|\.\.|\bDo Not Use\b", re.IGNORECASE)


def clean(text: str) -> str:
    """Return a name in composed form, without direction marks and needless white space."""
    return " ".join(unicodedata.normalize("NFC", text.translate(_BIDI)).split())


def fold(text: str) -> str:
    """Return the form under which names are equal: no case, no accents, plain quotes.

    >>> fold("Xi’an") == fold("XI'AN"), fold("São Paulo")
    (True, 'sao paulo')
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES).casefold())
    return "".join(c for c in decomposed if not 0x300 <= ord(c) <= 0x36F)


def plain(text: str) -> str:
    """Return a Latin name without accents: `Thāne` becomes `Thane`."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def script(text: str) -> str:
    """Return the script of the first letter, as Unicode names it.

    >>> script("Париж"), script("巴黎"), script("Paris")
    ('CYRILLIC', 'CJK', 'LATIN')
    """
    letter = next((c for c in text if c.isalpha()), "")
    return unicodedata.name(letter, "NONE").split()[0].split("-")[0] if letter else "NONE"


def is_fit(text: str, *, native: bool = False) -> bool:
    """Tell whether a name can be looked for in texts without finding mostly something else."""
    if _JUNK.search(text) or fold(text) in COMMON_WORDS:
        return False
    letters = sum(unicodedata.category(c)[0] in "LM" for c in text)
    if script(text) in ("CJK", "HANGUL", "HIRAGANA", "KATAKANA"):
        return letters >= 2
    return letters >= (4 if script(text) == "LATIN" and not native else 3)


def split_brackets(text: str) -> list[str]:
    """Return a name and what stands in brackets behind it as two names.

    >>> split_brackets("Myanmar (Burma)"), split_brackets("缅甸（曾称缅甸联邦）")
    (['Myanmar', 'Burma'], ['缅甸', '曾称缅甸联邦'])
    """
    match = re.fullmatch(r"([^()（）]+)[(（]([^()（）]+)[)）]", text.strip())
    return [part.strip() for part in match.groups()] if match else [text]


class Names:
    """A label and the other names of an entity, each folded form once, with its largest share."""

    def __init__(self, label: str) -> None:
        self.label = clean(label)
        self._names: dict[str, tuple[str, float]] = {}

    def sure(self, texts: Iterable[str], share: float) -> None:
        """Add names that are known to be right, however short or common."""
        for text in map(clean, texts):
            key = fold(text)
            earlier = self._names.get(key)
            if text and key != fold(self.label) and (earlier is None or share > earlier[1]):
                self._names[key] = (text, share)

    def add(self, texts: Iterable[str], share: float) -> None:
        """Add names from a source, leaving out what cannot be told from other words."""
        native = share >= NATIVE
        self.sure((text for text in texts if is_fit(clean(text), native=native)), share)

    def drop(self, taken: Container[str], *, most: float) -> None:
        """Drop the names of a share up to `most` that fold to something taken."""
        self._names = {
            key: (text, share)
            for key, (text, share) in self._names.items()
            if share > most or key not in taken
        }

    def aliases(self) -> list[tuple[str, float]]:
        """Return the other names with their shares, the largest share first."""
        return sorted(self._names.values(), key=lambda name: (-name[1], name[0]))
