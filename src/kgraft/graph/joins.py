"""Joins: triple patterns evaluated over sorted triples, the most selective pattern first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgraft.arrays import expand, run_starts
from kgraft.errors import BadInput
from kgraft.graph.adjacency import TripleArrays

Term = int | str  # the index of an entity or a relation, or the name of a variable
Pattern = tuple[Term, Term, Term]


class TripleIndex:
    """Triples in the orders that patterns are looked up in; each order is made when needed."""

    def __init__(self, triples: TripleArrays, entities: int, relations: int) -> None:
        self.entities, self.relations = entities, relations
        columns = (triples.head, triples.relation, triples.tail)
        new = run_starts(*columns) if len(triples) else np.zeros(0, bool)
        if new.all():
            self.head, self.relation, self.tail = columns
        else:  # a triple may stand in two splits
            self.head, self.relation, self.tail = (column[new] for column in columns)

    def __len__(self) -> int:
        return len(self.head)

    @cached_property
    def head_bounds(self) -> np.ndarray:
        """Where the triples of each head begin."""
        return _bounds(self.head, self.entities)

    @cached_property
    def relation_order(self) -> np.ndarray:
        """Rows by relation, then head, then tail."""
        small = self.relation.astype(np.uint16) if self.relations < 1 << 16 else self.relation
        return np.argsort(small, kind="stable")

    @cached_property
    def relation_bounds(self) -> np.ndarray:
        """Where the rows of each relation begin in `relation_order`."""
        return _bounds(self.relation, self.relations)

    @cached_property
    def tail_order(self) -> np.ndarray:
        """Rows by tail, then head, then relation."""
        return np.argsort(self.tail, kind="stable")

    @cached_property
    def tail_bounds(self) -> np.ndarray:
        """Where the rows of each tail begin in `tail_order`."""
        return _bounds(self.tail, self.entities)

    def rows(self, head: int | None, relation: int | None, tail: int | None) -> np.ndarray:
        """Return the rows of triples with some parts given, by the part that has fewest."""
        by_part = (
            (head, self.head_bounds, None),
            (tail, self.tail_bounds, "tail_order"),
            (relation, self.relation_bounds, "relation_order"),
        )
        spans = [
            (int(bounds[key]), int(bounds[key + 1]), order)
            for key, bounds, order in by_part
            if key is not None
        ]
        if not spans:
            return np.arange(len(self))
        first, last, order = min(spans, key=lambda span: span[1] - span[0])
        rows = np.arange(first, last) if order is None else getattr(self, order)[first:last]
        for column, value in ((self.head, head), (self.relation, relation), (self.tail, tail)):
            if value is not None:
                rows = rows[column[rows] == value]
        return rows

    def count(self, head: int | None, relation: int | None, tail: int | None) -> int:
        """Return how many triples have the given parts, at most."""
        counts = [len(self)]
        given = ((self.head_bounds, head), (self.relation_bounds, relation))
        for bounds, key in (*given, (self.tail_bounds, tail)):
            if key is not None:
                counts.append(int(bounds[key + 1] - bounds[key]))
        return min(counts)


def _bounds(column: np.ndarray, values: int) -> np.ndarray:
    bounds = np.zeros(values + 1, np.int64)
    np.cumsum(np.bincount(column, minlength=values), out=bounds[1:])
    return bounds


@dataclass(frozen=True)
class Bindings:
    """Rows of values for some variables."""

    count: int
    columns: dict[str, np.ndarray]

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns at some rows."""
        return {name: column[rows] for name, column in self.columns.items()}


def evaluate(index: TripleIndex, patterns: list[Pattern], most: int) -> Bindings:
    """Return all values of the variables for which every pattern is a triple.

    A join of more than `most` rows is refused before it is made.
    """
    bindings, waiting = Bindings(1, {}), list(patterns)
    while waiting:
        pattern = min(waiting, key=lambda p: _rank(index, p, bindings))
        waiting.remove(pattern)
        bindings = _join(index, bindings, pattern, most)
    return bindings


def _rank(index: TripleIndex, pattern: Pattern, bindings: Bindings) -> tuple[bool, int]:
    """Return how early a pattern comes: those that share a variable first, then the smallest."""
    variables = {term for term in pattern if isinstance(term, str)}
    apart = bool(bindings.columns) and bool(variables) and not variables & bindings.columns.keys()
    return apart, index.count(*_constants(pattern))


def _constants(pattern: Pattern) -> tuple[int | None, int | None, int | None]:
    head, relation, tail = (None if isinstance(term, str) else term for term in pattern)
    return head, relation, tail


