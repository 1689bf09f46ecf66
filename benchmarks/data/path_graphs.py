"""Graphs of the data folder as the reasoner reads them, and the queries that judge it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.harness import WORK
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import Queries
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.task import ValidGraph


def opened(source: Path) -> Graph:
    """Open a graph of the data folder; it is imported the first time."""
    folder = WORK / "-".join(source.parts[-3:])
    if not folder.exists():
        build_graph(open_source(source), folder, name=source.name)
    return Graph.open(folder)


def path_graph(graph: Graph) -> PathGraph:
    """Return the training facts of a graph as the reasoner reads them."""
    size = graph.manifest
    return PathGraph.of_arrays(graph.split("train").triples, size.entities, size.relations)


def judge(source: Path, split: str, *, most: int | None = None, seed: int = 0) -> ValidGraph:
    """Return a graph with the queries of a split, or `most` of them, drawn at random."""
    graph = opened(source)
    relations = graph.manifest.relations
    queries = Queries.of(graph.split(split).triples, relations)  # type: ignore[arg-type]
    if most is not None and most < len(queries):
        chosen = np.random.default_rng(seed).permutation(len(queries))[:most]
        queries = queries.select(np.sort(chosen))
    return ValidGraph(path_graph(graph), queries, Queries.of(graph.whole().triples, relations))
