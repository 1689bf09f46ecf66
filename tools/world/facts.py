"""The facts about each country, as the sources and the corrections have them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from babel.numbers import get_territory_currencies

from tools.world import corrections, m49
from tools.world.cldr import spoken_in
from tools.world.names import fold
from tools.world.sources import City, cities, countries


@cache
def _cities_by_country() -> dict[str, list[City]]:
    by_country: defaultdict[str, list[City]] = defaultdict(list)
    for city in cities():
        by_country[city.country].append(city)
    return dict(by_country)


def find_city(iso: str, name: str, *, state: str | None = None) -> City:
    """Return the largest city of that name, or failing that of that alternate name."""
    homes = [c for c in _cities_by_country()[iso] if state in (None, c.state)]
    wanted = fold(name)
    for city in homes:
        if fold(city.name) == wanted:
            return city
    for city in homes:
        if wanted in map(fold, city.alternates):
            return city
    raise LookupError(f"no city {name} in {iso}; add it to corrections.py")


@cache
def capitals(iso: str) -> tuple[City, ...]:
    """Return the capital cities of a country, none for some territories."""
    names, _ = corrections.CAPITALS.get(iso, (countries()[iso].capital, ""))
    return tuple(find_city(iso, name) for name in names.split("|") if name)


def currencies(iso: str) -> list[str]:
    """Return the codes of the legal tender, the country's own before that of others."""
    if iso in corrections.CURRENCIES:
        return corrections.CURRENCIES[iso][0].split()
    tender = get_territory_currencies(iso, start_date=corrections.AS_OF)
    return sorted(tender, key=lambda code: code != countries()[iso].currency)


def official_languages(iso: str) -> list[str]:
    """Return the codes of the official languages, the most spoken first."""
    if iso in corrections.LANGUAGES:
        return corrections.LANGUAGES[iso][0].split()
    return _by_speakers(iso, ("official", "de_facto_official"))


def regional_languages(iso: str) -> list[str]:
    """Return the codes of the languages that are official in a part of the country."""
    added = [code for home, code in corrections.REGIONAL_ADDED if home == iso]
    codes = [*_by_speakers(iso, ("official_regional",)), *added]
    official = set(official_languages(iso))
    return [
        code
        for code in dict.fromkeys(codes)
        if code not in official and (iso, code) not in corrections.REGIONAL_DROPPED
    ]


def _by_speakers(iso: str, ranks: tuple[str, ...]) -> list[str]:
    spoken = spoken_in(iso)
    codes = [code for code, (_, rank) in spoken.items() if rank in ranks]
    return sorted(codes, key=lambda code: (-spoken[code][0], code))


def continents(iso: str) -> list[str]:
    """Return GeoNames' codes of the continents of a country, that of the capital first."""
    if iso in corrections.CONTINENTS:
        return corrections.CONTINENTS[iso][0].split()
    return [m49.continent_of()[iso]]


@cache
def borders() -> tuple[tuple[str, str], ...]:
    """Return all pairs of countries with a land border, each pair once, in order."""
    pairs = {(min(a, b), max(a, b)) for a, row in countries().items() for b in row.neighbours}
    pairs -= corrections.BORDERS_DROPPED.keys()
    return tuple(sorted(pairs | corrections.BORDERS_ADDED.keys()))


@cache
def speakers() -> dict[str, dict[str, float]]:
    """Return how many people speak each language, by country."""
    by_language: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for iso, country in countries().items():
        for code, (percent, _) in spoken_in(iso).items():
            by_language[code][iso] = percent / 100 * country.population
    return dict(by_language)
