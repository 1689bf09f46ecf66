"""A cache of what an encoder makes of texts: each text is encoded once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kgraft.columns import arrow_numbers
from kgraft.vectors.text_vectors import text_keys, text_store

if TYPE_CHECKING:
    from kgraft.text import Encoder, StaticEncoder


class TextCache:
    """Vectors of unit length of any texts, kept on disk under the hashes of the texts.

    It shares its files with `TextVectors` of the same encoder and cache. `cache` names a folder;
    True is $KGRAFT_CACHE or the user's cache folder, False keeps vectors in memory only.
    """

    def __init__(
        self, encoder: Encoder | StaticEncoder, *, cache: bool | str | Path = True
    ) -> None:
        self.encoder = encoder
        self._store = text_store(encoder, "mean", cache)

    def take(self, texts: pa.Array) -> np.ndarray:
        """Return one vector per text, (n, D) float32; those not in the cache are encoded now."""
        keys = text_keys(texts)
        vectors, is_stored = self._store.take(keys)
        if is_stored.all():
            return vectors
        missing = np.flatnonzero(~is_stored)
        new_keys, first, inverse = np.unique(
            keys[missing], axis=0, return_index=True, return_inverse=True
        )
        new = self.encoder.encode(texts.take(arrow_numbers(missing[first])).to_pylist())
        self._store.add(new_keys, new)
        vectors[missing] = new[inverse.ravel()]
        return vectors
