"""Next sentences: two texts of a document read as one, and whether the second follows the first.

Devlin et al. 2018: for half of the pairs the second is that of another pair. The first token's
vector h says whether it follows: softmax(tanh(h A + a) B + b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgraft.corpus import AnnotatedTexts, hold_out
from kgraft.graph import UNKNOWN
from kgraft.text import join_sentences
from kgraft.training import stream

OTHER, NEXT = 0, 1  # what the second half of a text is; or UNKNOWN


@dataclass(frozen=True)
class Pairs:
    """Texts of two halves, and whether the second follows the first."""

    data: AnnotatedTexts
    follows: np.ndarray  # (N,) NEXT, OTHER, or UNKNOWN for a text of one half

    def __len__(self) -> int:
        return len(self.data)


def pair_texts(data: AnnotatedTexts, documents: Sequence[str], *, seed: int = 0) -> Pairs:
    """Join texts of documents two by two, half of the pairs with the second half of another.

    The last text of a document with an odd number of them stays alone.
    """
    first, second = _two_by_two(documents)
    paired = np.flatnonzero(second >= 0)
    draw = stream(seed, len(data))
    swapped = paired[draw.random(len(paired)) < 0.5]
    if len(swapped) > 1:
        order = draw.permutation(swapped)
        second[order] = second[np.roll(order, 1)]
    follows = np.where(second >= 0, NEXT, UNKNOWN)
    if len(swapped) > 1:
        follows[swapped] = OTHER
    return Pairs(_joined(data, first, second), follows)


def split_pairs(
    data: AnnotatedTexts, documents: Sequence[str], *, seed: int = 0
) -> tuple[Pairs, Pairs]:
    """Hold out a tenth of the documents, to validate on, and pair the texts of both parts.

    Of a single document the last tenth is held out.
    """
    names, document = np.unique(documents, return_inverse=True)
    if len(names) == 1:
        held_out = np.arange(len(data)) >= len(data) - len(data) // 10
    else:
        held_out = np.isin(document, hold_out(len(names), seed=seed)[1])
    train, valid = (
        pair_texts(data.select(rows), [documents[row] for row in rows.tolist()], seed=seed)
        for rows in (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    )
    return train, valid


def _two_by_two(documents: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second text of each pair, -1 where there is no second."""
    pairs: list[list[int]] = []
    for index, document in enumerate(documents):
        if pairs and pairs[-1][1] < 0 and documents[pairs[-1][0]] == document:
            pairs[-1][1] = index
        else:
            pairs.append([index, -1])
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return first, second.copy()


def _joined(data: AnnotatedTexts, first: np.ndarray, second: np.ndarray) -> AnnotatedTexts:
    """Return texts of two halves with the mentions of both."""
    texts, pair, shift = [], np.full(len(data), -1), np.zeros(len(data), np.int64)
    for index, both in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        halves = [half for half in both if half >= 0]
        text, starts = join_sentences([data.texts[half] for half in halves])
        texts.append(text)
        pair[halves], shift[halves] = index, starts
    mentions = data.mentions.select(np.argsort(pair[data.mentions.text], kind="stable"))
    start, end = mentions.start + shift[mentions.text], mentions.end + shift[mentions.text]
    return AnnotatedTexts(texts, replace(mentions, text=pair[mentions.text], start=start, end=end))


class NextSentenceHead(nn.Module):
    """Says of the first token's vector whether the second half follows the first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(size, size), nn.Linear(size, 2)

    def forward(self, first: Tensor) -> Tensor:
        """Return log-odds of OTHER and NEXT, (N, D) to (N, 2)."""
        logits: Tensor = self.out(torch.tanh(self.dense(first)))
        return logits

    def loss(self, hidden: Tensor, follows: Tensor) -> Tensor:
        """Return the mean cross-entropy of those that are known, from what was read (B, L, D)."""
        is_pair = follows >= 0
        if not is_pair.any():
            return (hidden * 0.0).sum()
        return cross_entropy(self(hidden[is_pair, 0]), follows[is_pair])
