"""What commands print that wrote a new version of a graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kgraft.cli.output import console, escape, print_json

if TYPE_CHECKING:
    from kgraft.graph import Graph


def report_change(
    new: Graph, old: list[Graph], extra: dict[str, Any], notes: list[str], as_json: bool
) -> None:
    """Say what was written, and what it has more or less than the first of the old graphs."""
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
