"""Walks over a graph: how much of a question arrives at which entity, and by which path.

    a_t(o) = Σ_(s, r, o) a_(t-1)(s) p_t(r)        over all facts, both ways; never more than 1

A walk does not come back to where it began: who asks for the films that share actors with a film
does not mean that film. Only what is reached is looked at, as pairs of a question and an entity.
Inverse relations have indices of their own, after all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kgraft.arrays import expand, rank_within
from kgraft.graph import Adjacency, Fact

MARKS = 1 << 26  # pairs of a question and an entity that may be marked one by one


class EntityScores(NamedTuple):
    """Scores of the entities that questions have reached, in order of question and entity."""

    question: np.ndarray  # (n,)
    entity: np.ndarray  # (n,)
    score: Tensor  # (n,)

    def where(self, kept: np.ndarray) -> EntityScores:
        """Return the pairs of a mask."""
        score = self.score[torch.from_numpy(np.flatnonzero(kept))]
        return EntityScores(self.question[kept], self.entity[kept], score)

    def highest(self, most: int) -> EntityScores:
        """Return the pairs with the highest scores, at most `most` of each question."""
        order = np.lexsort((-self.score.detach().numpy(), self.question))
        question = self.question[order]
        kept = np.zeros(len(order), bool)
        kept[order[rank_within(question) < most]] = True
        return self.where(kept)

    def best(self, questions: int) -> np.ndarray:
        """Return the entity of the highest score of each question, -1 where none is reached."""
        score, group = self.score.detach(), torch.from_numpy(self.question)
        least = score.new_full((questions,), -torch.inf)
        most = least.scatter_reduce(0, group, score, "amax")[group]
        highest = np.flatnonzero((score == most).numpy())[::-1]
        best = np.full(questions, -1)
        best[self.question[highest]] = self.entity[highest]  # the first of equal ones
        return best

    def among(self, entities: Sequence[np.ndarray]) -> np.ndarray:
        """Return which pairs, (n,) bool, are among some entities of each question."""
        question = np.repeat(np.arange(len(entities)), [len(part) for part in entities])
        keys, wanted = self.question << 32 | self.entity, question << 32 | np.concatenate(entities)
        row = np.searchsorted(keys, wanted)
        row = row[row < len(keys)]
        row = row[np.isin(keys[row], wanted)]
        is_among = np.zeros(len(keys), bool)
        is_among[row] = True
        return is_among


def start_scores(topic: np.ndarray) -> EntityScores:
    """Return where questions begin: all of each at its topic."""
    return EntityScores(np.arange(len(topic)), np.asarray(topic, np.int64), torch.ones(len(topic)))


def all_entities(scores: Tensor) -> EntityScores:
    """Return the scores (B, N) of all entities for all questions."""
    question, entity = np.indices(scores.shape).reshape(2, -1)
    return EntityScores(question, entity, scores.reshape(-1))


def sum_scores(question: np.ndarray, entity: np.ndarray, score: Tensor) -> EntityScores:
    """Add up what arrives at the same entity for the same question."""
    width = int(entity.max(initial=0)) + 1
    keys, row = _distinct(question * width + entity)
    total = score.new_zeros(len(keys)).index_add(0, torch.from_numpy(row), score)
    return EntityScores(keys // width, keys % width, total)


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct keys in order, and the row of each key among them.

    Without sorting, where one mark per possible key is not too many.
    """
    most = int(keys.max(initial=-1)) + 1
    if most > MARKS:
        return np.unique(keys, return_inverse=True)
    marked = np.zeros(most, bool)
    marked[keys] = True
    return np.flatnonzero(marked), (np.cumsum(marked, dtype=np.int64) - 1)[keys]


