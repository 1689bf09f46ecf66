"""How much each source counts: weights learnt on held-out queries, for each relation.

With log p_s(v), what source s says of an answer (a softmax over its scores), and its rank,

    score(v) = Σ_s a_s log p_s(v) − b_s log rank_s(v)

The weights a, b ≥ 0 are those of all relations together, changed for each relation as far as its
own held-out queries ask for it. They maximise the likelihood of the right answers among the best
ones of all sources; a source that brings nothing gets none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgraft.measure import Queries, QueryBatch
from kgraft.reason.source import Source

FEATURES = 2  # of a source: log probability, and minus log rank
BEST = 60  # answers of each source that compete
STEPS = 60  # of the optimiser
OWN = 0.02  # how strongly the weights of a relation are held to those of all
FREE = 100  # queries of a relation with which they are held half as strongly
LEAST = np.float32(1e-4)  # probability, where a source says nothing
START = -1.0  # softplus of it is 0.31


@dataclass(frozen=True)
class SourceWeights:
    """The weights of sources, for all relations and for each."""

    sources: tuple[str, ...]
    common: np.ndarray  # (F,) for relations without weights of their own
    relations: Mapping[int, np.ndarray]  # (F,) by relation or inverse

    @classmethod
    def even(cls, sources: Sequence[str]) -> SourceWeights:
        """Return weights for sources of which nothing is known: the mean of what they say."""
        return cls(tuple(sources), np.tile([1.0 / len(sources), 0.0], len(sources)), {})

    def of(self, relation: np.ndarray) -> np.ndarray:
        """Return the weights of relations or inverses, (B, F)."""
        rows = [self.relations.get(int(index), self.common) for index in relation]
        return np.stack(rows) if rows else np.zeros((0, len(self.common)))

    def to_dict(self) -> dict[str, Any]:
        """Return the weights as they are stored."""
        own = {str(relation): row.tolist() for relation, row in self.relations.items()}
        return {"sources": list(self.sources), "common": self.common.tolist(), "relations": own}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SourceWeights:
        """Read stored weights."""
        own = {int(relation): np.array(row) for relation, row in stored["relations"].items()}
        return cls(tuple(stored["sources"]), np.array(stored["common"]), own)


def logits(source: Source, batch: QueryBatch) -> np.ndarray:
    """Return the scores (B, N) of a source, probabilities as logarithms."""
    scores = source.score(batch)
    return np.log(scores + LEAST) if source.is_probability else scores


def features(scores: np.ndarray) -> np.ndarray:
    """Return log probability and minus log rank of the scores (B, N) of a source, (2, B, N).

    Equal scores have their mean rank.
    """
    own = torch.from_numpy(scores)
    log_p = own.log_softmax(1)
    ordered, order = own.sort(dim=1, descending=True)
    rank = torch.arange(1, own.shape[1] + 1, dtype=torch.float32).expand_as(own)
    first = torch.searchsorted(-ordered, -ordered, right=False)
    last = torch.searchsorted(-ordered, -ordered, right=True)
    mean = (first + last + 1) / 2
    log_rank = torch.empty_like(own).scatter_(1, order, mean.log().expand_as(rank))
    return torch.stack([log_p, -log_rank]).numpy()


@dataclass(frozen=True)
class Examples:
    """The best answers of held-out queries, with what each source says of them."""

    relation: np.ndarray  # (Q,) of each query
    query: np.ndarray  # (n,) of each answer, ascending
    features: np.ndarray  # (n, F)
    is_right: np.ndarray  # (n,)


def fit_weights(sources: Sequence[str], examples: Examples) -> SourceWeights:
    """Learn the weights of sources, for all relations together and for each."""
    present, row = np.unique(examples.relation, return_inverse=True)
    which = torch.from_numpy(row).long()
    size = examples.features.shape[1]
    common = torch.full((size,), START, requires_grad=True)
    own = torch.zeros(len(present), size, requires_grad=True)
    _maximise_likelihood(examples, which, common, own)
    with torch.no_grad():
        each = softplus(common + own).numpy()
        return SourceWeights(
            tuple(sources),
            softplus(common).numpy(),
            {int(relation): each[index] for index, relation in enumerate(present)},
        )


def _maximise_likelihood(examples: Examples, which: Tensor, common: Tensor, own: Tensor) -> None:
    """Fit weights in place; query q is of relation `which[q]`."""
    values = torch.from_numpy(examples.features).float()
    query = torch.from_numpy(examples.query).long()
    right = torch.from_numpy(examples.is_right)
    looseness = FREE / (torch.bincount(which, minlength=len(own)) + FREE)
    optimiser = torch.optim.LBFGS([common, own], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        weights = softplus(common + own)[which]  # (Q, F)
        scores = (values * weights[query]).sum(1)
        penalty = OWN * (own.square().sum(1) * looseness).sum()
        total = _log_loss(scores, query, right, len(which)) + penalty
        torch.autograd.backward([total])
        return total

    optimiser.step(loss)  # type: ignore[no-untyped-call]


def _log_loss(scores: Tensor, query: Tensor, right: Tensor, queries: int) -> Tensor:
    """Return the mean of −log p(right answers) over queries, p being a softmax over each."""
    most = torch.full((queries,), -torch.inf).scatter_reduce(0, query, scores.detach(), "amax")
    powers = (scores - most[query]).exp()
    total = torch.zeros(queries).index_add(0, query, powers)
    good = torch.zeros(queries).index_add(0, query, powers * right)
    has_right = torch.zeros(queries).index_add(0, query, right.float()) > 0
    return -(good[has_right] / total[has_right]).clamp_min(1e-9).log().mean()


def collect_examples(
    sources: Sequence[Source],
    valid: Queries,
    known_queries: Queries,
    indices: np.ndarray,
    chunk: int,
) -> Examples:
    """Ask sources for held-out queries, and return the best answers of each."""
    parts = []
    for first in range(0, len(indices), chunk):
        rows = indices[first : first + chunk]
        stated = np.concatenate([features(logits(source, valid.batch(rows))) for source in sources])
        competes, right = _competing(stated, valid, known_queries, rows)
        query, answer = np.nonzero(competes)
        parts.append((first + query, stated[:, query, answer].T, right[query, answer]))
    queries, values, is_right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Examples(valid.relation[indices], queries, values, is_right)


def _competing(
    stated: np.ndarray, valid: Queries, known_queries: Queries, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which answers of queries compete, by features (F, B, N), and which are right."""
    right: np.ndarray = np.zeros(stated.shape[1:], bool)
    right[valid.answers(rows)] = True
    hidden = np.zeros_like(right)
    hidden[known_queries.known(valid.batch(rows))] = True
    hidden &= ~right
    competes = right.copy()
    for log_rank in stated[1::FEATURES]:
        open_rank = np.where(hidden, np.inf, -log_rank)
        best: np.ndarray = np.argpartition(open_rank, min(BEST, right.shape[1]) - 1, axis=1)
        np.put_along_axis(competes, best[:, :BEST], values=True, axis=1)
    return competes & ~hidden, right
