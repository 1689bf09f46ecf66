"""Builds the continents, the UN's regions and subregions, and the US states."""

from __future__ import annotations

from tools.world import m49
from tools.world.cldr import territory_names
from tools.world.model import Entity, World
from tools.world.names import ENGLISH, EQUAL, Names
from tools.world.sources import us_state_names
from tools.world.us_states import NAMES, STATES
from tools.world.words import listed, people, the

CONTINENT_WEIGHT = 1_000_000
REGION_WEIGHT = 3_000
"""Below that of any country, so that `Micronesia` means the country first."""
STATE_SHARE = 0.4
"""A state is named less often than a country or city of as many people."""


def add_continents(world: World) -> None:
    """Add the seven continents and the groups of subregions."""
    for code, part in m49.CONTINENTS.items():
        types = ("continent", "subregion") if part.countries else ("continent",)
        world.add(Entity(f"continent:{code}", _names(part), types, CONTINENT_WEIGHT))
    for part in m49.GROUPS:
        world.add(Entity(f"region:{part.code}", _names(part), ("region",), REGION_WEIGHT))
    for part in m49.SUBREGIONS:
        world.add(Entity(f"region:{part.code}", _names(part), ("subregion",), REGION_WEIGHT))
    _say_within(world)


def _names(part: m49.Part) -> Names:
    names = Names(part.label)
    names.sure(part.names, ENGLISH)
    for name, share in territory_names(part.code):
        names.add([name], share)
    return names


def _say_within(world: World) -> None:
    for code, continent in m49.CONTINENTS.items():
        for home in continent.within:
            world.say(f"continent:{code}", "located_in", home)
    for part in (*m49.GROUPS, *m49.SUBREGIONS):
        for home in part.within:
            world.say(f"region:{part.code}", "located_in", home)


def describe_regions(world: World) -> None:
    """Describe continents and regions by what they lie in and what lies in them."""
    for entity in world.entities.values():
        kind = entity.types[0]
        if kind not in ("continent", "region", "subregion"):
            continue
        inside = world.heads("continent" if kind == "continent" else "located_in", entity.id)
        inside = sorted(inside, key=lambda i: -world.entities[i].weight)
        contents = listed([world.label(i) for i in inside]) if inside else ""
        home = [world.label(i) for i in world.tails(entity.id, "located_in")[:1]]
        start = f"{kind} in {the(home[0])}" if home and kind != "continent" else kind
        entity.description = (
            f"{start}; with {contents}" if contents else f"{start} around the South Pole"
        )


def add_states(world: World) -> None:
    """Add the US states and the District of Columbia."""
    for code, name in us_state_names().items():
        state = STATES[code]
        names = Names(name)
        names.sure(NAMES.get(code, "").split("|"), EQUAL)
        if code != "DC":
            names.sure([f"State of {name}"], ENGLISH)
        if state.demonym:
            names.sure([state.demonym, f"{state.demonym}s"], ENGLISH)
        kind = "federal district" if code == "DC" else "state"
        weight = state.thousands * 10 * STATE_SHARE
        capital = f"; capital {state.capital}" if state.capital else " around the capital"
        text = f"US {kind}{capital}; {people(state.thousands * 1000)}"
        world.add(Entity(f"state:US-{code}", names, (kind,), weight, text))
        world.say(f"state:US-{code}", "located_in", "country:US")
