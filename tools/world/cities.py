"""Builds the cities: capitals, those above 100,000 people, and their smaller namesakes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tools.world import facts
from tools.world.alternates import Spelling, best_alternates
from tools.world.city_names import BOROUGHS, LABELS, NAMES
from tools.world.cldr import locale, place_names, zone_city, zone_city_names
from tools.world.corrections import NOT_LARGEST, ROLES
from tools.world.model import Entity, World
from tools.world.names import (
    ENGLISH,
    EQUAL,
    LARGE,
    RARE,
    SMALL,
    Names,
    fold,
    plain,
    script,
)
from tools.world.sources import City, cities, countries, us_state_names
from tools.world.us_states import STATES
from tools.world.words import people, the

LARGE_CITY = 100_000
NAMESAKE = 15_000
WORLD_CITY = 1_000_000
USUAL_NAMES = 40
"""A city with that many names in GeoNames is named in texts as often as its people let expect."""
KNOWN_ROOM = {"LATIN": 30, "CYRILLIC": 3, "ARABIC": 1, "CJK": 1, "HANGUL": 1, "KATAKANA": 1}
FURTHER = ("BENGALI", "DEVANAGARI", "GREEK", "HEBREW", "TAMIL", "THAI")
WORLD_ROOM = KNOWN_ROOM | {"CYRILLIC": 4, "ARABIC": 2, "CJK": 2} | dict.fromkeys(FURTHER, 1)
LARGE_ROOM = {"LATIN": 2, "CYRILLIC": 1, "CJK": 1}
"""How many of GeoNames' alternate names a city keeps in each script but its own."""
MAIN_LANGUAGES = {
    "ARABIC": "ar",
    "BENGALI": "bn",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "GREEK": "el",
    "HANGUL": "ko",
    "HEBREW": "he",
    "KATAKANA": "ja",
    "TAMIL": "ta",
    "THAI": "th",
}
"""In which language a name in a script is to be, unless the country has its own."""
CAPITAL_SHARE = 0.01
"""How much of its country's weight a capital gets, since it stands for the government too."""
CITY_STATE_SHARE = 0.8
"""The most of its country's weight that a city gets: `Singapore` means the country first."""
CLEARLY = 1.5
"""How many times the people of the second city make a city the largest, as figures differ."""


def choose_cities(world: World) -> list[City]:
    """Return the cities of the graph, the largest first."""
    seats = {city.number for iso in countries() for city in facts.capitals(iso)}
    seats |= {city.number for city in state_capitals().values()}
    large = [c for c in cities() if c.population >= LARGE_CITY or c.number in seats]
    taken = {fold(c.name) for c in large} | {fold(label(c)) for c in large}
    taken |= {fold(e.label) for e in world.entities.values() if e.id[:6] in ("countr", "state:")}
    ids = {c.number for c in large}
    return [
        city
        for city in cities()
        if city.country in countries()
        and (city.number in ids or (city.population >= NAMESAKE and fold(city.name) in taken))
    ]


@cache
def state_capitals() -> dict[str, City]:
    """Return the capital cities of the US states, by postal code."""
    return {
        code: facts.find_city("US", state.capital, state=code)
        for code, state in STATES.items()
        if state.capital
    }


@cache
def _first_by_key() -> dict[str, int]:
    """Return the largest city of each name and country, which the hand-written names mean."""
    return {city.key: city.number for city in reversed(cities())}


@cache
def _scripts(iso: str) -> dict[str, str]:
    """Return the scripts of the official languages, with the first language in each."""
    languages: dict[str, str] = {}
    for code in facts.official_languages(iso):
        if spoken := locale(code):
            languages.setdefault(script(spoken.get_display_name() or ""), code)
    return languages


@cache
def _spelling_in(language: str) -> Spelling:
    return Spelling(place_names(language))


@cache
def _spellings() -> dict[str, Spelling]:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for city in cities():
        names[city.country].append(city.name)
    return {iso: Spelling(city_names) for iso, city_names in names.items()}


def label(city: City) -> str:
    """Return the English label: set by hand, or without accents and words of a transliteration."""
    if city.key in LABELS and _first_by_key()[city.key] == city.number:
        return LABELS[city.key]
    own = tuple(_scripts(city.country))
    name = re.sub("-sh?i$", "", city.name) if city.country in ("JP", "KR") else city.name
    return name if own[:1] in ((), ("LATIN",)) else plain(name)