def _join(index: TripleIndex, bindings: Bindings, pattern: Pattern, most: int) -> Bindings:
    """Return the bindings with those of a pattern, by look-ups or by a sorted merge."""
    spans = _spans(index, bindings, pattern)
    scanned = index.count(*_constants(pattern))
    if spans is not None and int((spans.last - spans.first).sum()) <= scanned:
        return _look_up(index, bindings, pattern, spans)
    rows = index.rows(*_constants(pattern))
    columns, rows = _columns(index, pattern, rows)
    shared = [name for name in columns if name in bindings.columns]
    if not shared:
        left_row, right_row = _product(bindings.count, len(rows), most)
    else:
        keys = _keys([(bindings.columns[name], columns[name]) for name in shared])
        left_row, right_row = _match(*keys, most)
    new = {name: column[right_row] for name, column in columns.items() if name not in shared}
    return Bindings(len(left_row), {**bindings.take(left_row), **new})


@dataclass(frozen=True)
class _Spans:
    """For every row of some bindings, the triples with its head or its tail."""

    first: np.ndarray
    last: np.ndarray
    order: np.ndarray | None


def _spans(index: TripleIndex, bindings: Bindings, pattern: Pattern) -> _Spans | None:
    """Return the shorter of the look-ups by head and by tail, of those that can be made."""
    ranges = []
    for term, side in ((pattern[0], "head"), (pattern[2], "tail")):
        if isinstance(term, str) and term in bindings.columns:
            bounds = index.head_bounds if side == "head" else index.tail_bounds
            value = bindings.columns[term]
            order = None if side == "head" else index.tail_order
            ranges.append(_Spans(bounds[value], bounds[value + 1], order))
    return min(ranges, key=lambda spans: int((spans.last - spans.first).sum()), default=None)


def _look_up(index: TripleIndex, bindings: Bindings, pattern: Pattern, spans: _Spans) -> Bindings:
    owner, row = expand(spans.first, spans.last)
    rows = row if spans.order is None else spans.order[row]
    fits = np.ones(len(rows), bool)
    new: dict[str, np.ndarray] = {}
    for term, column in zip(pattern, (index.head, index.relation, index.tail), strict=True):
        values = column[rows]
        if not isinstance(term, str):
            fits &= values == term
        elif term in bindings.columns:
            fits &= values == bindings.columns[term][owner]
        elif term in new:
            fits &= values == new[term]
        else:
            new[term] = values
    owner = owner[fits]
    columns = {name: column[fits] for name, column in new.items()}
    return Bindings(len(owner), {**bindings.take(owner), **columns})


def _columns(
    index: TripleIndex, pattern: Pattern, rows: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the values of a pattern's variables at some rows; one used twice must be equal."""
    columns: dict[str, np.ndarray] = {}
    for term, column in zip(pattern, (index.head, index.relation, index.tail), strict=True):
        if isinstance(term, str) and term in columns:
            equal = columns[term] == column[rows]
            rows = rows[equal]
            columns = {name: values[equal] for name, values in columns.items()}
        elif isinstance(term, str):
            columns[term] = column[rows]
    return columns, rows


def _product(left_count: int, right_count: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    _check_size(left_count * right_count, most)
    return np.repeat(np.arange(left_count), right_count), np.tile(
        np.arange(right_count), left_count
    )


def _keys(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return one number per row on the left and on the right, equal where all columns are."""
    left_key, right_key = pairs[0]
    for more_left, more_right in pairs[1:]:
        both = np.concatenate([left_key, right_key])
        if both.max(initial=0) >= 1 << 31:
            both = np.unique(both, return_inverse=True)[1]
        more = np.concatenate([more_left, more_right]).astype(np.int64)
        both = both.astype(np.int64) << 31 | more
        left_key, right_key = both[: len(left_key)], both[len(left_key) :]
    return left_key, right_key


def _match(left_key: np.ndarray, right_key: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows on the left and on the right with equal keys."""
    if len(left_key) < len(right_key) and not _ascends(right_key):
        found_right, found_left = _match_sorted(right_key, left_key, most)
        return found_left, found_right
    return _match_sorted(left_key, right_key, most)


def _match_sorted(probe: np.ndarray, build: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort the one side and look the other up in it."""
    order = None if _ascends(build) else np.argsort(build, kind="stable")
    ordered = build if order is None else build[order]
    first = np.searchsorted(ordered, probe, side="left")
    last = np.searchsorted(ordered, probe, side="right")
    _check_size(int((last - first).sum()), most)
    owner, row = expand(first, last)
    return owner, row if order is None else order[row]


def _ascends(values: np.ndarray) -> bool:
    return len(values) < 2 or bool((values[1:] >= values[:-1]).all())


def _check_size(rows: int, most: int) -> None:
    if rows > most:
        remedy = "add a pattern that joins its parts, or name an entity"
        raise BadInput(
            f"the query has {rows:,} rows before its end; {most:,} at most", remedy=remedy
        )
