"""Which of GeoNames' alternate names of a city to keep: they carry neither language nor rank.

A city that many know keeps nearly all in Latin letters, and a few in the scripts of its country and
in those in which much is written; any other keeps fewer. The first in a script are those that are
spelt like other places: in Latin letters like those of the country, in Cyrillic as in Russian.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from tools.world.names import clean, fold, is_fit, script
from tools.world.sources import City

ENGLISH_SPEAKING = ("AU", "CA", "GB", "IE", "NZ", "US")
"""Where the label is the city's own name, and most others are bygone or of a part of it."""

_CODE = re.compile(r"[A-Z]{3,4}")
_WORDY = re.compile(
    r"^(Lungsod|Dakbayan|Altepetl|Bandar|Bandaraya|Kota|Kommun|Gorad|Gorod|Ville|Ciudad|Cidade"
    r"|Municipio|Wilaya|Horad|Grad|Miasto|Urbo|Stad|Kreisfreie|Thanh pho|Thành phố|Distrito"
    r"|Munisipyo|Bayan|Syudad|Siudad|Tp|Tinh|Provincia|Arrondissement) "
)


def is_good(name: str) -> bool:
    """Tell a name from airport codes, links, and lower-case spellings of other scripts' names.

    >>> [is_good(n) for n in ("Parigi", "PAR", "ba li", "Lungsod ng Paris", "巴黎")]
    [True, False, False, False, True]
    """
    if "  " in name or any(c in name for c in "()/,،"):
        return False
    if script(name) == "LATIN" and not next(c for c in name if c.isalpha()).isupper():
        return False
    return is_fit(clean(name)) and not _CODE.fullmatch(name) and not _WORDY.match(name)


class Spelling:
    """How the places of a country or in a language are spelt: trigrams of their names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._counts = Counter(chain.from_iterable(map(_trigrams, names)))
        self._total = self._counts.total()

    def likeness(self, name: str) -> float:
        """Return the mean log probability of the name's trigrams, add-one smoothed."""
        grams = _trigrams(name)
        return sum(math.log((self._counts[g] + 1) / (self._total + 1)) for g in grams) / len(grams)


def resembles(name: str, label: str) -> bool:
    """Tell whether a name is a form of the label: it begins alike and shares pairs of letters.

    >>> resembles("Édimbourg", "Edinburgh"), resembles("Franklin", "Columbus")
    (True, False)
    """
    one, other = fold(name), fold(label)
    pairs = {one[i : i + 2] for i in range(len(one) - 1)}
    shared = sum(other[i : i + 2] in pairs for i in range(len(other) - 1))
    return one[0] == other[0] and 3 * shared >= len(other) - 1


def _trigrams(name: str) -> list[str]:
    padded = f"^{fold(name)}$"
    return [padded[i : i + 3] for i in range(len(padded) - 2)]


def best_alternates(
    city: City, spellings: Mapping[str, Spelling], room: Mapping[str, int]
) -> list[str]:
    """Return the alternate names to keep; `room` says how many there may be in each script.

    In each script those come first that are spelt as `spellings` has it.
    """
    by_script = defaultdict(list)
    for name in _distinct(city.alternates):
        by_script[script(name)].append(name)
    if city.country in ENGLISH_SPEAKING:
        by_script["LATIN"] = [n for n in by_script["LATIN"] if resembles(n, city.name)]
    kept = []
    for used, most in room.items():
        likeness = {name: spellings[used].likeness(name) for name in by_script[used]}
        kept += sorted(likeness, key=lambda name: (-likeness[name], name))[:most]
    return kept


def _distinct(names: Iterable[str]) -> list[str]:
    """Return the good names, of those that fold alike the one with accents."""
    kept_names: dict[str, str] = {}
    for name in filter(is_good, names):
        key = fold(name)
        if key not in kept_names or kept_names[key].isascii():
            kept_names[key] = name
    return list(kept_names.values())
