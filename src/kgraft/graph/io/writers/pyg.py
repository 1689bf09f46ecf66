"""PyTorch Geometric: edge_index, edge_type and split as NumPy arrays in one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kgraft.graph.graph import Graph
from kgraft.graph.io.arrays import to_edge_index
from kgraft.graph.io.export import Writer
from kgraft.graph.io.writers import WRITERS
from kgraft.progress import Progress


def write_edge_index(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write edge_index, edge_type, split, and the ids they count, as one .npz file."""
    progress.start("writing arrays", None)
    edge_index, edge_type = to_edge_index(graph)
    with path.open("wb") as file:
        np.savez(
            file,
            edge_index=edge_index,
            edge_type=edge_type,
            split=graph.triples.split,
            entities=np.array(graph.entities["id"].to_pylist(), str),
            relations=np.array(graph.relations["id"].to_pylist(), str),
        )


WRITERS.register("pyg")(Writer(write_edge_index, folder=False, suffix=".npz"))
