"""Profile: what a graph is like on one page, and what it lacks for linking and for asking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.arrays import run_starts
from kgraft.columns import flat, list_rows, numbers
from kgraft.graph.advice import advise
from kgraft.graph.graph import Graph
from kgraft.graph.literals import typed
from kgraft.graph.resplit import OVERLAP, RelationPair, leaking_triples, mirrored_relations
from kgraft.graph.write import degrees

Cardinality = Literal["1-1", "1-n", "n-1", "n-n"]
CARDINALITIES: tuple[Cardinality, ...] = ("1-1", "1-n", "n-1", "n-n")
MANY = 1.5  # far ends per end from which on a side is n: Bordes et al. (2013)
_TOP = 8  # types and entities that are named


@dataclass(frozen=True)
class RelationProfile:
    """One relation: its size, its cardinality, and the relations that say the same of a pair."""

    id: str
    label: str
    triples: int
    heads: int
    tails: int
    cardinality: Cardinality
    symmetric: bool
    inverse_of: tuple[str, ...]  # ids
    duplicate_of: tuple[str, ...]  # ids


@dataclass(frozen=True)
class PropertyProfile:
    """One property whose values are not entities: how many there are, of what kind, from where."""

    id: str
    label: str
    values: int
    entities: int  # that have one
    kinds: dict[str, int]  # number, date, string, … → how many values
    least: str  # of its numbers and dates, as written
    most: str


@dataclass(frozen=True)
class Degrees:
    """In how many triples the entities stand."""

    mean: float
    median: float
    highest: int
    isolated: int  # entities without a triple
    histogram: dict[str, int]  # from "0", "1", "2–3", "4–7", … to how many entities
    hubs: dict[str, int]  # label (id) of the entities of highest degree


@dataclass(frozen=True)
class NameProfile:
    """How many names there are, and how many of them mean several entities."""

    names: int
    ambiguous: int
    most_entities: int  # that one name means
    most_ambiguous: str
    shared_labels: int  # entities that have the label of another one


@dataclass(frozen=True)
class GraphProfile:
    """A graph on one page."""

    name: str
    version: str
    entities: int
    triples: int
    splits: dict[str, int]
    degrees: Degrees
    relations: tuple[RelationProfile, ...]  # largest first
    types: dict[str, int]  # the most frequent ones
    type_count: int
    names: NameProfile
    shares: dict[str, float]  # of entities with a label, description, aliases, types, triples
    components: int
    largest_component: float  # share of the entities
    leaking: float  # share of held-out triples that train says, reversed or otherwise
    properties: tuple[PropertyProfile, ...] = ()  # those with most values first
    advice: tuple[str, ...] = ()  # what would help linking and asking

    @property
    def leakage(self) -> str:
        """The leaking share in words."""
        if self.splits["train"] == self.triples:
            return "no triples are held out"
        return f"{self.leaking:.1%} of the held-out triples"

    def cardinalities(self) -> dict[Cardinality, int]:
        """Return how many relations there are of each cardinality."""
        kinds = [relation.cardinality for relation in self.relations]
        return {kind: kinds.count(kind) for kind in CARDINALITIES}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "cardinalities": self.cardinalities()}


def profile_graph(graph: Graph) -> GraphProfile:
    """Measure a graph and say what would help it."""
    graph = graph.whole()
    manifest = graph.manifest
    mirrored = mirrored_relations(graph)
    degree = degrees(graph.triples, manifest.entities)
    types, type_count = _types(graph)
    sizes = _component_sizes(graph)
    profile = GraphProfile(
        name=manifest.name,
        version=manifest.version,
        entities=manifest.entities,
        triples=manifest.triples,
        splits=manifest.splits,
        degrees=_degrees(graph, degree),
        relations=tuple(_relations(graph, mirrored)),
        types=types,
        type_count=type_count,
        names=_names(graph),
        shares=_shares(graph, degree),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)) / max(manifest.entities, 1),
        leaking=_leaking(graph, mirrored),
        properties=_properties(graph),
    )
    return replace(profile, advice=tuple(advise(graph, profile)))


def _properties(graph: Graph) -> tuple[PropertyProfile, ...]:
    """Return the properties of columns and of literals, those with most values first."""
    properties = (*_column_properties(graph), *_literal_properties(graph))
    return tuple(sorted(properties, key=lambda p: -p.values))


def _leaking(graph: Graph, mirrored: list[RelationPair]) -> float:
    """Return the fraction of held-out triples that train says, reversed or otherwise."""
    held_out = graph.manifest.triples - graph.manifest.splits["train"]
    return int(leaking_triples(graph, mirrored).sum()) / max(held_out, 1)


def _degrees(graph: Graph, degree: np.ndarray) -> Degrees:
    bins = np.frexp(degree)[1]  # 0, then 1 for 1, 2 for 2 and 3, 3 for 4 to 7, …
    counts = np.bincount(bins).tolist()
    histogram = {_bin_name(power): count for power, count in enumerate(counts)}
    top = np.argsort(-degree, kind="stable")[:_TOP]
    hubs = {f"{e.label} ({e.id})": int(degree[e.index]) for e in graph.entities_at(top)}
    return Degrees(
        mean=float(degree.mean()),
        median=float(np.median(degree)),
        highest=int(degree.max()),
        isolated=int((degree == 0).sum()),
        histogram=histogram,
        hubs={name: count for name, count in hubs.items() if count},
    )


def _bin_name(power: int) -> str:
    """Return the degrees of a bin.

    >>> [_bin_name(power) for power in range(4)]
    ['0', '1', '2–3', '4–7']
    """
    low, high = (1 << power) >> 1, (1 << power) - 1
    return str(low) if high <= low else f"{low:,}–{high:,}"


def _relations(graph: Graph, mirrored: list[RelationPair]) -> Iterator[RelationProfile]:
    """Yield the relations, largest first."""
    count = graph.manifest.relations
    t = graph.triples
    triples = np.bincount(t.relation, minlength=count)
    heads, tails = (_distinct_ends(t.relation, end, count) for end in (t.head, t.tail))
    pairs = _distinct_triples(graph)
    for row in np.argsort(-triples, kind="stable").tolist():
        relation = graph.all_relations[row]
        yield RelationProfile(
            id=relation.id,
            label=relation.label,
            triples=int(triples[row]),
            heads=int(heads[row]),
            tails=int(tails[row]),
            cardinality=_cardinality(int(pairs[row]), int(heads[row]), int(tails[row])),
            symmetric=_is_symmetric(row, mirrored),
            inverse_of=_others(graph, mirrored, row, inverse=True),
            duplicate_of=_others(graph, mirrored, row, inverse=False),
        )


def _distinct_ends(relation: np.ndarray, end: np.ndarray, relations: int) -> np.ndarray:
    key = np.unique(relation.astype(np.int64) << 32 | end)
    return np.bincount(key >> 32, minlength=relations)


def _distinct_triples(graph: Graph) -> np.ndarray:
    """Return how many triples each relation has, those in two splits once."""
    t = graph.triples
    new = run_starts(t.head, t.relation, t.tail) if len(t) else np.zeros(0, bool)
    return np.bincount(t.relation[new], minlength=graph.manifest.relations)


def _cardinality(triples: int, heads: int, tails: int) -> Cardinality:
    """Return what a relation is by its average of tails per head and of heads per tail.

    >>> _cardinality(10, heads=10, tails=2)
    'n-1'
    """
    many_tails = triples >= MANY * max(heads, 1)
    many_heads = triples >= MANY * max(tails, 1)
    return CARDINALITIES[2 * many_heads + many_tails]


def _is_symmetric(relation: int, mirrored: list[RelationPair]) -> bool:
    return any(pair.first == pair.second == relation for pair in mirrored)


def _others(
    graph: Graph, mirrored: list[RelationPair], row: int, *, inverse: bool
) -> tuple[str, ...]:
    others = (
        p.second if p.first == row else p.first
        for p in mirrored
        if p.inverse == inverse and p.first != p.second and row in (p.first, p.second)
        if p.share_of_larger >= OVERLAP  # else the smaller only implies the larger
    )
    return tuple(graph.all_relations[other].id for other in others)


def _column_properties(graph: Graph) -> Iterator[PropertyProfile]:
    """Yield the other columns of entities."""
    columns = graph.column_values
    for name, datatype in columns.datatypes.items():
        cells = flat(columns.table[name])
        filled = cells.filter(pc.fill_null(pc.not_equal(cells, ""), False))
        if len(filled):
            kinds = pa.repeat(pa.scalar(datatype), len(filled))
            yield _property(name, name, filled, kinds, len(filled))


def _literal_properties(graph: Graph) -> Iterator[PropertyProfile]:
    """Yield the properties of literals."""
    tables = graph.literal_tables
    property_, entity = numbers(tables.literals["property"]), tables.entity
    _, datatypes = tables.keys()
    values = flat(tables.literals["value"])
    order = np.argsort(property_, kind="stable")
    order = order[entity[order] >= 0]
    bounds = np.searchsorted(property_[order], np.arange(len(tables.properties) + 1))
    for index, row in enumerate(tables.properties.to_pylist()):
        rows = order[bounds[index] : bounds[index + 1]]
        if len(rows):
            chosen = pa.array(rows)
            texts, kinds = values.take(chosen), datatypes.take(chosen)
            owners = len(np.unique(entity[rows]))
            yield _property(row["id"], row["label"], texts, kinds, owners)


def _property(
    item: str, label: str, texts: pa.Array, datatypes: pa.Array, entities: int
) -> PropertyProfile:
    """Return the profile of one property, given its values and their datatypes."""
    kinds: Counter[str] = Counter()
    numeric: list[tuple[float, str]] = []
    days: list[str] = []
    counted = pa.table({"text": texts, "datatype": datatypes})
    counted = counted.group_by(["text", "datatype"]).aggregate([([], "count_all")])
    for text, datatype, count in zip(*(column.to_pylist() for column in counted), strict=True):
        value, kind, _ = typed(text, datatype)
        kinds[kind] += count
        if kind in ("number", "quantity") and isinstance(value, (int, float)):
            numeric.append((value, text))
        elif kind == "date":
            days.append(text)
    bounds = _bounds(numeric, days)
    return PropertyProfile(item, label, len(texts), entities, dict(kinds.most_common()), *bounds)


def _bounds(numeric: list[tuple[float, str]], days: list[str]) -> tuple[str, str]:
    """Return the least and the greatest number as written, or else the first and the last day."""
    if numeric:
        return min(numeric)[1], max(numeric)[1]
    return (min(days), max(days)) if days else ("", "")


def _types(graph: Graph) -> tuple[dict[str, int], int]:
    _, items = list_rows(graph.entities["types"])
    counted = pc.value_counts(items)
    values, counts = counted.field(0), numbers(counted.field(1))
    top = np.argsort(-counts, kind="stable")[:_TOP]
    names = values.take(pa.array(top)).to_pylist()
    return dict(zip(names, counts[top].tolist(), strict=True)), len(values)


def _names(graph: Graph) -> NameProfile:
    meanings = np.diff(numbers(graph.tables["alias_bounds"]["start"]))
    most = int(np.argmax(meanings)) if len(meanings) else -1
    labels = pc.value_counts(flat(graph.entities["label"]))
    shared = numbers(labels.field(1))
    return NameProfile(
        names=len(meanings),
        ambiguous=int((meanings > 1).sum()),
        most_entities=int(meanings.max(initial=0)),
        most_ambiguous=graph.aliases.keys[most] if most >= 0 else "",
        shared_labels=int(shared[shared > 1].sum()),
    )


def _shares(graph: Graph, degree: np.ndarray) -> dict[str, float]:
    """Return the shares of the entities that have each kind of text, and a triple."""
    table, count = graph.entities, max(graph.manifest.entities, 1)
    texts = {
        "label": pc.not_equal(table["label"], table["id"]),
        "description": pc.not_equal(table["description"], ""),
        "aliases": pc.greater(pc.list_value_length(table["aliases"]), 0),
        "types": pc.greater(pc.list_value_length(table["types"]), 0),
    }
    shares = {name: (pc.sum(mask).as_py() or 0) / count for name, mask in texts.items()}
    return {**shares, "triples": int((degree > 0).sum()) / count}


def _component_sizes(graph: Graph) -> np.ndarray:
    """Return how many entities each connected component has, whatever the triples' directions."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    t, count = graph.triples, graph.manifest.entities
    ends = (np.ones(len(t), bool), (t.head, t.tail))
    part = connected_components(coo_array(ends, shape=(count, count)), directed=False)[1]
    return np.bincount(part)
