"""`kgraft graph stats`: a graph on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.output import (
    MOST,
    AsJson,
    GraphName,
    console,
    escape,
    print_json,
)

if TYPE_CHECKING:
    from kgraft.graph import GraphProfile


def stats(
    graph: GraphName = "world",
    svg: Annotated[Path | None, typer.Option(help="Also draw it as a picture.")] = None,
    relations: Annotated[
        int, typer.Option(min=0, max=MOST, help="How many relations to show, the largest first.")
    ] = 15,
    as_json: AsJson = False,
) -> None:
    """Profile a graph on one page, and say what it lacks for linking and for asking.

    Degrees, relations with their cardinality, types, ambiguous names, texts, connected parts,
    and values by property.

    Examples:

      kgraft graph stats world

      kgraft graph stats world --svg world.svg
    """
    from kgraft.graph import Graph, profile_graph, profile_svg
    from kgraft.storage import new_file

    profile = profile_graph(Graph.open(graph))
    if svg is not None:
        with new_file(svg) as path:
            path.write_text(profile_svg(profile), "utf-8")
    if as_json:
        print_json(profile.to_dict())
    else:
        _print_profile(profile, relations)
        if svg is not None:
            console().print(f"[green]{escape(str(svg))}[/]: drawn")


def _print_profile(profile: GraphProfile, most: int) -> None:
    from rich.table import Table

    facts = Table(show_header=False, box=None, padding=(0, 2))
    for name, text in _profile_rows(profile):
        facts.add_row(f"[bold]{name}[/]", escape(text))
    console().print(facts)
    table = Table("relation", "triples", "heads", "tails", "kind", "mirrors", box=None)
    for relation in profile.relations[:most]:
        mirrors = ["symmetric"] if relation.symmetric else []
        mirrors += [f"inverse of {other}" for other in relation.inverse_of]
        mirrors += [f"same as {other}" for other in relation.duplicate_of]
        counts = (f"{n:,}" for n in (relation.triples, relation.heads, relation.tails))
        cells = (relation.label, *counts, relation.cardinality, ", ".join(mirrors))
        table.add_row(*map(escape, cells))
    console().print(table)
    if profile.properties:
        _print_properties(profile, most)
    for sentence in profile.advice:
        console().print(f"[yellow]•[/] {escape(sentence)}")


def _print_properties(profile: GraphProfile, most: int) -> None:
    from rich.table import Table

    table = Table("property", "values", "entities", "kinds", "from", "to", box=None)
    for property_ in profile.properties[:most]:
        kinds = ", ".join(property_.kinds)
        counts = (f"{n:,}" for n in (property_.values, property_.entities))
        table.add_row(
            *map(escape, (property_.label, *counts, kinds, property_.least, property_.most))
        )
    console().print(table)


def _profile_rows(profile: GraphProfile) -> list[tuple[str, str]]:
    degrees, names = profile.degrees, profile.names
    splits = ", ".join(f"{name} {count:,}" for name, count in profile.splits.items() if count)
    kinds = ", ".join(f"{kind}: {n}" for kind, n in profile.cardinalities().items() if n)
    return [
        ("graph", f"{profile.name} {profile.version}"),
        ("entities", f"{profile.entities:,}"),
        ("triples", f"{profile.triples:,} ({splits})" if splits else "0"),
        ("relations", f"{len(profile.relations):,} ({kinds})" if kinds else "0"),
        ("with", ", ".join(f"{name} {share:.0%}" for name, share in profile.shares.items())),
        ("types", _listing(profile.types, profile.type_count)),
        (
            "degree",
            f"mean {degrees.mean:.1f}, median {degrees.median:g}, up to {degrees.highest:,}",
        ),
        ("by degree", ", ".join(f"{n}: {count:,}" for n, count in degrees.histogram.items())),
        ("hubs", _listing(degrees.hubs, len(degrees.hubs))),
        (
            "names",
            f"{names.names:,}, {names.ambiguous:,} mean several entities "
            f"(up to {names.most_entities}: {names.most_ambiguous})",
        ),
        ("shared labels", f"{names.shared_labels:,} entities have the label of another one"),
        (
            "connected",
            f"{profile.components:,} parts; the largest has {profile.largest_component:.0%} "
            "of the entities",
        ),
        ("leakage", profile.leakage),
    ]


def _listing(counts: dict[str, int], total: int) -> str:
    more = f", … ({total:,} in all)" if total > len(counts) else ""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) + more
