"""MetaQA: its graph of movies, and its questions of one, two and three hops."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.harness import WORK
from kgraft.ask import Questions
from kgraft.graph import Graph, Refusals, build_graph, open_source

HOPS = (1, 2, 3)


def movies(data: Path) -> Graph:
    """Return the graph, built if it is not there; one of its lines is bad, and skipped."""
    folder = WORK / "metaqa"
    if not folder.exists():
        source = open_source(data / "qa" / "metaqa")
        build_graph(source, folder, name="metaqa", refusals=Refusals(skip=True))
    return Graph.open(folder)


def questions(data: Path, graph: Graph, split: str) -> dict[int, Questions]:
    """Return the questions of a split by their hops."""
    return {
        hops: Questions.read(data / "qa" / "metaqa" / f"{hops}hop" / f"{split}.jsonl.gz", graph)
        for hops in HOPS
    }


def all_hops(by_hops: dict[int, Questions]) -> Questions:
    """Return the questions of all hops as one."""
    parts = list(by_hops.values())
    topic, start, end = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("topic", "start", "end")
    )
    texts = [text for part in parts for text in part.texts]
    return Questions(texts, topic, start, end, [row for part in parts for row in part.answers])
