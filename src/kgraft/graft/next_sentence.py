"""Next sentences: two texts of a document read as one, and whether the second follows the first.

Devlin et al. 2018: for half of the pairs the second is that of another pair. The first token's
vector h says whether it follows: softmax(tanh(h A + a) B + b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgraft.graft.mentions import UNKNOWN
from kgraft.graph.annotated import Annotated, a_tenth
from kgraft.text import join_sentences
from kgraft.training import stream

OTHER, NEXT = 0, 1  # what the second half of a text is; or UNKNOWN


@dataclass(frozen=True)
class Pairs:
    """Texts of two halves, and whether the second follows the first."""

    data: Annotated
    follows: np.ndarray  # (N,) NEXT, OTHER, or UNKNOWN for a text of one half

    def __len__(self) -> int:
        return len(self.data)


def pair_texts(data: Annotated, documents: Sequence[str], *, seed: int = 0) -> Pairs:
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


def split_pairs(data: Annotated, documents: Sequence[str], *, seed: int = 0) -> tuple[Pairs, Pairs]:
    """Set a tenth of the documents apart, to choose by, and pair the texts of both parts.

    Of a single document the last tenth is set apart.
    """
    names, document = np.unique(documents, return_inverse=True)
    if len(names) == 1:
        apart = np.arange(len(data)) >= len(data) - len(data) // 10
    else:
        apart = np.isin(document, a_tenth(len(names), seed=seed)[1])
    rows = (np.flatnonzero(~apart), np.flatnonzero(apart))
    one, other = (
        pair_texts(data.part(held), [documents[n] for n in held.tolist()], seed=seed)
        for held in rows
    )
    return one, other


def _two_by_two(documents: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second text of each pair, -1 where there is no second."""
    pairs: list[list[int]] = []
    for number, document in enumerate(documents):
        if pairs and pairs[-1][1] < 0 and documents[pairs[-1][0]] == document:
            pairs[-1][1] = number
        else:
            pairs.append([number, -1])
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return first, second.copy()


def _joined(data: Annotated, first: np.ndarray, second: np.ndarray) -> Annotated:
    """Return texts of two halves with the marks of both."""
    texts, new, shift = [], np.full(len(data), -1), np.zeros(len(data), np.int64)
    for number, halves in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        there = [half for half in halves if half >= 0]
        text, starts = join_sentences([data.texts[half] for half in there])
        texts.append(text)
        new[there], shift[there] = number, starts
    order = np.argsort(new[data.text], kind="stable")
    of_text = data.text[order]
    start, end = (column[order] + shift[of_text] for column in (data.start, data.end))
    return Annotated(texts, new[of_text], start, end, data.entity[order])


class NextHead(nn.Module):
    """Says of the first token's vector whether the second half follows the first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(size, size), nn.Linear(size, 2)

    def forward(self, first: Tensor) -> Tensor:
        """Return log-odds of OTHER and NEXT, (N, D) to (N, 2)."""
        found: Tensor = self.out(torch.tanh(self.dense(first)))
        return found

    def loss(self, hidden: Tensor, follows: Tensor) -> Tensor:
        """Return the mean cross-entropy of those that are known, from what was read (B, L, D)."""
        known = follows >= 0
        if not known.any():
            return (hidden * 0.0).sum()
        return cross_entropy(self(hidden[known, 0]), follows[known])
