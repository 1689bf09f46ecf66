"""`kgraft graph add, remove, merge, diff, split, migrate`: versions of graphs, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.output import MOST, AsJson, GraphName, Quiet, Seed, console, escape, print_json
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.graph import Graph, GraphDiff

app = typer.Typer()

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a graph that is there.")]
Fact = Annotated[
    list[str] | None,
    typer.Argument(help="A fact: head, relation, tail, by id or label.", metavar="H R T"),
]
GivenGraph = Annotated[
    str, typer.Argument(help="A graph's folder, or a built-in graph.", metavar="GRAPH")
]


class Match(StrEnum):
    """What makes entities of several graphs one."""

    IDS = "ids"
    LABELS = "labels"


@app.command()
def add(
    graph: GivenGraph,
    fact: Fact = None,
    out: Out = ...,  # type: ignore[assignment]
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A file or folder of facts or entities, as import takes."),
    ] = None,
    format: Annotated[str | None, typer.Option(help="Format of the file.")] = None,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Refuse a fact that makes an entity or relation.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Add a fact, or all of a file, and write the result as a new version of the graph.

    A name in a fact that nothing has becomes a new entity or relation.

    Examples:

      kgraft graph add world "Ada Lovelace" "works for" "Acme" --out world-2

      kgraft graph add company --from news.jsonl --out company-2
    """
    from kgraft.errors import BadInput
    from kgraft.graph import Graph, add_fact, open_source

    if bool(fact) == (source is not None):
        raise BadInput("name a fact (HEAD RELATION TAIL) or a file (--from), one of them")
    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        if source is None:
            added = add_fact(
                opened,
                fact or [],
                out,
                known_only=known_only,
                overwrite=overwrite,
                progress=progress,
            )
            new = added.graph
            words = added.relation.words(added.head.label, added.tail.label)
            extra: dict[str, Any] = {"fact": words, "new": list(added.new)}
            notes = ["the graph had this fact already"] if added.was_there else [words]
            notes += [f"new: {name}" for name in added.new]
        else:
            read = open_source(source, format=format)
            new = opened.extend(out, read, overwrite=overwrite, progress=progress)
            extra, notes = {}, []
    _report(new, [opened], extra, notes, as_json)


@app.command()
def remove(
    graph: GivenGraph,
    fact: Fact = None,
    out: Out = ...,  # type: ignore[assignment]
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", "-e", help="An entity, with all its triples; may be repeated."),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", "-r", help="A relation, with all its triples."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="A file of triples to remove.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Remove entities, relations or triples, each by id or exact label.

    The result is a new version of the graph; all that is named must be there.

    Examples:

      kgraft graph remove world Germany borders Czechia --out world-3

      kgraft graph remove world --entity Oceania --relation currency --out world-4
    """
    from kgraft.errors import BadInput
    from kgraft.graph import Graph, remove_parts

    triples = [fact] if fact else []
    triples += list(_triples_of(source)) if source is not None else []
    if not (triples or entity or relation):
        raise BadInput("nothing to remove was named; name a fact, --entity, --relation or --from")
    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        new = remove_parts(
            opened,
            out,
            entities=entity or (),
            relations=relation or (),
            triples=triples,
            overwrite=overwrite,
            progress=progress,
        )
    _report(new, [opened], {}, [], as_json)


def _triples_of(path: Path) -> Iterator[list[str]]:
    """Yield the triples of a file; whatever else it holds is of no concern here."""
    from kgraft.graph import Refusals, open_source
    from kgraft.graph.batches import Triples
    from kgraft.progress import Silent

    for batch in open_source(path).batches(Refusals(), Silent()):
        if isinstance(batch, Triples):
            columns = (c.to_pylist() for c in (batch.head, batch.relation, batch.tail))
            yield from (list(row) for row in zip(*columns, strict=True))


@app.command()
def merge(
    graphs: Annotated[
        list[str], typer.Argument(help="Two or more graphs.", metavar="GRAPH GRAPH...")
    ],
    out: Out,
    match: Annotated[
        Match, typer.Option(help="ids, or labels: also join entities of one exact label.")
    ] = Match.IDS,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Merge graphs into one: entities and relations of the same id are one.

    What two graphs say differently is taken from the first; aliases and types are united.

    Examples:

      kgraft graph merge world world-2 --out world-5

      kgraft graph merge company world --match labels --out both
    """
    from kgraft.graph import Graph, merge_graphs

    opened = [Graph.open(name) for name in graphs]
    by_label = match == Match.LABELS
    with progress_bar(quiet) as progress:
        merged = merge_graphs(
            opened, out, match_labels=by_label, overwrite=overwrite, progress=progress
        )
    extra = {"same_id": merged.same_id}
    notes = [f"joined by id: {merged.same_id:,} entities"]
    if by_label:
        extra |= {"same_label": merged.same_label, "ambiguous_labels": merged.ambiguous_labels}
        notes.append(f"joined by label: {merged.same_label:,} entities")
        if merged.ambiguous_labels:
            notes.append(f"left apart: {merged.ambiguous_labels:,} labels that several share")
    _report(merged.graph, opened, extra, notes, as_json)


def _report(
    new: Graph, old: list[Graph], extra: dict[str, Any], notes: list[str], as_json: bool
) -> None:
    """Say what was written, and what it has more or less than the first of the old graphs."""
    from dataclasses import asdict

    manifest, before = new.manifest, old[0].manifest
    if as_json:
        print_json({**asdict(manifest), **extra})
        return
    counts = [
        f"{getattr(manifest, part):,} {part} ({getattr(manifest, part) - getattr(before, part):+,})"
        for part in ("entities", "relations", "triples")
    ]
    if manifest.literals or before.literals:
        counts.append(f"{manifest.literals:,} values ({manifest.literals - before.literals:+,})")
    console().print(f"[green]{escape(str(new.folder))}[/]: {', '.join(counts)}")
    for note in notes:
        console().print(f"  {escape(note)}")


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="The graph before.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The graph after.", metavar="NEW")],
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=0, max=MOST, help="How many items of each kind to show."),
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare two versions of a graph: what was added, removed and changed.

    Example:  kgraft graph diff world world-2 --limit 5
    """
    from kgraft.graph import Graph, diff_graphs

    found = diff_graphs(Graph.open(old), Graph.open(new))
    if as_json:
        print_json(found.to_dict(limit))
        return
    if found.is_empty:
        console().print("no difference")
    else:
        _print_diff(found, limit)


def _print_diff(found: GraphDiff, limit: int) -> None:
    from rich.table import Table

    table = Table("", "added", "removed", "changed", box=None)
    for part, counts in found.counts().items():
        table.add_row(part, *(f"{count:,}" for count in counts.values()))
    console().print(table)
    shown = found.to_dict(limit)
    for part, counts in found.counts().items():
        for kind, sign, colour in (
            ("added", "+", "green"),
            ("removed", "-", "red"),
            ("changed", "~", "yellow"),
        ):
            for item in shown[part][kind]:
                console().print(f"[{colour}]{sign}[/] {escape(_item_words(item))}")
            if counts[kind] > limit > 0:
                console().print(f"[dim]  … {counts[kind]:,} {part} {kind} in all[/]")


def _item_words(item: dict[str, Any]) -> str:
    if "head" in item:
        split = item["split"]
        moved = f": {split['old']} → {split['new']}" if isinstance(split, dict) else ""
        return f"{item['head']}  {item['relation']}  {item['tail']}{moved}"
    if "property" in item:
        value = item["value"]
        if isinstance(value, dict):
            value = f"{_shown(value['old'])} → {_shown(value['new'])}"
        return f"{item.get('entity', item.get('relation'))}  {item['property_label']}: {value}"
    words = f"{item['id']}  {item['label']}"
    changes = (
        f"{name}: {_shown(values['old'])} → {_shown(values['new'])}"
        for name, values in item.get("columns", {}).items()
    )
    return "; ".join([words, *changes])


def _shown(value: object) -> str:
    """Return a value of a column in at most sixty letters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "—")
    return text if len(text) <= 60 else f"{text[:59]}…"


