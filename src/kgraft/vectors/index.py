"""The entity index: which entities have the vectors nearest to a query, among very many.

It keeps directions: vectors are brought to length 1. Up to `EXACT` entities all are compared with a
query. Above, a sketch names the likeliest entities: the two thirds of the directions in which they
differ most, four bits for two numbers (FAISS: product quantisation, scanned in the processor's
registers). A byte a number decides among them. So the index takes some 450 bytes an entity at 384
dimensions, mapped from its file, and the vectors that it was built from are kept nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import faiss
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgraft.errors import BadInput
from kgraft.tensors import UNREADABLE, map_tensors, write_tensors

EXACT = 10_000  # entities up to which all are compared
RERANKED = 32  # entities that the sketch names for each one that is asked for
_WIDE = 64  # numbers of a vector from which on some directions say most of it
_SAMPLE = 65_536  # vectors that the sketch is learnt from
_QUERIES = 32  # that are looked for at once
_SEED = 0

Blocks = Callable[[], Iterable[Tensor]]
"""Gives all vectors in order, in parts (n, D), anew each time it is called."""


class EntityIndex:
    """Entities by the direction of their vectors: row i is entity number i.

    What is added or removed later is kept beside the stored vectors, which stay as they are.
    """

    def __init__(self, stored: _Exact | _Sketched) -> None:
        self._stored = stored
        self._added = np.zeros(0, np.int64)
        self._added_vectors = torch.zeros(0, stored.dimension)
        self._removed = np.zeros(0, np.int64)

    @classmethod
    def build(cls, blocks: Blocks, count: int, dimension: int) -> EntityIndex:
        """Index `count` vectors."""
        kind = _Exact if count <= EXACT else _Sketched
        return cls(kind.build(blocks, count, dimension))

    @classmethod
    def open(cls, file: Path) -> EntityIndex:
        """Map a file that `save` wrote into memory."""
        try:
            tensors = map_tensors(file)
            kind = _Sketched if "sketch" in tensors else _Exact
            return cls(kind(**tensors))
        except (*UNREADABLE, TypeError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BadInput(f"is no index of entities ({reason})", file=str(file)) from error

    def save(self, file: Path) -> None:
        """Write the index as it was built, without what was added or removed since."""
        write_tensors(file, self._stored.tensors())

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._stored.dimension

    def take(self, entities: np.ndarray) -> Tensor:
        """Return the directions of entities (n,) as the index knows them, (n, D)."""
        asked = np.asarray(entities, np.int64)
        place, added = self._added_places(asked)
        vectors = torch.zeros(len(asked), self.dimension)
        vectors[torch.from_numpy(~added)] = self._stored.take(asked[~added])
        vectors[torch.from_numpy(added)] = self._added_vectors[place[added]]
        return vectors

    def search(self, queries: Tensor, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest entities of queries (Q, D), best first, and their dots, (Q, limit).

        Where there are fewer, -1 with a dot of -inf fills up.
        """
        hidden = np.union1d(self._removed, self._added)
        hidden = hidden[(hidden >= 0) & (hidden < len(self))]
        found, dots = self._stored.search(queries, limit, hidden)
        if len(self._added):
            more = queries @ self._added_vectors.T
            others = np.broadcast_to(self._added, more.shape)
            found, dots = np.hstack([found, others]), np.hstack([dots, more.numpy()])
        best = np.argsort(-dots, axis=1, kind="stable")[:, :limit]
        found, dots = np.take_along_axis(found, best, 1), np.take_along_axis(dots, best, 1)
        missing = ((0, 0), (0, limit - best.shape[1]))
        found = np.pad(found, missing, constant_values=-1)
        dots = np.pad(dots, missing, constant_values=-np.inf)
        return np.where(np.isneginf(dots), -1, found), dots

    def add(self, entities: np.ndarray, vectors: Tensor) -> None:
        """Add entities; those that are there already get the new vector in place of the old."""
        new = np.asarray(entities, np.int64)
        if len(np.unique(new)) != len(new):
            raise BadInput("an entity is to be added twice", remedy="give each once")
        self._drop_added(new)
        order = np.argsort(whole := np.concatenate([self._added, new]))
        joined = torch.cat([self._added_vectors, normalize(vectors.float(), dim=1)])
        self._added, self._added_vectors = whole[order], joined[order]
        self._removed = np.setdiff1d(self._removed, new)

    def remove(self, entities: np.ndarray) -> None:
        """Take entities out; those that are not there are passed over."""
        gone = np.asarray(entities, np.int64)
        self._drop_added(gone)
        self._removed = np.union1d(self._removed, gone)

    def _drop_added(self, entities: np.ndarray) -> None:
        kept = ~np.isin(self._added, entities)
        self._added, self._added_vectors = self._added[kept], self._added_vectors[kept]

    def _added_places(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where entities stand among those added, and which of them do."""
        place = np.searchsorted(self._added, entities)
        inside = place < len(self._added)
        inside[inside] = self._added[place[inside]] == entities[inside]
        return place, inside


class _Exact:
    """All vectors as they are."""

    def __init__(self, vectors: Tensor) -> None:
        _check("vectors", vectors, torch.float32, 2)
        self.vectors, self.dimension = vectors, vectors.shape[1]

    @classmethod
    def build(cls, blocks: Blocks, count: int, dimension: int) -> _Exact:
        vectors = torch.zeros(count, dimension)
        for first, block in _placed(blocks()):
            vectors[first : first + len(block)] = block
        return cls(vectors)

    def tensors(self) -> dict[str, Tensor]:
        return {"vectors": self.vectors}

    def __len__(self) -> int:
        return len(self.vectors)

    def take(self, entities: np.ndarray) -> Tensor:
        return self.vectors[torch.from_numpy(entities)]

    def search(
        self, queries: Tensor, limit: int, hidden: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        dots = queries @ self.vectors.T
        dots[:, hidden] = -torch.inf
        best = dots.topk(min(limit, len(self)), dim=1)
        return best.indices.numpy(), best.values.numpy()


class _Sketched:
    """A byte a number, and a sketch that says which are worth to be looked at."""

    def __init__(self, codes: Tensor, sketch: Tensor, digest: Tensor) -> None:
        _check("codes", codes, torch.int8, 2)
        _check("sketch", sketch, torch.uint8, 1)
        if not torch.equal(digest, _digest(sketch)):
            raise ValueError("the checksum of its sketch is wrong")
        self.codes, self.dimension = codes, codes.shape[1]
        self.sketch = faiss.deserialize_index(sketch.numpy())
        if (self.sketch.ntotal, self.sketch.d) != codes.shape:
            raise ValueError("the sketch is of other vectors")

    @classmethod
    def build(cls, blocks: Blocks, count: int, dimension: int) -> _Sketched:
        kept = dimension // 3 * 2 if dimension >= _WIDE else dimension
        parts = kept if kept % 2 else kept // 2
        scanned = faiss.IndexPQFastScan(kept, parts, 4, faiss.METRIC_INNER_PRODUCT)
        scanned.pq.cp.seed = _SEED
        sketch = faiss.IndexPreTransform(faiss.PCAMatrix(dimension, kept), scanned)
        sketch.train(_sample(blocks(), count))
        codes = torch.zeros(count, dimension, dtype=torch.int8)
        for first, block in _placed(blocks()):
            largest = block.abs().amax(1, keepdim=True).clamp_min(1e-12)
            codes[first : first + len(block)] = (block * (127 / largest)).round().to(torch.int8)
            sketch.add(block.numpy())
        packed = torch.from_numpy(faiss.serialize_index(sketch))
        return cls(codes, packed, _digest(packed))

    def tensors(self) -> dict[str, Tensor]:
        sketch = torch.from_numpy(faiss.serialize_index(self.sketch))
        return {"codes": self.codes, "sketch": sketch, "digest": _digest(sketch)}

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, entities: np.ndarray) -> Tensor:
        return normalize(self.codes[torch.from_numpy(entities)].float(), dim=-1)

    def search(
        self, queries: Tensor, limit: int, hidden: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        likely = min(limit * RERANKED + len(hidden), len(self))
        limit = min(limit, len(self))
        found = np.empty((len(queries), limit), np.int64)
        dots = np.empty((len(queries), limit), np.float32)
        room = _Room(min(_QUERIES, len(queries)), likely, self.dimension)
        for first in range(0, len(queries), _QUERIES):
            some = queries[first : first + _QUERIES].contiguous()
            named = self.sketch.search(some.numpy(), likely)[1]
            near = self._dots(some, torch.from_numpy(named), room)
            if len(hidden) or (named[:, -1] < 0).any():  # it names none that it finds worthless
                near[torch.from_numpy(np.isin(named, hidden) | (named < 0))] = -torch.inf
            best = near.topk(limit, dim=1)
            rows = slice(first, first + len(some))
            found[rows] = np.take_along_axis(named, best.indices.numpy(), 1)
            dots[rows] = best.values.numpy()
        return found, dots

    def _dots(self, queries: Tensor, entities: Tensor, room: _Room) -> Tensor:
        """Return the dots of queries (q, D) with the directions of their entities (q, n)."""
        count = entities.numel()
        codes, vectors = room.codes[:count], room.vectors[:count]
        torch.index_select(self.codes, 0, entities.clamp(min=0).view(-1), out=codes)
        vectors.copy_(codes)
        vectors = vectors.view(*entities.shape, self.dimension)
        lengths = torch.linalg.vector_norm(vectors, dim=2).clamp_(min=1)  # of zeros: not 0 / 0
        return torch.bmm(vectors, queries[:, :, None])[:, :, 0].div_(lengths)


class _Room:
    """Where vectors are unpacked: one for all queries, as thousands would tear the heap."""

    def __init__(self, queries: int, entities: int, dimension: int) -> None:
        self.codes = torch.empty(queries * entities, dimension, dtype=torch.int8)
        self.vectors = torch.empty(queries * entities, dimension)


def _digest(sketch: Tensor) -> Tensor:
    """Return the SHA-256 of a sketch: FAISS trusts what it opens."""
    return torch.tensor(list(hashlib.sha256(sketch.numpy().data).digest()), dtype=torch.uint8)


def _check(name: str, tensor: Tensor, kind: torch.dtype, axes: int) -> None:
    if tensor.dtype != kind or tensor.ndim != axes:
        raise ValueError(f"{name}: {tensor.dtype} of shape {tuple(tensor.shape)}")


def _placed(blocks: Iterable[Tensor]) -> Iterable[tuple[int, Tensor]]:
    """Yield blocks of directions with the row at which each begins."""
    first = 0
    for block in blocks:
        yield first, normalize(block.float(), dim=1)
        first += len(block)


def _sample(blocks: Iterable[Tensor], count: int) -> np.ndarray:
    """Return some of the directions, spread evenly over all."""
    chosen = np.random.default_rng(_SEED).permutation(count)[:_SAMPLE]
    chosen.sort()
    rows = []
    for first, block in _placed(blocks):
        low, high = np.searchsorted(chosen, [first, first + len(block)])
        rows.append(block[torch.from_numpy(chosen[low:high] - first)])
    return torch.cat(rows).numpy()
