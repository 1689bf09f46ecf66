"""Builds the languages and the currencies."""

from __future__ import annotations

from functools import cache

from tools.world import facts
from tools.world.cldr import currency_names, english, language_names
from tools.world.common_words import COMMON_WORDS
from tools.world.language_names import (
    CURRENCY_LABELS,
    CURRENCY_NAMES,
    CURRENCY_SHARES,
    DESCRIPTIONS,
    EXTRA_LANGUAGES,
    KEPT_LANGUAGES,
    LABELS,
    NAMES,
    NO_LANGUAGES,
)
from tools.world.model import Entity, World
from tools.world.names import ENGLISH, EQUAL, Names, fold, split_brackets
from tools.world.sources import countries
from tools.world.words import listed, the

SPEAKERS = 1_000_000
MANY = 10_000_000
"""From so many speakers on, a language has its name in small languages too."""
LANGUAGE_SHARE = 0.2
"""`German` means Germany's more often than the language, as a count of texts would show."""
CURRENCY_WEIGHT = 100
LEAST_CURRENCY = 50


@cache
def _languages() -> dict[str, str]:
    """Return the labels of the languages of the graph, by CLDR's code."""
    used = {
        code
        for iso in countries()
        for code in (*facts.official_languages(iso), *facts.regional_languages(iso))
    }
    spoken = {code for code, by in facts.speakers().items() if sum(by.values()) >= SPEAKERS}
    english_names = english().languages
    chosen = sorted((used | spoken | set(KEPT_LANGUAGES)) - set(NO_LANGUAGES))
    named = {
        code: LABELS.get(code, english_names[code]) for code in chosen if code in english_names
    }
    return named | EXTRA_LANGUAGES


def add_languages(world: World) -> None:
    """Add the languages that are official somewhere or spoken by a million people."""
    official = {code for iso in countries() for code in facts.official_languages(iso)}
    for code, label in _languages().items():
        names = Names(label)
        names.sure(NAMES.get(code, "").split("|"), EQUAL)
        names.add([english().languages.get(code, "")], ENGLISH)
        names.sure([f"{label} language"], ENGLISH)
        speakers = sum(facts.speakers().get(code, {}).values())
        for name, share in language_names(code, small=code in official or speakers >= MANY):
            names.add(split_brackets(name), share)
        weight = speakers / 100 * LANGUAGE_SHARE
        world.add(Entity(f"language:{code}", names, ("language",), weight))


def describe_languages(world: World) -> None:
    """Describe each language by where it is official, regional, or merely spoken."""
    for code in _languages():
        entity = world.entities[f"language:{code}"]
        by = {f"country:{iso}": number for iso, number in facts.speakers().get(code, {}).items()}
        official = world.heads("official_language", entity.id)
        regional = world.heads("regional_language", entity.id)
        spoken = [i for i in sorted(by, key=lambda i: -by[i])[:3] if by[i] >= sum(by.values()) / 10]
        others = [i for i in spoken if i not in (*official, *regional)]
        ranks = {
            "official language of": official,
            "regional language of": regional,
            "also spoken in" if official or regional else "language spoken in": others,
        }
        parts = [f"{rank} {_homes(world, homes, by)}" for rank, homes in ranks.items() if homes]
        entity.description = DESCRIPTIONS.get(code, "; ".join(parts))


def _homes(world: World, homes: list[str], speakers: dict[str, float]) -> str:
    """Return the countries in words, that with the most speakers first."""
    ranked = sorted(homes, key=lambda i: -speakers.get(i, 0))
    return listed([the(world.label(i)) for i in ranked])


def add_currencies(world: World) -> None:
    """Add the currencies that are legal tender in some country."""
    used = sorted({code for iso in countries() for code in facts.currencies(iso)})
    for code in used:
        weight = max(CURRENCY_SHARES.get(code, 0) * CURRENCY_WEIGHT, LEAST_CURRENCY)
        world.add(Entity(f"currency:{code}", _currency_names(code), ("currency",), weight))


def _currency_names(code: str) -> Names:
    own = {c for iso in countries() if code in facts.currencies(iso) for c in _first_language(iso)}
    forms = [name for name, _ in currency_names(code, ["en"])][:3]
    title, one, many = forms
    names = Names(CURRENCY_LABELS.get(code, one))
    names.sure(CURRENCY_NAMES.get(code, "").split("|"), EQUAL)
    names.sure([title, one, many], ENGLISH)
    units = [form.split()[-1] for form in (one, many)]
    names.add([unit for unit in units if unit.islower() and fold(unit) not in COMMON_WORDS], EQUAL)
    for name, share in currency_names(code, sorted(own), small=code in CURRENCY_SHARES):
        names.add(split_brackets(name), share)
    return names


def _first_language(iso: str) -> list[str]:
    return facts.official_languages(iso)[:1]


def describe_currencies(world: World) -> None:
    """Describe each currency by the countries that use it."""
    for entity in list(world.entities.values()):
        if "currency" in entity.types:
            users = world.heads("currency", entity.id)
            users = sorted(users, key=lambda i: -world.entities[i].weight)
            own = "currency of " + listed([the(world.label(i)) for i in users])
            entity.description = own
