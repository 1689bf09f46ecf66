"""Relation-path injection: how a candidate is related to what else a text mentions.

With the paths π from a candidate e of a mention to the candidates e' of other mentions, each a
sequence of steps ρ1 … ρn whose relations have vectors r,

    h_0 = 0,  h_i = GRU(W r_ρi + d_ρi, h_{i-1})         d: the direction of the step
    a_π = p(e') w_π exp(u · h_π) / (1 + Σ_π' p(e') w_π' exp(u · h_π'))
    x'_e = x_e + U Σ_π a_π h_π

where p(e') is the prior of the other candidate, and w_π the confidence of the path: 1 where facts
say it. The 1 stands for no path, so that paths of little weight add little, and none add nothing.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graft.candidate_pairs import CandidatePairs
from kgraft.graft.path_index import PairPaths, StepCodes
from kgraft.text import MentionBatch
from kgraft.vectors import softmax_by

INNER = 64  # size of h


@runtime_checkable
class PathSource(Protocol):
    """Knowledge that has paths between entities."""

    def paths_between(self, source: np.ndarray, target: np.ndarray) -> PairPaths:
        """Return the relation paths of pairs of entities, (P,) each."""
        ...

    def relation_vectors(self) -> Tensor:
        """Return the vectors of all relations, then of their inverses, (2R, D)."""
        ...


class PathVectors(NamedTuple):
    """What paths add to candidates."""

    row: Tensor  # (n,) distinct rows of the flat B · M · K
    vectors: Tensor  # (n, V)


class PathEncoder(nn.Module):
    """A small recurrent network over the relations of a path; it learns with its graft."""

    def __init__(self, relation_size: int, size: int) -> None:
        super().__init__()
        self.relation = nn.Linear(relation_size, INNER)  # W
        self.direction = nn.Embedding(2, INNER)  # d
        self.step = nn.GRUCell(INNER, INNER)
        self.score = nn.Linear(INNER, 1, bias=False)  # u
        self.out = nn.Linear(INNER, size, bias=False)  # U

    def forward(self, mentions: MentionBatch, source: PathSource) -> PathVectors:
        """Return what paths add to the candidates of mentions; those without any are left out."""
        pairs = CandidatePairs.of(mentions)
        paths = source.paths_between(pairs.entity, pairs.other_entity)
        hidden, shares = self.weigh(pairs, paths, source.relation_vectors().to(self.device))
        rows, owner = np.unique(pairs.row[paths.pair], return_inverse=True)
        row, owner_row = (torch.from_numpy(c).to(self.device) for c in (rows, owner))
        pooled = hidden.new_zeros(len(rows), hidden.shape[1])
        pooled = pooled.index_add(0, owner_row, shares[:, None] * hidden)
        return PathVectors(row, self.out(pooled))

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return self.out.weight.device

    def weigh(
        self, pairs: CandidatePairs, paths: PairPaths, relations: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return h (n, INNER) and a (n,) of the paths of pairs; each sequence is encoded once."""
        code, sequence = np.unique(paths.code, return_inverse=True)
        steps = StepCodes(len(relations) // 2).steps(code)
        hidden = self.encode(torch.from_numpy(steps).to(self.device), relations)
        rows, owner = np.unique(pairs.row[paths.pair], return_inverse=True)
        weight = pairs.prior[paths.pair] * paths.weight
        columns = (torch.from_numpy(c).to(self.device) for c in (sequence, owner, weight))
        sequence_row, owner_row, weights = columns
        logits = self.score(hidden)[sequence_row, 0] + weights.log()
        return hidden[sequence_row], _shares(logits, owner_row, len(rows))

    def encode(self, steps: Tensor, relations: Tensor) -> Tensor:
        """Return h of sequences (U, 3), in which -1 stands before the first step, (U, INNER)."""
        half = len(relations) // 2
        hidden = relations.new_zeros(len(steps), INNER)
        for step in steps.unbind(1):
            is_step, index = step >= 0, step.clamp_min(0)
            read = self.relation(relations[index]) + self.direction((index >= half).long())
            hidden = torch.where(is_step[:, None], self.step(read, hidden), hidden)
        return hidden


def _shares(logits: Tensor, owner: Tensor, owners: int) -> Tensor:
    """Return the softmax of logits (n,) of each owner, which has one more of 0, for no path."""
    no_path = torch.arange(owners, device=owner.device)
    every = torch.cat([logits, logits.new_zeros(owners)])
    return softmax_by(every, torch.cat([owner, no_path]), owners)[: len(owner)]


def path_encoder(knowledge: object, size: int) -> PathEncoder | None:
    """Return a new encoder of the paths of knowledge, None where it has none."""
    if not isinstance(knowledge, PathSource):
        return None
    return PathEncoder(knowledge.relation_vectors().shape[1], size)
