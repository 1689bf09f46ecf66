"""Names in many languages, from CLDR through babel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.numbers import get_currency_name

from tools.world.names import LARGE, NATIVE, SMALL

_LARGE = "ar de es fa fr hi id it ja ko nl pl pt ru sv tr uk vi zh zh_Hant"
_SMALL = """
af am as az be bg bn bs ca cs cy da el et eu fi fil ga gd gl gu ha he hr hu hy ig is jv ka kk km kn
kok ky lo lt lv mk ml mn mr ms my nb ne nn or pa ps ro sd si sk sl so sq sr sr_Latn sw ta te th ti
tk ur uz yo zu
"""
LARGE_LOCALES = tuple(_LARGE.split())
"""Languages in which much is written."""
SMALL_LOCALES = tuple(_SMALL.split())
"""The other languages that CLDR covers to its modern level."""

Named = Iterator[tuple[str, float]]


@cache
def locale(code: str) -> Locale | None:
    """Return a locale, or None where CLDR has none for that language."""
    try:
        return Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        return None


def english() -> Locale:
    """Return the English locale, which gives the labels."""
    return Locale("en")


def _locales(own: Iterable[str], *, small: bool = True) -> Iterator[tuple[Locale, float]]:
    """Yield the locales to take names from with the share of a name in each."""
    languages = list(own)
    for code in dict.fromkeys([*languages, *LARGE_LOCALES, *(SMALL_LOCALES if small else ())]):
        own_locale = locale(code)
        if own_locale is None:
            continue
        large = LARGE if code in LARGE_LOCALES else SMALL
        yield own_locale, NATIVE if code.split("_")[0] in languages else large


def territory_names(code: str, own: Iterable[str] = ()) -> Named:
    """Yield the names of a country or region; `own` are the languages spoken there."""
    for spoken, share in _locales(own):
        if name := spoken.territories.get(code):
            yield name, share


def language_names(code: str, *, small: bool) -> Named:
    """Yield the names of a language, its own first; in small languages too where asked."""
    for spoken, share in _locales([code], small=small):
        if name := spoken.languages.get(code):
            yield name, share


def currency_names(code: str, own: Iterable[str] = (), *, small: bool = False) -> Named:
    """Yield the names of a currency, in large languages also in the plural."""
    for spoken, share in _locales(own, small=small):
        if name := spoken.currencies.get(code):
            yield name, share
            if share > SMALL:
                yield get_currency_name(code, count=1, locale=spoken), share
                yield get_currency_name(code, count=10, locale=spoken), share


def zone_city_names(zone: str, own: Iterable[str] = ()) -> Named:
    """Yield the names of the city after which a time zone is called."""
    for spoken, share in _locales(own):
        if name := spoken.time_zones.get(zone, {}).get("city"):
            yield name, share


def zone_city(zone: str) -> str:
    """Return the English name of the city after which a time zone is called."""
    named = english().time_zones.get(zone, {}).get("city")
    return str(named or zone.rsplit("/", 1)[-1].replace("_", " "))


def place_names(code: str) -> list[str]:
    """Return the names of all countries and time zone cities in a language."""
    spoken = locale(code)
    if spoken is None:
        return []
    zones = [zone.get("city", "") for zone in spoken.time_zones.values()]
    return [*spoken.territories.values(), *filter(None, zones)]


def spoken_in(territory: str) -> dict[str, tuple[float, str | None]]:
    """Return the languages of a territory: percentage of speakers and official status."""
    languages: dict[str, tuple[float, str | None]] = {}
    for code, info in get_global("territory_languages").get(territory, {}).items():
        language = code.split("_")[0]
        percent, status = languages.get(language, (0.0, None))
        percent = max(percent, float(info["population_percent"]))
        languages[language] = (percent, status or info["official_status"])
    return languages
