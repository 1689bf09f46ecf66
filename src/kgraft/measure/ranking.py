"""Filtered ranking: the rank of each true answer among all entities that are not known answers.

    ranking = rank(score, queries, known_queries, entities=len(graph.entities))
    ranking.figures()["mrr"]

`score` is any function from a `QueryBatch` of B queries to scores (B, N) of all entities. Scores
are computed in chunks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgraft.errors import BadInput
from kgraft.measure.queries import Queries, QueryBatch
from kgraft.progress import Progress, Silent

PROTOCOL = "filtered ranking of heads and tails against all entities, ties at their mean rank"
HITS = (1, 3, 10)
SCORES = 1 << 22  # scores in memory at a time: 16 MB, near the processor
CATEGORIES = ("1-1", "1-N", "N-1", "N-N")
_MANY = 1.5  # neighbours a head or tail has on average before a relation counts as "N"
_GROUP = 255  # 0/1 bytes that a byte can sum
_AT_ONCE = 16  # answers of a query looked at together, if it is alone

Score = Callable[[QueryBatch], np.ndarray]
"""From B queries to the scores (B, N) of all entities as answers; the array is written over."""


@dataclass(frozen=True)
class Ranking:
    """The rank of every answer of some queries, with the relation of its query."""

    relation: np.ndarray  # (A,) 0…R−1, R…2R−1 for inverse relations
    rank: np.ndarray  # (A,)
    relations: int  # R
    protocol: str = PROTOCOL

    def figures(self) -> dict[str, float]:
        """Return MRR, Hits and mean rank over heads and tails."""
        return rank_figures(self.rank)

    def by_side(self) -> dict[str, dict[str, float]]:
        """Return the figures of tails and of heads apart."""
        inverse = self.relation >= self.relations
        return {
            "tails": rank_figures(self.rank[~inverse]),
            "heads": rank_figures(self.rank[inverse]),
        }

    def by_relation(self) -> dict[int, dict[str, float]]:
        """Return the figures of each relation that occurs, both its directions together."""
        relation = self.relation % self.relations
        return {int(r): rank_figures(self.rank[relation == r]) for r in np.unique(relation)}

    def by_category(self, categories: np.ndarray) -> dict[str, dict[str, float]]:
        """Return the figures of 1-1, 1-N, N-1 and N-N relations (see `relation_categories`)."""
        category = categories[self.relation % self.relations]
        figures = {name: rank_figures(self.rank[category == name]) for name in CATEGORIES}
        return {name: part for name, part in figures.items() if part}

    def to_dict(self) -> dict[str, Any]:
        """Return protocol and figures: of all answers, of each side, of each relation by index."""
        return {
            "protocol": self.protocol,
            "all": self.figures(),
            "sides": self.by_side(),
            "relations": self.by_relation(),
        }


def rank(
    score: Score,
    queries: Queries,
    known_queries: Queries,
    *,
    entities: int,
    scores: int = SCORES,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the answers of all queries among `entities` entities, other known answers left out.

    `known_queries` are those of all splits; up to `scores` scores are in memory at a time.
    """
    progress = progress or Silent()
    progress.start("rank", len(queries))
    ranks = [np.zeros(0)]
    for indices in query_chunks(len(queries), entities, scores):
        batch = queries.batch(indices)
        rows, answers = queries.answers(indices)
        ranks.append(filtered_ranks(score(batch), rows, answers, *known_queries.known(batch)))
        progress.advance(len(indices))
    relation = np.repeat(queries.relation, np.diff(queries.bounds))
    return Ranking(relation, np.concatenate(ranks), queries.relations)


def query_chunks(queries: int, entities: int, scores: int = SCORES) -> Iterator[np.ndarray]:
    """Cut the indices of queries so that the scores of a chunk stay below `scores`."""
    step = max(scores // max(entities, 1), 1)
    for first in range(0, queries, step):
        yield np.arange(first, min(first + step, queries))


def relation_categories(queries: Queries) -> np.ndarray:
    """Return the category of each relation by its training triples: many tails, many heads?

    A relation is 1-N if a head has more than 1.5 tails on average and a tail no more heads.
    """
    tails, heads = np.split(queries.mean_answers() > _MANY, 2)
    return np.array(CATEGORIES)[tails + 2 * heads]


def filtered_ranks(
    scores: np.ndarray,
    rows: np.ndarray,
    answers: np.ndarray,
    known_rows: np.ndarray,
    known_answers: np.ndarray,
) -> np.ndarray:
    """Return the rank of each answer: 1 + how many score more + half of how many score the same.

    `scores` (B, N) holds one query per row and is written over. Answer p is asked for in row
    `rows[p]`; the known answers of a row, among them those asked for, do not count against one
    another. This is the *realistic* rank: what a random order of equal scores gives on average.
    """
    own = scores[rows, answers].copy()  # (P,)
    if np.isnan(own).any():
        raise BadInput("scores are not numbers (NaN)", remedy="train the vectors again")
    scores[known_rows, known_answers] = np.nan  # neither more nor the same
    step = max(len(scores), _AT_ONCE)
    parts = [slice(first, first + step) for first in range(0, len(own), step)]
    return np.concatenate([np.zeros(0), *(_ranks(scores, rows[p], own[p]) for p in parts)])


def _ranks(scores: np.ndarray, rows: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the ranks of some answers, whose own scores are gone from the rows."""
    if len(rows) != len(scores) or (rows != np.arange(len(scores))).any():
        scores = scores[rows]  # (P, N)
    step = 8 * _GROUP
    room = np.zeros((len(own), -(-scores.shape[1] // step) * step), bool)
    above = _count(np.greater, scores, own, room)
    equal = _count(np.equal, scores, own, room)
    return 1.0 + above + equal / 2


def _count(compare: np.ufunc, scores: np.ndarray, own: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Count the scores of each row that compare with the row's own: (P, N), (P,) to (P,).

    The comparisons are bytes of 0 or 1. Read as 64-bit words they are summed eight at a time, in
    groups so small that no byte overflows.
    """
    compare(scores, own[:, None], out=room[:, : scores.shape[1]])
    words = room.view(np.int64).reshape(len(room), -1, _GROUP)  # (P, groups, 255)
    return words.sum(-1).view(np.uint8).sum(-1, dtype=np.int64)


def rank_figures(ranks: np.ndarray) -> dict[str, float]:
    """Return MRR, Hits@1, 3 and 10, mean rank and count; nothing for no ranks.

    >>> rank_figures(np.array([1, 2, 20]))["hits10"]
    0.6666666666666666
    """
    if not len(ranks):
        return {}
    hits = {f"hits{k}": float((ranks <= k).mean()) for k in HITS}
    mean = {"mrr": float((1 / ranks).mean()), **hits, "mean_rank": float(ranks.mean())}
    return {**mean, "count": len(ranks)}
