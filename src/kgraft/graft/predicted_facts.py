"""Predicted facts: the conclusions of rules about a graph, each with its confidence.

They are read from a file with `head`, `relation`, `tail` (ids of the graph) and `confidence`, such
as `kgraft reason apply` writes: JSON Lines, or a table with tabs whose first line names the
columns. Other fields, such as the rule behind a fact, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from kgraft.arrays import expand, run_starts
from kgraft.corpus import read_json_lines
from kgraft.errors import BadInput
from kgraft.graph import Graph, TripleArrays
from kgraft.json_text import parse_json

FIELDS = ("head", "relation", "tail")


class _Row(NamedTuple):
    """A fact with the line it stands in."""

    line: int
    ids: tuple[str, str, str]
    confidence: float


class PredictedFacts(NamedTuple):
    """Predicted facts by index, in both directions, sorted by source and target."""

    key: np.ndarray  # (n,) source · N + target
    step: np.ndarray  # (n,) the relation, + R from tail to head
    confidence: np.ndarray  # (n,) float32

    @classmethod
    def read(cls, path: Path, graph: Graph) -> Self:
        """Read the facts of a file; what the graph lacks or states itself is not among them.

        A fact with an id that the graph does not have is refused with its line.
        """
        rows = list(_rows(path))
        head, relation, tail = _indices(rows, path, graph)
        confidence = np.array([row.confidence for row in rows], np.float32)
        stated = _is_stated(graph, head, relation, tail)
        kept = ~stated & (head != tail)
        near, step, far = TripleArrays(
            head[kept], relation[kept], tail[kept], np.zeros(kept.sum(), np.int8)
        ).with_inverses(len(graph.relations))
        return cls._sorted(near * len(graph.entities) + far, step, np.tile(confidence[kept], 2))

    @classmethod
    def _sorted(cls, key: np.ndarray, step: np.ndarray, confidence: np.ndarray) -> Self:
        """Sort facts; of one that is there twice, the greatest confidence counts."""
        order = np.lexsort((-confidence, step, key))
        order = order[run_starts(key[order], step[order])]
        return cls(key[order], step[order], confidence[order])

    def between(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pair and row of the facts of pairs with these keys, (P,)."""
        sides = (np.searchsorted(self.key, key, side=side) for side in ("left", "right"))
        return expand(*sides)


def _rows(path: Path) -> Iterator[_Row]:
    """Yield the facts of a file; a line that is not one is refused with its number."""
    names: list[str] = []
    for number, line in read_json_lines(path):
        is_object = line.lstrip().startswith("{")
        if not is_object and not names:
            names = _column_names(line, path, number)
            continue
        try:
            cells = line.rstrip("\r\n").split("\t")
            fact = parse_json(line) if is_object else dict(zip(names, cells, strict=True))
            yield _Row(number, *_fact(fact))
        except (ValueError, LookupError, TypeError) as error:
            reason = f"is not a predicted fact ({type(error).__name__}: {error})"
            raise BadInput(reason, file=str(path), line=number) from error


def _column_names(line: str, path: Path, number: int) -> list[str]:
    names = line.rstrip("\r\n").split("\t")
    absent = [name for name in (*FIELDS, "confidence") if name not in names]
    if absent:
        remedy = "give a file that 'kgraft reason apply' wrote"
        raise BadInput(f"names no column {absent[0]}", file=str(path), line=number, remedy=remedy)
    return names


def _fact(fields: Mapping[str, Any]) -> tuple[tuple[str, str, str], float]:
    head, relation, tail = (str(fields[name]) for name in FIELDS)
    confidence = float(fields["confidence"])
    if not 0 < confidence <= 1:
        raise ValueError(f"the confidence {confidence:g} is not between 0 and 1")
    return (head, relation, tail), confidence


def _indices(
    rows: list[_Row], path: Path, graph: Graph
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the indices of heads, relations and tails; an id that is not there is refused."""
    heads, relations, tails = zip(*(row.ids for row in rows), strict=True) if rows else ((),) * 3
    index = graph.relation_indices
    columns = (
        graph.indices_of(heads),
        np.array([index.get(name, -1) for name in relations], np.int64),
        graph.indices_of(tails),
    )
    absent = np.flatnonzero(np.min(columns, axis=0) < 0)
    if len(absent):
        row = rows[absent[0]]
        name = next(n for n, c in zip(row.ids, columns, strict=True) if c[absent[0]] < 0)
        remedy = f"give facts that were predicted for {graph.manifest.name}"
        raise BadInput(f"the graph has no {name!r}", file=str(path), line=row.line, remedy=remedy)
    return columns


def _is_stated(
    graph: Graph, head: np.ndarray, relation: np.ndarray, tail: np.ndarray
) -> np.ndarray:
    """Return which facts are triples of a graph, (n,)."""
    triples, stated = graph.triples, np.zeros(len(head), bool)
    keys = triples.head.astype(np.int64) * len(graph.entities) + triples.tail
    order = np.argsort(keys, kind="stable")
    wanted = head * len(graph.entities) + tail
    sides = (np.searchsorted(keys[order], wanted, side=side) for side in ("left", "right"))
    fact, row = expand(*sides)
    stated[fact[triples.relation[order[row]] == relation[fact]]] = True
    return stated
