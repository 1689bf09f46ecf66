"""The static encoder: one vector per token, summed per text; fast, and free of torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import read_json_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent.parent / "data" / "static"
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
FORMAT = 1
TEXTS = 4096  # texts encoded at once, so that memory stays flat
LEVELS = 127  # int8 codes on each side of zero


class StaticEncoder:
    """A table of token vectors with its tokenizer; a text's vector is the sum over its tokens.

    It reads no word order and no context, but hundreds of texts in the time that a transformer
    takes for one. `dimension` is the size of a vector. `identity` names table and tokenizer by
    their content: vectors of the same identity can be compared. One encoder may be used from
    several threads at once.

    >>> encoder = StaticEncoder.load()
    >>> city, town, fish = encoder.encode(["a city in France", "a French town", "a small fish"])
    >>> bool(city @ town > city @ fish)
    True
    """

    def __init__(self, codes: np.ndarray, scales: np.ndarray, tokenizer: Tokenizer) -> None:
        """Take the table as `quantise` gives it: int8 codes (V, D) and one scale per row (V,)."""
        self._codes, self._scales = codes, scales
        self._table = codes * scales.astype(np.float32)[:, None]  # (V, D)
        self._tokenizer = _plain(tokenizer)
        self.dimension = int(codes.shape[1])
        parts = (codes.tobytes(), scales.tobytes(), self._tokenizer.to_str().encode())
        digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
        self.identity = f"static-{self.dimension}-{digest.hexdigest()[:16]}"

    @classmethod
    def load(cls, folder: str | Path | None = None) -> StaticEncoder:
        """Load a static encoder from its folder; None is the one that ships with kgraft."""
        path = SHIPPED if folder is None else Path(folder)
        if not (path / CONFIG).is_file():
            raise NotFound(f"no static encoder at {path}; give the folder that holds {CONFIG}")
        dimension = _read_dimension(path / CONFIG)
        codes, scales = _read_table(path / WEIGHTS, dimension)
        tokenizer = _read_tokenizer(path / TOKENIZER)
        if tokenizer.get_vocab_size() > len(codes):
            count = tokenizer.get_vocab_size()
            reason = f"the tokenizer has {count} tokens, the table {len(codes)} rows"
            raise BadInput(reason, file=str(path), remedy=_REMEDY)
        return cls(codes, scales, tokenizer)

    def save(self, folder: str | Path) -> None:
        """Write table, tokenizer and config into a folder."""
        from safetensors.numpy import save_file

        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save_file({"codes": self._codes, "scales": self._scales}, path / WEIGHTS)
        self._tokenizer.save(str(path / TOKENIZER), pretty=False)
        config = {"format": FORMAT, "dimension": self.dimension, "identity": self.identity}
        (path / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one unit vector per text, (N, D) float32; zeros where it has no token."""
        if isinstance(texts, str):
            raise BadInput("one text was given for a list of texts", remedy="pass [text]")
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for first in range(0, len(texts), TEXTS):
            part = texts[first : first + TEXTS]
            vectors[first : first + len(part)] = self._sums(part)
        norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        vectors /= np.maximum(norms, np.finfo(np.float32).tiny)[:, None]
        return vectors

    def _sums(self, texts: Sequence[str]) -> np.ndarray:
        from scipy.sparse import csr_array

        encodings = self._encodings(list(texts))
        lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32, lengths.sum())
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        ones = np.ones(len(ids), np.float32)
        shape = (len(encodings), len(self._table))
        sums: np.ndarray = csr_array((ones, ids, bounds), shape=shape) @ self._table
        return sums

    def _encodings(self, texts: list[str]) -> list[Any]:
        try:
            return self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        except TypeError:  # a lone surrogate, which no tokenizer takes, or something else than text
            return self._tokenizer.encode_batch_fast(_repaired(texts), add_special_tokens=False)


_REMEDY = "write the folder again with StaticEncoder.save"


def quantise(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table (V, D) as int8 codes (V, D) and one float32 scale per row (V,)."""
    scales = np.abs(table).max(axis=1, initial=0).astype(np.float32) / LEVELS
    codes = np.rint(table / np.where(scales > 0, scales, 1)[:, None])
    return codes.astype(np.int8), scales


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy that neither pads nor truncates."""
    from tokenizers import Tokenizer

    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_padding()
    copy.no_truncation()
    return copy


def _repaired(texts: Sequence[object]) -> list[str]:
    """Return texts without lone surrogates; refuse what is not text."""
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            reason = f"text {number} is of type {type(text).__name__}"
            raise BadInput(reason, remedy="give strings only")
    return [str(text).encode("utf-8", "replace").decode() for text in texts]


def _read_dimension(path: Path) -> int:
    try:
        config = read_json_file(path)
        version, dimension = config["format"], config["dimension"]
    except (ValueError, LookupError, TypeError) as error:
        reason = "not the config of a static encoder"
        raise BadInput(reason, file=str(path), remedy=_REMEDY) from error
    if version != FORMAT:
        remedy = "install the kgraft version that wrote it"
        raise BadInput(f"format {version} is not {FORMAT}", file=str(path), remedy=remedy)
    return int(dimension)


def _read_table(path: Path, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(path)
        codes, scales = tensors["codes"], tensors["scales"]
    except (OSError, KeyError, SafetensorError) as error:
        reason = "not the table of a static encoder"
        raise BadInput(reason, file=str(path), remedy=_REMEDY) from error
    kinds = codes.dtype == np.int8 and scales.dtype == np.float32
    if not kinds or codes.shape != (len(scales), dimension):
        reason = f"the table is {codes.dtype} {codes.shape}, not int8 of {dimension} columns"
        raise BadInput(reason, file=str(path), remedy=_REMEDY)
    return codes, scales


def _read_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises Exception itself
        raise BadInput("not a tokenizer", file=str(path), remedy=_REMEDY) from error
