"""Adjacency: the triples of every entity in both directions, as flat arrays (CSR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kgraft.arrays import expand

Direction = Literal["out", "in", "both"]


@dataclass(frozen=True)
class TripleArrays:
    """Triples by index, sorted by head, relation, tail; each with its split."""

    head: np.ndarray  # (E,) int32
    relation: np.ndarray  # (E,) int32
    tail: np.ndarray  # (E,) int32
    split: np.ndarray  # (E,) int8, position in batches.SPLITS

    def __len__(self) -> int:
        return len(self.head)

    def take(self, rows: np.ndarray | slice) -> TripleArrays:
        """Return some of the triples (rows, a mask or a slice)."""
        return TripleArrays(self.head[rows], self.relation[rows], self.tail[rows], self.split[rows])

    def with_inverses(self, relations: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return source, relation and target (2E,) int64 of the triples, then of their inverses.

        The inverse of relation r has the index r + `relations`.
        """
        head, relation, tail = (
            np.asarray(column, np.int64) for column in (self.head, self.relation, self.tail)
        )
        both = np.concatenate([relation, relation + relations])
        return np.concatenate([head, tail]), both, np.concatenate([tail, head])


@dataclass(frozen=True)
class Adjacency:
    """The edges of every entity: those that leave it, then those that come in.

    The out edges of entity v are rows bounds[2v] : bounds[2v + 1], its in edges the rows from there
    to bounds[2v + 2]. Relation and far end lie side by side, so that one look gets both.
    """

    bounds: np.ndarray  # (2N + 1,) int64
    edges: np.ndarray  # (2E, 2) int32: relation, entity at the far end

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self.bounds) // 2

    def spans(self, entities: np.ndarray, direction: Direction) -> tuple[np.ndarray, np.ndarray]:
        """Return where the edges of each entity begin and end."""
        rows = np.asarray(entities, np.int64) * 2
        return (
            self.bounds[rows + (direction == "in")],
            self.bounds[rows + (1 if direction == "out" else 2)],
        )

    def degree(
        self, direction: Direction = "both", *, entities: np.ndarray | None = None
    ) -> np.ndarray:
        """Return how many edges each entity has, or each of some."""
        rows = np.arange(self.entities) if entities is None else entities
        first, last = self.spans(rows, direction)
        return last - first

    def rows(self, entities: np.ndarray, direction: Direction) -> tuple[np.ndarray, np.ndarray]:
        """Return for all edges of some entities: position of the entity in the input, edge row."""
        return expand(*self.spans(entities, direction))


def sort_triples(triples: TripleArrays, entities: int, relations: int) -> TripleArrays:
    """Sort by head, relation, tail, split, and drop triples that stand twice in one split."""
    order = [(triples.head, entities), (triples.relation, relations), (triples.tail, entities)]
    head, relation, tail, split = sorted_columns([*order, (triples.split, 4)])
    new = np.zeros(len(head), bool)
    new[:1] = True
    for column in (head, relation, tail, split):
        new[1:] |= column[1:] != column[:-1]
    return TripleArrays(head, relation, tail, split.astype(np.int8)).take(new)


def build_adjacency(triples: TripleArrays, entities: int) -> Adjacency:
    """Make the edges of both directions from sorted triples."""
    relations = int(triples.relation.max(initial=0)) + 1
    columns = [(triples.tail, entities), (triples.relation, relations), (triples.head, entities)]
    tail, relation, head = sorted_columns(columns)
    out, into = _offsets(triples.head, entities), _offsets(tail, entities)
    edges = np.empty((2 * len(triples), 2), np.int32)
    row = np.arange(len(triples))
    out_row, in_row = row + into[triples.head], row + out[tail + 1]
    edges[out_row, 0], edges[out_row, 1] = triples.relation, triples.tail
    edges[in_row, 0], edges[in_row, 1] = relation, head
    return Adjacency(_bounds(out, into), edges)


def _bounds(out: np.ndarray, into: np.ndarray) -> np.ndarray:
    """Return where the outgoing and the incoming edges of each entity begin, in turn."""
    bounds = np.empty(2 * len(out) - 1, np.int64)
    bounds[0::2] = out + into
    bounds[1::2] = out[1:] + into[:-1]
    return bounds


def _offsets(ascending: np.ndarray, entities: int) -> np.ndarray:
    offsets = np.zeros(entities + 1, np.int64)
    np.cumsum(np.bincount(ascending, minlength=entities), out=offsets[1:])
    return offsets


def sorted_columns(columns: list[tuple[np.ndarray, int]]) -> list[np.ndarray]:
    """Sort rows of (column, number of its values) by the columns from left to right.

    The columns are packed into one number per row where that fits in 63 bits: sorting those is
    several times faster than sorting rows.
    """
    bits = [max(1, (size - 1).bit_length()) for _, size in columns]
    if sum(bits) > 63:
        order = np.lexsort([column for column, _ in reversed(columns)])
        return [column[order] for column, _ in columns]
    packed = np.zeros(len(columns[0][0]), np.int64)
    for (column, _), width in zip(columns, bits, strict=True):
        packed <<= width
        packed |= column
    packed.sort()
    unpacked = []
    for width in reversed(bits):
        unpacked.append((packed & ((1 << width) - 1)).astype(np.int32))
        packed >>= width
    return unpacked[::-1]
