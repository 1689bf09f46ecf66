"""Texts become tokens: the ids of many texts end to end, and the characters of each token."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

from kgraft.errors import BadInput
from kgraft.text.offsets import Offsets

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from transformers import PreTrainedTokenizerBase

TEXTS = 4096  # texts handed over at once: the tokenizer's own records take ~200 bytes per token

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Tokens:
    """The tokens of many texts end to end, without the special tokens around a text."""

    ids: np.ndarray  # (T,) int32
    bounds: np.ndarray  # (N + 1,) int64: text n has the tokens bounds[n] to bounds[n + 1]
    offsets: Offsets | None = None


class Tokeniser:
    """A fast tokenizer that neither pads nor truncates, and the special tokens around a text.

    `of` works on a copy: padding and truncation are state of the tokenizer, which is the user's
    (that of all-MiniLM-L6-v2 pads to 128 tokens by default). It may be used from several threads
    at once.
    """

    def __init__(self, backend: Tokenizer, pad: int) -> None:
        """Take over a tokenizer of the tokenizers library, and the id of padding."""
        backend.no_padding()
        backend.no_truncation()
        self._backend, self.pad = backend, pad
        self.prefix, self.suffix = _special_tokens(backend.encode("a"))

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Self:
        """Make one from a copy of a Hugging Face tokenizer."""
        from tokenizers import Tokenizer

        if not tokenizer.is_fast:
            raise BadInput(
                f"the tokenizer {type(tokenizer).__name__} gives no character offsets",
                remedy="use an encoder with a tokenizer.json",
            )
        backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        return cls(backend, int(tokenizer.pad_token_id or 0))

    def digest(self) -> str:
        """Return a digest of everything that decides which tokens a text has."""
        return hashlib.sha256(f"{self.pad} {self._backend.to_str()}".encode()).hexdigest()

    def __call__(self, texts: Sequence[str], *, offsets: bool = False) -> Tokens:
        """Tokenise texts; with `offsets`, a little slower, also record the characters of tokens."""
        if isinstance(texts, str):
            raise BadInput("one text was given for a list of texts", remedy="pass [text]")
        texts = [_scalars(text) for text in texts]
        parts = [self._encode(texts[i : i + TEXTS], offsets) for i in range(0, len(texts), TEXTS)]
        none = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
        counts, ids, pairs = map(np.concatenate, zip(none, *parts, strict=True))
        bounds = np.concatenate([[0], np.cumsum(counts)])
        return Tokens(ids, bounds, Offsets.of(texts, bounds, pairs) if offsets else None)

    def _encode(self, texts: list[str], offsets: bool) -> tuple[np.ndarray, ...]:
        """Return the number of tokens of each text, all ids, and all (start, end) laid flat."""
        encode = self._backend.encode_batch if offsets else self._backend.encode_batch_fast
        encodings = encode(texts, add_special_tokens=False)
        counts = np.fromiter(map(len, encodings), np.int64, len(encodings))
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32)
        spans = chain.from_iterable(e.offsets for e in encodings) if offsets else ()
        return counts, ids, np.fromiter(chain.from_iterable(spans), np.int64)


def _scalars(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes, one for one, so that offsets hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _special_tokens(example: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids that stand before and after the text of an encoding."""
    ids = np.array(example.ids, np.int64)
    body = np.flatnonzero(np.array(example.special_tokens_mask) == 0)
    return ids[: body[0]], ids[body[-1] + 1 :]
