"""Builds the countries and territories, and what is said of them."""

from __future__ import annotations

import re

from tools.world import facts, m49
from tools.world.cldr import territory_names
from tools.world.corrections import DISPUTED, TERRITORIES
from tools.world.country_names import (
    DEMONYMS,
    LABELS,
    NAMES,
    WRONG_DEMONYMS,
    WRONG_SPELLINGS,
    plural,
)
from tools.world.model import Entity, World
from tools.world.names import ENGLISH, EQUAL, NATIVE, Names, script, split_brackets
from tools.world.sources import Country, countries, information
from tools.world.words import listed, people, the

CONGOS = ("CD", "CG")
"""What stands in brackets behind their names in CLDR are their capitals."""
BASE_WEIGHT = 5_000
"""A country is named more often than a city of as many people."""


def add_countries(world: World) -> None:
    """Add all countries and territories, with names and types."""
    for iso, country in countries().items():
        kind = "territory" if iso in TERRITORIES or iso == "EH" else "country"
        weight = BASE_WEIGHT + country.population / 100
        world.add(Entity(f"country:{iso}", _names(country), (kind,), weight))


def _names(country: Country) -> Names:
    iso = country.iso
    names = Names(LABELS.get(iso, country.name))
    names.sure(NAMES.get(iso, "").split("|"), EQUAL)
    names.sure([country.name], ENGLISH)
    names.sure(_demonyms(iso), ENGLISH)
    for name, share in territory_names(iso, ["en", *facts.official_languages(iso)]):
        parts = split_brackets(name)
        names.add(parts[:1] if iso in TERRITORIES or iso in CONGOS else parts, share)
    for spelling in _spellings(iso):
        names.add([spelling], NATIVE)
    return names


def _demonyms(iso: str) -> list[str]:
    names = [] if iso in WRONG_DEMONYMS else information(iso).demonym.replace("/", ",").split(",")
    demonyms = [*names, *DEMONYMS.get(iso, "").split("|")]
    return [name for d in demonyms if d for name in (d, plural(d)) if name]


def _spellings(iso: str) -> list[str]:
    """Return countryinfo's other names, without those turned round for sorting."""
    record = information(iso)
    native = re.split(r" ?/ ?| - ", record.native_name)
    spellings = [
        name for name in (*record.spellings, *native) if not re.fullmatch("[A-Z]{2,3}", name)
    ]
    scripts = [{script(word) for word in name.split()} - {"NONE"} for name in spellings]
    return [
        name
        for name, used in zip(spellings, scripts, strict=True)
        if len(used) == 1
        and "," not in name
        and not name.startswith("the ")
        and name not in WRONG_SPELLINGS
    ]


def say_country_facts(world: World) -> None:
    """Say where countries lie, what they border, and what they speak and pay with."""
    homes = m49.subregion_of()
    for iso in countries():
        country = f"country:{iso}"
        world.say(country, "located_in", homes[iso][0])
        for continent in facts.continents(iso):
            world.say(country, "continent", f"continent:{continent}")
        if iso in TERRITORIES:
            world.say(country, "territory_of", f"country:{TERRITORIES[iso]}")
        for code in facts.official_languages(iso):
            world.say(country, "official_language", f"language:{code}")
        for code in facts.regional_languages(iso):
            if f"language:{code}" in world.entities:
                world.say(country, "regional_language", f"language:{code}")
        for code in facts.currencies(iso):
            world.say(country, "currency", f"currency:{code}")
    for one, other in facts.borders():
        world.say(f"country:{one}", "borders", f"country:{other}")
        world.say(f"country:{other}", "borders", f"country:{one}")


def describe_countries(world: World) -> None:
    """Describe each country by place, capital, people, languages and money."""
    homes = m49.subregion_of()
    for iso, country in countries().items():
        entity = world.entities[f"country:{iso}"]
        parts = [f"{_rank(world, iso)} in {the(homes[iso][1])}"]
        capitals = [world.label(c) for c in world.heads("capital_of", entity.id)]
        if capitals:
            parts.append(f"capital {listed(capitals)}")
        if country.population:
            parts.append(people(country.population))
        languages = [world.label(t) for t in world.tails(entity.id, "official_language")]
        money = [world.label(t) for t in world.tails(entity.id, "currency")]
        ends = [f"language {listed(languages)}"] if languages else []
        ends += [f"currency {listed(money)}"] if money else []
        entity.description = "; ".join(parts + ([", ".join(ends)] if ends else []))


def _rank(world: World, iso: str) -> str:
    if iso in DISPUTED:
        return DISPUTED[iso]
    if iso in ("CK", "NU"):
        return "self-governing territory in free association with New Zealand"
    if iso in TERRITORIES:
        return f"territory of {the(world.label(f'country:{TERRITORIES[iso]}'))}"
    return "country"