@app.command()
def split(
    out: Out,
    graph: GraphName = "world",
    valid: Annotated[float, typer.Option(help="Fraction of the triples for validation.")] = 0.1,
    test: Annotated[float, typer.Option(help="Fraction of the triples for the test.")] = 0.1,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Divide the triples into train, valid and test without leakage.

    A triple stays together with its inverse or duplicate under relations that mirror one another,
    and every entity and relation of valid and test occurs in train.

    Example:  kgraft graph split world --valid 0.05 --test 0.05 --seed 1 --out world-split
    """
    from dataclasses import asdict

    from kgraft.graph import Graph, split_graph

    opened = Graph.open(graph)
    with progress_bar(quiet) as progress:
        made = split_graph(
            opened, out, valid=valid, test=test, seed=seed, overwrite=overwrite, progress=progress
        )
    if as_json:
        mirrored = [asdict(pair) for pair in made.mirrored]
        print_json({**asdict(made.graph.manifest), "mirrored": mirrored, "wanted": made.wanted})
        return
    splits = made.graph.manifest.splits
    counts = ", ".join(f"{name} {count:,}" for name, count in splits.items())
    console().print(f"[green]{escape(str(out))}[/]: {counts} (seed {seed})")
    relations = opened.all_relations
    for pair in made.mirrored[:10]:
        first, second = relations[pair.first].label, relations[pair.second].label
        kind = "mirror" if pair.inverse else "repeat"
        what = "is symmetric" if pair.first == pair.second else f"and {second} {kind} one another"
        console().print(f"  kept together: {escape(f'{first} {what}')} in {pair.share:.0%}")
    if len(made.mirrored) > 10:
        console().print(f"  [dim]… {len(made.mirrored):,} such pairs of relations in all[/]")
    if splits["train"] > made.wanted["train"]:
        more = splits["train"] - made.wanted["train"]
        console().print(f"  {more:,} more in train than asked for: entities would be missing there")


@app.command()
def migrate(
    graph: GivenGraph,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write, if not in its place.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Bring a graph that an older kgraft wrote to the present form.

    What the graph says stays as it is, down to its version; names and indices are made again. A
    graph that is current is left as it is. Interrupted or killed, there is the old one or the new.

    Examples:

      kgraft graph migrate company

      kgraft graph migrate world --out world-now
    """
    from dataclasses import asdict

    from kgraft.graph import migrate_graph
    from kgraft.graph.migrate import is_current

    was_current = is_current(graph)
    with progress_bar(quiet) as progress:
        new = migrate_graph(graph, out, overwrite=overwrite, progress=progress)
    if as_json:
        print_json({**asdict(new.manifest), "migrated": out is not None or not was_current})
        return
    done = "is current; nothing was written" if was_current and out is None else "migrated"
    console().print(f"[green]{escape(new.folder)}[/]: {done} (version {new.manifest.version})")