def add_cities(world: World) -> None:
    """Add the chosen cities with their names, and say where they lie."""
    for city in choose_cities(world):
        entity = Entity(f"city:{city.number}", _names(city), _types(city), _weight(world, city))
        world.add(entity)
        world.say(entity.id, "located_in", f"country:{city.country}")
        if city.country == "US":
            world.say(entity.id, "located_in", f"state:US-{city.state}")
    for iso in countries():
        for city in facts.capitals(iso):
            world.say(f"city:{city.number}", "capital_of", f"country:{iso}")
    for code, city in state_capitals().items():
        world.say(f"city:{city.number}", "capital_of", f"state:US-{code}")


def _types(city: City) -> tuple[str, ...]:
    return ("city", "capital") if city in facts.capitals(city.country) else ("city",)


def _weight(world: World, city: City) -> float:
    fame = max(len(city.alternates), 1) / USUAL_NAMES
    weight = city.population / 100 * fame
    home = world.entities[f"country:{city.country}"]
    if city in facts.capitals(city.country):
        weight += home.weight * CAPITAL_SHARE
    return min(weight, home.weight * CITY_STATE_SHARE)


def _names(city: City) -> Names:
    names = Names(label(city))
    names.add([city.name, plain(city.name)], ENGLISH)
    first = _first_by_key()[city.key] == city.number
    usual = NAMES.get(city.key, "").split("|") if first else []
    names.sure(usual, EQUAL)
    if city.country == "US" and city.state != "DC":
        names.sure([f"{names.label}, {us_state_names()[city.state]}"], EQUAL)
    if first and fold(zone_city(city.zone)) in map(fold, (names.label, *usual)):
        for name, share in zone_city_names(city.zone, facts.official_languages(city.country)):
            names.add([name], share)
    for name, share in _alternates(city):
        names.add([name], share)
    return names


def _room(city: City) -> dict[str, int]:
    """Return how many alternate names in each script a city may keep."""
    seat = city in facts.capitals(city.country)
    large = city.population >= LARGE_CITY
    if city.population >= WORLD_CITY or (seat and large):
        room, own = WORLD_ROOM, 6
    elif large and len(city.alternates) >= USUAL_NAMES:
        room, own = KNOWN_ROOM, 3
    else:
        room, own = (LARGE_ROOM, 2) if large or seat else ({}, 1)
    return room | {used: own for used in _scripts(city.country) if used != "LATIN"}


def _alternates(city: City) -> Iterator[tuple[str, float]]:
    own = _scripts(city.country)
    languages = MAIN_LANGUAGES | own
    spellings = {used: _spelling_in(language) for used, language in languages.items()}
    spellings["LATIN"] = _spellings()[city.country]
    for name in best_alternates(city, spellings, _room(city)):
        used = script(name)
        if used == "LATIN":
            yield name, RARE
        else:
            yield name, LARGE if used in own else SMALL


def describe_cities(world: World) -> None:
    """Describe each city by rank, place and people."""
    chosen = {e.id for e in world.entities.values() if "city" in e.types}
    largest = _largest()
    seats = {city.number: code for code, city in state_capitals().items()}
    for city in cities():
        entity_id = f"city:{city.number}"
        if entity_id in chosen:
            location = _place(world, city, largest, seats.get(city.number))
            size = f"; {people(city.population)}" if city.population else ""
            world.entities[entity_id].description = location + size


def _largest() -> set[int]:
    """Return the cities that are clearly the largest of their countries."""
    by_country: defaultdict[str, list[City]] = defaultdict(list)
    for city in cities():
        if len(by_country[city.country]) < 2:
            by_country[city.country].append(city)
    return {
        first.number
        for first, *rest in by_country.values()
        if rest
        and first.population >= CLEARLY * rest[0].population
        and first.number not in NOT_LARGEST
        and first.name != countries()[first.country].name
    }


def _place(world: World, city: City, largest: set[int], seat_of: str | None) -> str:
    country = the(world.label(f"country:{city.country}"))
    ranks = []
    if city in facts.capitals(city.country):
        ranks.append(ROLES.get((city.country, city.name), "capital"))
    if city.number in largest:
        ranks.append("largest city")
    if ranks:
        continent = world.label(f"continent:{facts.continents(city.country)[0]}")
        where = "" if city.country == "US" else f", in {continent}"
        return f"{' and '.join(ranks)} of {country}{where}"
    if city.country != "US":
        return f"city in {country}"
    state, country = world.label(f"state:US-{city.state}"), "United States"
    if seat_of:
        return f"capital of {state}, {country}"
    kind = BOROUGHS.get(world.label(f"city:{city.number}")) if city.state == "NY" else None
    return f"{kind}, {country}" if kind else f"city in {the(state)}, {country}"
