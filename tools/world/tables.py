"""Writes the graph as a folder of TSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.world.model import RELATIONS, World

_ESCAPES = str.maketrans({character: f"\\u{ord(character):04X}" for character in "\\\t\n\r"})


def escape(text: str) -> str:
    r"""Escape what a cell cannot hold.

    >>> escape("a\tb")
    'a\\u0009b'
    """
    return text.translate(_ESCAPES)


def join(items: Iterable[str]) -> str:
    r"""Join the items of a list.

    >>> join(["a", "b|c"])
    'a|b\\u007Cc'
    """
    return "|".join(escape(item).replace("|", r"\u007C") for item in items)


def write_tables(world: World, folder: Path) -> None:
    """Write entities.tsv, relations.tsv and triples.tsv, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    entities = [("id", "label", "description", "aliases", "types", "name_counts")]
    entities += [
        (
            entity.id,
            escape(entity.label),
            escape(entity.description),
            join(name for name, _ in entity.names.aliases()),
            join(entity.types),
            "|".join(map(str, entity.counts())),
        )
        for entity in world.entities.values()
    ]
    relations = [("id", "label", "description", "template")]
    relations += [(r.id, r.label, r.description, r.template) for r in RELATIONS]
    _write(folder / "entities.tsv", entities)
    _write(folder / "relations.tsv", relations)
    _write(folder / "triples.tsv", [("head", "relation", "tail"), *world.triples])


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(
        "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n"
    )
    partial.replace(path)
