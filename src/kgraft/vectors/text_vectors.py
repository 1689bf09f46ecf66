"""Text vectors: an entity's name and description, read by an encoder and cached on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from kgraft.columns import numbers
from kgraft.graph import Graph
from kgraft.hashing import hash_strings
from kgraft.progress import Progress, Silent
from kgraft.vectors.entity_text import FIELDS, check_fields, entity_texts
from kgraft.vectors.entity_vectors import NONE, EntityVectors
from kgraft.vectors.store import VectorStore, cache_folder

if TYPE_CHECKING:
    from kgraft.text import Encoder, Pooling, StaticEncoder

FORMAT = 2  # of the cache
TEXTS = 2048  # encoded and kept at once: what an interruption may cost
_UNREAD, _HAS_TEXT, _EMPTY = 0, 1, 2


class TextVectors(EntityVectors):
    """Vectors of unit length from what an encoder makes of `label: description (types)`.

    Nothing is trained. Vectors are cached under the hash of the text: an entity that is added or
    changed later costs one encoding, and graphs that share entities share their vectors. What is
    missing is encoded when it is asked for; `fill` does it for all entities at once.

    `encoder` is an `Encoder`, a folder or a name; None is the default one. `cache` names a folder;
    True is $KGRAFT_CACHE or the user's cache folder, False keeps vectors in memory only. The
    encoder must not be trained further while it is in use here.
    """

    def __init__(
        self,
        graph: Graph,
        encoder: Encoder | str | Path | None = None,
        *,
        fields: Sequence[str] = FIELDS,
        pooling: Pooling = "mean",
        cache: bool | str | Path = True,
    ) -> None:
        self.graph, self.fields, self.pooling = graph, check_fields(fields), pooling
        self.encoder = _loaded(encoder)
        self.dimension = self.encoder.dimension
        self._store = text_store(self.encoder, pooling, cache)
        self._keys = np.zeros((len(self), 2), np.uint64)
        self._state = np.zeros(len(self), np.uint8)

    def fill(self, *, progress: Progress | None = None) -> int:
        """Encode all that is missing, and return for how many entities that was.

        What is done is kept: after an interruption it resumes from there.
        """
        progress, encoded = progress or Silent(), 0
        progress.start("encoding entities", len(self))
        for first in range(0, len(self), TEXTS):
            entities = np.arange(first, min(first + TEXTS, len(self)))
            described = entities[self._has_text(entities)]
            missing = described[~self._store.holds(self._keys_of(described))]
            self._encode(missing)
            encoded += len(missing)
            progress.advance(len(entities))
        return encoded

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        if self._has_text(entities).all():
            vectors, stored = self._store.take(self._keys[entities])
            if stored.all():
                return torch.from_numpy(vectors)
        distinct, inverse = np.unique(entities, return_inverse=True)
        vectors = np.zeros((len(distinct), self.dimension), np.float32)
        described = np.flatnonzero(self._has_text(distinct))
        for first in range(0, len(described), TEXTS):
            part = described[first : first + TEXTS]
            vectors[part] = self._vectors(distinct[part])
        return torch.from_numpy(vectors[inverse])

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return np.where(self._has_text(entities), "text", NONE)

    def _vectors(self, entities: np.ndarray) -> np.ndarray:
        keys = self._keys_of(entities)
        vectors, stored = self._store.take(keys)
        if not stored.all():
            vectors[~stored] = self._encode(entities[~stored])
        return vectors

    def _has_text(self, entities: np.ndarray) -> np.ndarray:
        """Return which entities have a text."""
        self._keys_of(entities)
        return self._state[entities] == _HAS_TEXT

    def _keys_of(self, entities: np.ndarray) -> np.ndarray:
        """Return the keys of the entities' texts, (n, 2)."""
        unread = entities[self._state[entities] == _UNREAD]
        if len(unread):
            self._read_keys(np.unique(unread))
        return self._keys[entities]

    def _read_keys(self, unread: np.ndarray) -> None:
        """Work out the keys of entities, each once."""
        for first in range(0, len(unread), TEXTS):
            part = unread[first : first + TEXTS]
            texts = entity_texts(self.graph, part, self.fields)
            self._keys[part] = text_keys(texts)
            self._state[part] = np.where(numbers(pc.equal(texts, "")), _EMPTY, _HAS_TEXT)

    def _encode(self, entities: np.ndarray) -> np.ndarray:
        """Encode the texts of entities, keep their vectors and return them, (n, D)."""
        if not len(entities):
            return np.zeros((0, self.dimension), np.float32)
        keys, first, inverse = np.unique(
            self._keys_of(entities), axis=0, return_index=True, return_inverse=True
        )
        texts = entity_texts(self.graph, entities[first], self.fields).to_pylist()
        vectors = self.encoder.encode(texts, pooling=self.pooling)
        self._store.add(keys, vectors)
        return vectors[inverse.ravel()]


def _loaded(encoder: Encoder | str | Path | None) -> Encoder:
    from kgraft.text import Encoder

    return encoder if isinstance(encoder, Encoder) else Encoder.load(encoder)


def text_store(
    encoder: Encoder | StaticEncoder, pooling: str, cache: bool | str | Path
) -> VectorStore:
    """Return where the vectors of texts are kept under the hashes of the texts.

    `cache` names a folder; True is kgraft's cache folder, False keeps vectors in memory only.
    """
    folder = None
    if cache is not False:
        where = cache_folder() if cache is True else Path(cache).expanduser()
        folder = where / identity_of(encoder, pooling)
    return VectorStore(folder, encoder.dimension)


def text_keys(texts: pa.Array) -> np.ndarray:
    """Return 128 bits of hash per text, (n, 2) uint64."""
    return np.stack([hash_strings(texts, seed) for seed in (0, 1)], axis=1)


def identity_of(encoder: Encoder | StaticEncoder, pooling: str) -> str:
    """Return a name for all that makes a vector out of a text: weights, tokenizer, settings."""
    return hashlib.sha256(f"{FORMAT} {encoder.identity} {pooling}".encode()).hexdigest()[:32]