def take_step(scores: EntityScores, relations: Tensor, adjacency: Adjacency) -> EntityScores:
    """Take one step along the relations that each question asks for, p_t (B, 2 R)."""
    pair, edge = expand(*adjacency.spans(scores.entity, "both"))
    relation, target = adjacency.edges[edge].astype(np.int64).T
    is_inverse = edge >= adjacency.spans(scores.entity, "out")[1][pair]
    relation = relation + is_inverse * (relations.shape[1] // 2)
    question = scores.question[pair]
    cell = torch.from_numpy(question * relations.shape[1] + relation)
    along = relations.flatten().index_select(0, cell)
    before = scores.score.index_select(0, torch.from_numpy(pair))
    arrived = sum_scores(question, target, before * along)
    return arrived._replace(score=arrived.score / arrived.score.detach().clamp_min(1.0))


class Walk(NamedTuple):
    """A walk of some questions, with all that it was led by."""

    steps: list[EntityScores]  # after 0, 1, … steps
    frontiers: list[EntityScores]  # of each but the last: from where the next step continued
    relations: Tensor  # p (hops, B, 2 R)
    lengths: Tensor  # g (hops, B)

    @classmethod
    def of(
        cls,
        topic: np.ndarray,
        relations: Tensor,
        lengths: Tensor,
        adjacency: Adjacency,
        frontier: int,
    ) -> Walk:
        """Walk from topics; each step continues from at most `frontier` entities per question."""
        steps, frontiers = [start_scores(topic)], []
        for step_relations in relations:
            frontiers.append(steps[-1].highest(frontier))
            arrived = take_step(frontiers[-1], step_relations, adjacency)
            steps.append(arrived.where(arrived.entity != topic[arrived.question]))
        return cls(steps, frontiers, relations, lengths)

    def total(self) -> EntityScores:
        """Return Σ_t g_t a_t."""
        parts = [
            step.score * g[torch.from_numpy(step.question)]
            for step, g in zip(self.steps[1:], self.lengths, strict=True)
        ]
        question, entity = (
            np.concatenate([getattr(step, name) for step in self.steps[1:]])
            for name in ("question", "entity")
        )
        return sum_scores(question, entity, torch.cat(parts))

    def path(self, question: int, entity: int, adjacency: Adjacency) -> list[Fact]:
        """Return the facts by which most of a question arrives at an entity, from its topic on."""
        arrived = [
            g[question] * _scores_at(step, question, [entity])[0]
            for step, g in zip(self.steps[1:], self.lengths.detach().numpy(), strict=True)
        ]
        path: list[Fact] = []
        for step in range(int(np.argmax(arrived)), -1, -1):
            fact, entity = self._step_back(step, question, entity, adjacency)
            path.append(fact)
        return path[::-1]

    def _step_back(
        self, step: int, question: int, entity: int, adjacency: Adjacency
    ) -> tuple[Fact, int]:
        """Return the fact by which most arrives at an entity in a step, and its other end."""
        target = np.array([entity])
        first, last = (int(side[0]) for side in adjacency.spans(target, "both"))
        relation, source = adjacency.edges[first:last].astype(np.int64).T
        leaves = np.arange(first, last) < adjacency.spans(target, "out")[1][0]
        weights = self.relations[step, question].detach().numpy()
        along = weights[relation + leaves * (len(weights) // 2)]  # edges out are walked back
        best = int(np.argmax(_scores_at(self.frontiers[step], question, source) * along))
        other = int(source[best])
        head, tail = (entity, other) if leaves[best] else (other, entity)
        return Fact(head, int(relation[best]), tail), other


def _scores_at(scores: EntityScores, question: int, entities: np.ndarray | list[int]) -> np.ndarray:
    """Return the scores of entities for a question, 0 of those that are not reached."""
    first, last = np.searchsorted(scores.question, [question, question + 1])
    reached = scores.entity[first:last]
    if first == last:
        return np.zeros(len(entities))
    row = np.searchsorted(reached, entities).clip(max=len(reached) - 1)
    values: np.ndarray = scores.score[first:last].detach().numpy()[row]
    return np.where(reached[row] == entities, values, 0.0)
