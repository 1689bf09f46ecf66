"""Names that a linker learnt from annotated texts, beside those that the graph has.

People call things by names that no vocabulary lists: "renal papillary necrosis" is "Kidney
Papillary Necrosis" in MEDIC. What an annotated text calls an entity is a name of it from then on.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.json_text import parse_json, to_json


class LearnedName(NamedTuple):
    """A name, the id of the entity that it means, and how often it was seen to mean it."""

    name: str
    entity: str
    times: int


def names_in(graph: Graph, texts: AnnotatedTexts) -> tuple[LearnedName, ...]:
    """Return what annotated texts call the entities of a graph."""
    mentions = texts.mentions
    spans = zip(mentions.text, mentions.start, mentions.end, texts.gold, strict=True)
    counts = Counter(
        (texts.texts[text][start:end], int(entity))
        for text, start, end, entity in spans
        if entity >= 0
    )
    seen = [(name, entity, count) for (name, entity), count in counts.items() if _is_word(name)]
    ids = graph.entities["id"].take(pa.array([entity for _, entity, _ in seen], pa.int64()))
    pairs = zip(seen, ids.to_pylist(), strict=True)
    return tuple(sorted(LearnedName(name, id_, count) for (name, _, count), id_ in pairs))


def _is_word(name: str) -> bool:
    return sum(map(str.isalnum, name)) > 1


def write_names(file: Path, names: tuple[LearnedName, ...]) -> None:
    """Write names as JSON Lines."""
    lines = [to_json(name._asdict()) + "\n" for name in names]
    file.write_text("".join(lines), encoding="utf-8")


def read_names(file: Path) -> tuple[LearnedName, ...]:
    """Read what `write_names` wrote; there are none where the file is missing."""
    if not file.exists():
        return ()
    lines = filter(None, file.read_text(encoding="utf-8").split("\n"))
    return tuple(LearnedName(**parse_json(line)) for line in lines)
