"""The entity index: which entities have the vectors nearest to a query, among very many.

It is one FAISS index of directions: vectors are brought to length 1. Up to `EXACT` entities all are
compared with a query. Above, a sketch of four bits per two numbers (principal components, product
quantisation, scanned in the processor's registers) names the likeliest entities, and one byte per
number decides among them. That takes some 450 bytes per entity at 384 dimensions, most of it mapped
from the file, and the vectors that the index was built from are kept nowhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import faiss
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgraft.errors import BadInput
from kgraft.storage import new_file

EXACT = 10_000  # entities up to which all are compared
RERANKED = 32  # entities that the sketch names for each one that is asked for
_WIDE = 64  # numbers of a vector from which on some directions say most of it
_SAMPLE = 65_536  # vectors that the sketch is learnt from
_SEED = 0
_CHECKSUM = 4  # bytes at the end of a file: FAISS trusts what it opens
_READ = 1 << 24  # bytes of a file that are checked at a time

Blocks = Callable[[], Iterable[Tensor]]
"""Gives all vectors in order, in parts (n, D), again each time it is called."""


class EntityIndex:
    """Entities by the direction of their vectors: row i is the entity with index i.

    What is added or removed later is kept beside the stored vectors, which stay as they are.
    """

    def __init__(self, stored: faiss.Index) -> None:
        self._stored = stored
        self._added = np.zeros(0, np.int64)
        self._added_vectors = torch.zeros(0, self.dimension)
        self._removed = np.zeros(0, np.int64)

    @classmethod
    def build(cls, blocks: Blocks, count: int, dimension: int) -> EntityIndex:
        """Index `count` vectors."""
        kind = _kind(count, dimension)
        stored = faiss.index_factory(dimension, kind, faiss.METRIC_INNER_PRODUCT)
        if not stored.is_trained:
            stored.train(_sample(blocks(), count))
        for block in blocks():
            stored.add(_directions(block))
        return cls(stored)

    @classmethod
    def open(cls, file: Path) -> EntityIndex:
        """Map a file that `save` wrote into memory, once its checksum is verified."""
        try:
            _verify(file)
            return cls(faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC))
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BadInput(f"is not an index of entities ({reason})", file=str(file)) from error

    def save(self, file: Path) -> None:
        """Write the index as it was built, without what was added or removed since."""
        checksum = 0
        with new_file(file) as partial, partial.open("wb") as stream:

            def write(content: bytes) -> int:
                nonlocal checksum
                checksum = zlib.crc32(content, checksum)
                return stream.write(content)

            faiss.write_index(self._stored, faiss.PyCallbackIOWriter(write))  # type: ignore[attr-defined]
            stream.write(checksum.to_bytes(_CHECKSUM))

    def __len__(self) -> int:
        return int(self._stored.ntotal)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self._stored.d)

    def search(self, queries: Tensor, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest entities of queries (Q, D), best first, and their dots, (Q, limit).

        Where there are fewer, -1 with a dot of -inf fills up.
        """
        entities, dots = self._search_stored(queries, limit)
        if len(self._added):
            added_dots = (queries @ self._added_vectors.T).numpy()
            added = np.broadcast_to(self._added, added_dots.shape)
            entities, dots = np.hstack([entities, added]), np.hstack([dots, added_dots])
        return _best(entities, dots, limit)

    def _search_stored(self, queries: Tensor, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Return at least `limit` stored entities and their dots, -inf for those replaced."""
        changed = np.union1d(self._removed, self._added)
        hidden = changed[(changed >= 0) & (changed < len(self))]
        count = min(limit + len(hidden), len(self))
        if not count or not len(queries):
            return np.zeros((len(queries), 0), np.int64), np.zeros((len(queries), 0), np.float32)
        parameters = None
        if isinstance(self._stored, faiss.IndexRefine):
            parameters = faiss.IndexRefineSearchParameters()
            parameters.k_factor = max((limit * RERANKED + len(hidden)) / count, 1.0)
        wanted = np.ascontiguousarray(queries.numpy(), np.float32)
        dots, entities = self._stored.search(wanted, count, params=parameters)
        dots[np.isin(entities, hidden) | (entities < 0)] = -np.inf
        return entities, dots

    def add(self, entities: np.ndarray, vectors: Tensor) -> None:
        """Add entities; those that are there already get the new vector in place of the old."""
        new = np.asarray(entities, np.int64)
        if len(np.unique(new)) != len(new):
            raise BadInput("an entity is to be added twice", remedy="give each once")
        self._drop_added(new)
        directions = normalize(vectors.float(), dim=1)
        self._added = np.concatenate([self._added, new])
        self._added_vectors = torch.cat([self._added_vectors, directions])
        self._removed = np.setdiff1d(self._removed, new)

    def remove(self, entities: np.ndarray) -> None:
        """Take entities out; those that are not there are passed over."""
        gone = np.asarray(entities, np.int64)
        self._drop_added(gone)
        self._removed = np.union1d(self._removed, gone)

    def _drop_added(self, entities: np.ndarray) -> None:
        kept = ~np.isin(self._added, entities)
        self._added, self._added_vectors = self._added[kept], self._added_vectors[kept]


def _best(entities: np.ndarray, dots: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `limit` entities of greatest dot in each row, -1 and -inf as padding."""
    order = np.argsort(-dots, axis=1, kind="stable")[:, :limit]
    entities, dots = np.take_along_axis(entities, order, 1), np.take_along_axis(dots, order, 1)
    missing = ((0, 0), (0, limit - order.shape[1]))
    entities = np.pad(entities, missing, constant_values=-1)
    dots = np.pad(dots, missing, constant_values=-np.inf)
    return np.where(np.isneginf(dots), -1, entities), dots


def _kind(count: int, dimension: int) -> str:
    """Return what FAISS is to make for so many vectors, as its factory reads it."""
    if count <= EXACT:
        return "Flat"
    kept = dimension // 3 * 2 if dimension >= _WIDE else dimension
    parts = kept if kept % 2 else kept // 2
    return f"PCAR{kept},PQ{parts}x4fs,Refine(SQ8)"


def _directions(block: Tensor) -> np.ndarray:
    directions: np.ndarray = normalize(block.float(), dim=1).numpy()
    return directions


def _sample(blocks: Iterable[Tensor], count: int) -> np.ndarray:
    """Return some of the directions, spread evenly over all."""
    chosen = np.random.default_rng(_SEED).permutation(count)[:_SAMPLE]
    chosen.sort()
    first, rows = 0, []
    for block in blocks:
        low, high = np.searchsorted(chosen, [first, first + len(block)])
        rows.append(_directions(block[torch.from_numpy(chosen[low:high] - first)]))
        first += len(block)
    return np.concatenate(rows)


def _verify(file: Path) -> None:
    """Raise a ValueError unless a file ends with the checksum of all before it."""
    remaining, checksum = file.stat().st_size - _CHECKSUM, 0
    with file.open("rb") as stream:
        while content := stream.read(min(_READ, max(remaining, 0))):
            checksum = zlib.crc32(content, checksum)
            remaining -= len(content)
        if remaining or stream.read() != checksum.to_bytes(_CHECKSUM):
            raise ValueError("its checksum is wrong")
