"""Walks over a graph: how much of a question arrives at which entity, and by which path.

    a_t(o) = Σ_(s, r, o) a_(t-1)(s) p_t(r)        over all facts, both ways; never more than 1

A walk does not come back to where it began: who asks for the films that share actors with a film
does not mean that film. Only what is reached is looked at, as pairs of a question and an entity.
Relations turned round have numbers of their own, after all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Fact
from kgraft.graph.adjacency import Adjacency, expand, rank_within

MARKS = 1 << 26  # pairs of a question and an entity that may be marked one by one


class Reached(NamedTuple):
    """Entities that questions have reached, in the order of question and entity."""

    question: np.ndarray  # (n,)
    entity: np.ndarray  # (n,)
    mass: Tensor  # (n,)

    def where(self, kept: np.ndarray) -> Reached:
        """Return some of the pairs."""
        mass = self.mass[torch.from_numpy(np.flatnonzero(kept))]
        return Reached(self.question[kept], self.entity[kept], mass)

    def highest(self, most: int) -> Reached:
        """Return of each question the pairs with the greatest mass, so many at most."""
        order = np.lexsort((-self.mass.detach().numpy(), self.question))
        question = self.question[order]
        kept = np.zeros(len(order), bool)
        kept[order[rank_within(question) < most]] = True
        return self.where(kept)

    def best(self, questions: int) -> np.ndarray:
        """Return the entity of greatest mass of each question, -1 where none is reached."""
        mass, group = self.mass.detach(), torch.from_numpy(self.question)
        least = mass.new_full((questions,), -torch.inf)
        most = least.scatter_reduce(0, group, mass, "amax")[group]
        highest = np.flatnonzero((mass == most).numpy())[::-1]
        found = np.full(questions, -1)
        found[self.question[highest]] = self.entity[highest]  # the first of those alike
        return found

    def among(self, entities: Sequence[np.ndarray]) -> np.ndarray:
        """Return which pairs, (n,) bool, are among some entities of each question."""
        question = np.repeat(np.arange(len(entities)), [len(held) for held in entities])
        keys, wanted = self.question << 32 | self.entity, question << 32 | np.concatenate(entities)
        place = np.searchsorted(keys, wanted)
        place = place[place < len(keys)]
        place = place[np.isin(keys[place], wanted)]
        found = np.zeros(len(keys), bool)
        found[place] = True
        return found


def begin(topic: np.ndarray) -> Reached:
    """Return where questions begin: all of each at its topic."""
    return Reached(np.arange(len(topic)), np.asarray(topic, np.int64), torch.ones(len(topic)))


def everywhere(mass: Tensor) -> Reached:
    """Return all entities as reached by all questions, with a mass (B, N)."""
    question, entity = np.indices(mass.shape).reshape(2, -1)
    return Reached(question, entity, mass.reshape(-1))


def gathered(question: np.ndarray, entity: np.ndarray, mass: Tensor) -> Reached:
    """Add up what arrives at the same entity for the same question."""
    wide = int(entity.max(initial=0)) + 1
    keys, place = _distinct(question * wide + entity)
    total = mass.new_zeros(len(keys)).index_add(0, torch.from_numpy(place), mass)
    return Reached(keys // wide, keys % wide, total)


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct numbers in order, and the place of each among them.

    Without sorting, where a mark for each number that there may be is not too many.
    """
    most = int(keys.max(initial=-1)) + 1
    if most > MARKS:
        return np.unique(keys, return_inverse=True)
    there = np.zeros(most, bool)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int64) - 1)[keys]


def walk_on(reached: Reached, asked: Tensor, adjacency: Adjacency) -> Reached:
    """Take one step along the relations that each question asks for, p_t (B, 2 R)."""
    pair, edge = expand(*adjacency.spans(reached.entity, "both"))
    relation, target = adjacency.edges[edge].astype(np.int64).T
    turned = edge >= adjacency.spans(reached.entity, "out")[1][pair]
    relation = relation + turned * (asked.shape[1] // 2)
    question = reached.question[pair]
    cell = torch.from_numpy(question * asked.shape[1] + relation)
    wanted = asked.flatten().index_select(0, cell)
    before = reached.mass.index_select(0, torch.from_numpy(pair))
    arrived = gathered(question, target, before * wanted)
    return arrived._replace(mass=arrived.mass / arrived.mass.detach().clamp_min(1.0))


class Walk(NamedTuple):
    """A walk of some questions, with all that it was led by."""

    steps: list[Reached]  # after 0, 1, … steps
    left: list[Reached]  # of each but the last: from where the next step went on
    asked: Tensor  # p (hops, B, 2 R)
    many: Tensor  # g (hops, B)

    @classmethod
    def of(
        cls, topic: np.ndarray, asked: Tensor, many: Tensor, adjacency: Adjacency, most: int
    ) -> Walk:
        """Walk from topics; of each step the next goes on from `most` entities a question."""
        steps, left = [begin(topic)], []
        for wanted in asked:
            left.append(steps[-1].highest(most))
            arrived = walk_on(left[-1], wanted, adjacency)
            steps.append(arrived.where(arrived.entity != topic[arrived.question]))
        return cls(steps, left, asked, many)

    def total(self) -> Reached:
        """Return Σ_t g_t a_t."""
        parts = [
            step.mass * g[torch.from_numpy(step.question)]
            for step, g in zip(self.steps[1:], self.many, strict=True)
        ]
        question, entity = (
            np.concatenate([getattr(step, name) for step in self.steps[1:]])
            for name in ("question", "entity")
        )
        return gathered(question, entity, torch.cat(parts))

    def path(self, question: int, entity: int, adjacency: Adjacency) -> list[Fact]:
        """Return the facts by which most of a question arrives at an entity, from its topic on."""
        arrived = [
            g[question] * _mass(step, question, [entity])[0]
            for step, g in zip(self.steps[1:], self.many.detach().numpy(), strict=True)
        ]
        path: list[Fact] = []
        for step in range(int(np.argmax(arrived)), -1, -1):
            first, last = (int(side[0]) for side in adjacency.spans(np.array([entity]), "both"))
            relation, far = adjacency.edges[first:last].astype(np.int64).T
            out = np.arange(first, last) < adjacency.spans(np.array([entity]), "out")[1][0]
            wanted = self.asked[step, question].detach().numpy()
            along = wanted[relation + out * (len(wanted) // 2)]  # an edge out is walked back
            best = int(np.argmax(_mass(self.left[step], question, far) * along))
            source, by = int(far[best]), int(relation[best])
            ends = (entity, source) if out[best] else (source, entity)
            path.append(Fact(ends[0], by, ends[1]))
            entity = source
        return path[::-1]


def _mass(reached: Reached, question: int, entities: np.ndarray | list[int]) -> np.ndarray:
    """Return how much of a question is at entities."""
    first, last = np.searchsorted(reached.question, [question, question + 1])
    held = reached.entity[first:last]
    if first == last:
        return np.zeros(len(entities))
    place = np.searchsorted(held, entities).clip(max=len(held) - 1)
    mass: np.ndarray = reached.mass[first:last].detach().numpy()[place]
    return np.where(held[place] == entities, mass, 0.0)
