"""Candidates by meaning: the entities whose vectors are nearest to what the model sees at a span.

The index is a second source of candidates beside names. It is built on request and kept in the
cache, under the version of the graph and the encoder: no other graph or encoder finds it.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.progress import Progress, Silent
from kgraft.storage import cache_folder
from kgraft.text import Encoder
from kgraft.vectors import EntityIndex, TextVectors, entity_texts

if TYPE_CHECKING:
    from kgraft.text import StaticEncoder

logger = logging.getLogger("kgraft.link")
STATIC, ENCODED = "static", "encoded"
BLOCK = 16384  # entities that are encoded at once


class NeighbourIndex:
    """An index of a graph's entities; `static` says which encoder made its vectors."""

    def __init__(self, index: EntityIndex, *, static: bool) -> None:
        self._index, self.static = index, static

    @classmethod
    def open(cls, graph: Graph, encoder: Encoder) -> Self | None:
        """Open the index of a graph from the cache, None where it was not built."""
        for kind in (ENCODED, STATIC):
            if not any(_index_folder().glob(f"{graph.manifest.version}-{kind}-*.faiss")):
                continue
            file = index_file(graph, encoder, kind)
            try:
                if file.exists():
                    return cls(EntityIndex.open(file), static=kind == STATIC)
                reason = "the index of this graph is of another encoder"
                logger.warning("%s; run: kgraft link index %s", reason, graph.folder)
            except BadInput as error:
                logger.warning("%s; run: kgraft link index %s", error, graph.folder)
        return None

    @classmethod
    def build(
        cls, vectors: TextVectors, *, static: bool = False, progress: Progress | None = None
    ) -> Self:
        """Build the index of a graph and keep it in the cache, if that may be written."""
        graph, encoder = vectors.graph, vectors.encoder
        if static:
            index = _build_static(graph, progress or Silent())
        else:
            vectors.fill(progress=progress)
            index = EntityIndex.build(vectors.chunks, len(vectors), vectors.dimension)
        file = index_file(graph, encoder, STATIC if static else ENCODED)
        try:
            index.save(file)
            index = EntityIndex.open(file)
        except OSError as error:
            logger.debug("%s cannot be written (%s); the index stays in memory", file, error)
        return cls(index, static=static)

    def search(
        self, surfaces: list[str], vectors: Tensor, limit: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest entities of spans (S, limit) and their cosines, -1 where padded.

        A static index is searched by the words of the span, the other by its vector.
        """
        if self.static:
            vectors = torch.from_numpy(_static_encoder().encode(surfaces))
        entity, dots = self._index.search(vectors, limit)
        lengths = vectors.norm(dim=1, keepdim=True).clamp_min(1e-6).numpy()
        return entity, dots / lengths

    def add(self, entities: np.ndarray, vectors: Tensor) -> None:
        """Add entities; a static index finds them by name only, until it is built again."""
        if not self.static:
            self._index.add(entities, vectors)

    def remove(self, entities: np.ndarray) -> None:
        """Take entities out."""
        self._index.remove(entities)


def index_file(graph: Graph, encoder: Encoder, kind: str) -> Path:
    """Return where the index of a graph is kept."""
    maker = _static_encoder().identity if kind == STATIC else encoder.identity
    return _index_folder() / f"{graph.manifest.version}-{kind}-{maker[:16]}.faiss"


def _index_folder() -> Path:
    return cache_folder() / "indexes"


@cache
def _static_encoder() -> StaticEncoder:
    from kgraft.text import StaticEncoder

    return StaticEncoder.load()


def _build_static(graph: Graph, progress: Progress) -> EntityIndex:
    encoder, count = _static_encoder(), len(graph.entities)
    vectors = np.zeros((count, encoder.dimension), np.float32)
    progress.start("encoding entities", count)
    for first in range(0, count, BLOCK):
        entities = np.arange(first, min(first + BLOCK, count))
        vectors[entities] = encoder.encode(entity_texts(graph, entities).to_pylist())
        progress.advance(len(entities))
    starts = range(0, count, BLOCK)
    return EntityIndex.build(
        lambda: (torch.from_numpy(vectors[first : first + BLOCK]) for first in starts),
        count,
        encoder.dimension,
    )
