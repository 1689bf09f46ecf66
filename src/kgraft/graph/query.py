"""Queries: triple patterns with variables, joined over the sorted triples.

    ?city capital_of ?country . ?country borders Germany

Patterns are separated by a dot that stands alone. `?name` is a variable. Any other word is an id or
a name; one of several words stands in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from kgraft.columns import flat
from kgraft.errors import BadInput
from kgraft.graph.entity import Entity, Relation
from kgraft.graph.joins import evaluate

if TYPE_CHECKING:
    from kgraft.graph.graph import Graph

MOST_ROWS = 50_000_000  # rows of a join; more is a query that wants another pattern
_TOKEN = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\S+))(?=\s|$)""")
_VARIABLE = re.compile(r"\?\w+")
_PLACES: tuple[Literal["head", "relation", "tail"], ...] = ("head", "relation", "tail")

Kind = Literal["entity", "relation"]
Pattern = Sequence[str | Entity | Relation]
Patterns = str | Sequence[Pattern]


@dataclass(frozen=True, eq=False)
class Solutions(Sequence[dict[str, Entity | Relation]]):
    """What the variables of a query may stand for: a row per way in which all patterns hold.

    A row is a dictionary from variable (without its `?`) to entity or relation.
    """

    graph: Graph
    kinds: dict[str, Kind]  # by variable, in the order in which the query names them
    columns: dict[str, np.ndarray]  # indices of entities or relations
    meant: dict[str, Entity]  # the names of the query that mean one of several entities

    @property
    def variables(self) -> list[str]:
        """The variables in the order in which the query names them."""
        return list(self.kinds)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"<Solutions of {', '.join(self.variables)}: {len(self):,}>"

    def __getitem__(self, row: int) -> dict[str, Entity | Relation]:  # type: ignore[override]
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        row %= len(self)
        return next(self._rows(row, row + 1))

    def __iter__(self) -> Iterator[dict[str, Entity | Relation]]:
        for first in range(0, len(self), 1024):
            yield from self._rows(first, first + 1024)

    def _rows(self, first: int, last: int) -> Iterator[dict[str, Entity | Relation]]:
        columns: list[list[Entity] | list[Relation]] = []
        for name, kind in self.kinds.items():
            index = self.columns[name][first:last]
            relations = self.graph.all_relations if kind == "relation" else []
            entities = self.graph.entities_at(index) if kind == "entity" else []
            columns.append(entities or [relations[n] for n in index.tolist()])
        for row in zip(*columns, strict=True):
            yield dict(zip(self.kinds, row, strict=True))

    def head(self, limit: int) -> Solutions:
        """Return the first rows."""
        columns = {name: column[:limit] for name, column in self.columns.items()}
        return Solutions(self.graph, self.kinds, columns, self.meant)

    def table(self) -> pa.Table:
        """Return the ids as an Arrow table, a column per variable."""
        return pa.table({name: self._ids(name) for name in self.kinds})

    def _ids(self, name: str) -> pa.Array:
        parts = self.graph.entities if self.kinds[name] == "entity" else self.graph.relations
        ids = parts["id"]
        index = pa.array(self.columns[name])
        return flat(ids).take(index) if ids.num_chunks == 1 else flat(ids.take(index))


def parse_patterns(text: str) -> list[tuple[str, str, str]]:
    """Return the patterns of a query; a variable keeps its `?`, quotes are taken off.

    >>> parse_patterns("?x capital_of ?y . ?y borders 'Sri Lanka'")
    [('?x', 'capital_of', '?y'), ('?y', 'borders', ' Sri Lanka')]
    """
    patterns, words = [], list[str]()
    text, position = text.strip(), 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise BadInput(f"the query cannot be read from {text[position:].strip()[:40]!r}")
        position = token.end()
        if token[3] != ".":
            words.append(_word(token))
        elif words:
            patterns.append(words)
            words = []
    patterns += [words] if words else []
    return [_pattern(words) for words in patterns]


def _word(token: re.Match[str]) -> str:
    """Return a word; one in quotes begins with a blank, so that it is never a variable."""
    if token[3] is None:
        return " " + re.sub(r"\\(.)", r"\1", token[1] if token[1] is not None else token[2])
    return token[3]


def _pattern(words: Sequence[str]) -> tuple[str, str, str]:
    if len(words) != 3:
        shown = " ".join(word.strip() for word in words)
        remedy = "put names of several words in quotes, and a dot between two patterns"
        raise BadInput(f"a pattern has a head, a relation and a tail; got {shown!r}", remedy=remedy)
    return words[0], words[1], words[2]


def query_graph(graph: Graph, patterns: Patterns, *, limit: int | None = None) -> Solutions:
    """Return what the variables of some patterns stand for where all of them hold.

    Patterns are a text, or triples of ids, names, entities, relations and `?variables`.
    """
    if limit is not None and limit < 0:
        raise BadInput(f"limit is {limit}; it must not be negative")
    rows = parse_patterns(patterns) if isinstance(patterns, str) else list(patterns)
    if not rows:
        raise BadInput("the query has no pattern", remedy="for example: ?x capital_of ?y")
    terms = _Terms(graph)
    resolved = [terms.resolve(row) for row in rows]
    if not terms.kinds:
        raise BadInput("the query has no variable", remedy="for example: ?x capital_of ?y")
    bindings = evaluate(graph.triple_index, resolved, MOST_ROWS)
    columns = {name: bindings.columns[name][:limit] for name in terms.kinds}
    return Solutions(graph, terms.kinds, columns, terms.meant)


class _Terms:
    """Resolves the words of a query, and keeps the kind of each variable."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kinds: dict[str, Kind] = {}
        self.meant: dict[str, Entity] = {}

    def resolve(self, row: Pattern) -> tuple[int | str, int | str, int | str]:
        """Return each part of a pattern as a number, or as the name of a variable."""
        if len(row) != 3:
            raise BadInput(f"a pattern has a head, a relation and a tail; got {row!r}")
        head, relation, tail = (
            self._part(word, part) for word, part in zip(row, _PLACES, strict=True)
        )
        return head, relation, tail

    def _part(self, word: str | Entity | Relation, part: str) -> int | str:
        kind: Kind = "relation" if part == "relation" else "entity"
        if isinstance(word, Entity | Relation):
            if isinstance(word, Relation) != (kind == "relation"):
                raise BadInput(f"{word.label!r} cannot be the {part} of a pattern")
            return word.index
        if _VARIABLE.fullmatch(word):
            if self.kinds.setdefault(word[1:], kind) != kind:
                raise BadInput(f"{word} stands for an entity and for a relation; use two names")
            return word[1:]
        if word.startswith("?"):
            raise BadInput(f"{word!r} is not the name of a variable: letters and digits after `?`")
        name = word.strip()
        return self._relation(name) if kind == "relation" else self._entity(name)

    def _relation(self, name: str) -> int:
        return self.graph.relation(_without_brackets(name)).index

    def _entity(self, name: str) -> int:
        index = int(self.graph.indices_of([_without_brackets(name)])[0])
        if index >= 0:
            return index
        entity = self.graph.resolve(name)
        if len(self.graph.find(name)) > 1:
            self.meant[name] = entity
        return entity.index


def _without_brackets(name: str) -> str:
    return name[1:-1] if name.startswith("<") and name.endswith(">") else name
