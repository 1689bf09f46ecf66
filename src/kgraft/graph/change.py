"""Change: a graph with additions or without some of its parts, written as a new version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from kgraft.errors import NotFound
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import Refusals, Source
from kgraft.graph.build import read_content
from kgraft.graph.folder import GRAPH
from kgraft.graph.graph import Graph
from kgraft.graph.write import Content, Provenance, write_graph
from kgraft.progress import Progress, Silent
from kgraft.storage import refuse_existing


def extend(
    graph: Graph,
    source: Source,
    target: Path,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Write the graph with all that a source adds, and open it.

    Entities keep their indices; new ones come behind them. A row of an entity that is there
    already replaces the columns it gives. A triple that is there already is kept once.
    """
    refuse_existing(target, GRAPH, overwrite=overwrite)
    graph, progress = graph.whole(), progress or Silent()
    old = Content(graph.entities, graph.relations, graph.triples, graph.literal_tables)
    refusals = Refusals()
    content = read_content(source, refusals, progress, onto=old)
    summary = f"extended by {source.describe()}"
    left_out = refusals.left_out
    return _write(graph, content, target, summary, progress, left_out=left_out, overwrite=overwrite)


def without(
    graph: Graph,
    target: Path,
    *,
    entities: Iterable[str] = (),
    relations: Iterable[str] = (),
    triples: Iterable[Sequence[str]] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Write the graph without some entities (and their triples), relations or triples.

    The values of what is gone go too, be it what they are about or their property.
    """
    refuse_existing(target, GRAPH, overwrite=overwrite)
    graph = graph.whole()
    gone_entities = _indices(graph, list(entities))
    gone_relations = np.array([graph.relation(r).index for r in relations], np.int64)
    facts = graph.triples
    keep = ~(
        np.isin(facts.head, gone_entities)
        | np.isin(facts.tail, gone_entities)
        | np.isin(facts.relation, gone_relations)
        | _named(graph, list(triples))
    )
    content = _content_without(graph, gone_entities, gone_relations, facts.take(keep))
    summary, progress = "with parts removed", progress or Silent()
    return _write(graph, content, target, summary, progress, overwrite=overwrite)


def _content_without(
    graph: Graph, gone_entities: np.ndarray, gone_relations: np.ndarray, kept: TripleArrays
) -> Content:
    """Return the content without these entities and relations, and of triples those kept."""
    new_entity = _new_indices(len(graph.entities), gone_entities)
    new_relation = _new_indices(len(graph.relations), gone_relations)
    removed_ids = [graph.all_relations[row].id for row in gone_relations.tolist()]
    literals = graph.literal_tables.without_properties(removed_ids)
    return Content(
        graph.entities.take(pa.array(np.flatnonzero(new_entity >= 0))),
        graph.relations.take(pa.array(np.flatnonzero(new_relation >= 0))),
        TripleArrays(
            new_entity[kept.head], new_relation[kept.relation], new_entity[kept.tail], kept.split
        ),
        literals.reindexed(new_entity, new_relation),
    )


def _write(
    graph: Graph,
    content: Content,
    target: Path,
    summary: str,
    progress: Progress,
    *,
    left_out: Counter[str] | None = None,
    overwrite: bool = False,
) -> Graph:
    old = graph.manifest
    provenance = Provenance(
        name=old.name,
        source=f"{old.source}, {summary}",
        licence=old.licence,
        parent=old.version,
        left_out=dict(Counter(old.left_out) + (left_out or Counter())),
        refused=old.refused,
    )
    write_graph(target, content, provenance, overwrite=overwrite, progress=progress)
    return Graph.open(target)


def _indices(graph: Graph, ids: list[str]) -> np.ndarray:
    indices = graph.indices_of(ids)
    if (indices < 0).any():
        raise NotFound(
            f"no entity has the id {ids[int(np.argmin(indices))]!r}; nothing was changed"
        )
    return indices


def _new_indices(count: int, gone: np.ndarray) -> np.ndarray:
    """Return the new index of every old one, -1 for those that are gone."""
    stays = np.ones(count, bool)
    stays[gone] = False
    return np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)


def _named(graph: Graph, triples: list[Sequence[str]]) -> np.ndarray:
    """Return which triples are among the named ones; all of those must be there."""
    facts = graph.triples
    mask = np.zeros(len(facts), bool)
    ends = _indices(graph, [end for head, _, tail in triples for end in (head, tail)])
    for row, (head, relation, tail) in enumerate(triples):
        h, t = ends[2 * row : 2 * row + 2]
        rows = np.arange(*np.searchsorted(facts.head, np.array([h, h + 1], facts.head.dtype)))
        same = (facts.tail[rows] == t) & (facts.relation[rows] == graph.relation(relation).index)
        if not same.any():
            raise NotFound(f"the graph has no triple {head} {relation} {tail}; nothing was changed")
        mask[rows[same]] = True
    return mask
