"""Injection: the simple way to let knowledge in, to measure the attention against.

Each mention takes the candidate with the highest prior. What is known of it is added at the words
of the mention, or mixed with them:

    add       H'_t = H_t + W x               W starts nearly silent
    concat    H'_t = [H_t ; x] W             W starts as the identity and something nearly silent

with x the mean of the entities' vectors over the mentions that hold word t. Where the knowledge has
paths between entities, those of the candidate are added to its vector (see `path_encoder`).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from kgraft.graft.interfaces import Graft, Knowledge
from kgraft.graft.kinds import GRAFTS
from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import path_encoder
from kgraft.graft.settings import InjectionSettings
from kgraft.text import MASKED, MentionBatch

_QUIET = 0.02  # how loud what is injected begins, relative to the host


@GRAFTS.register("entity")
class EntityInjection(Graft):
    """The vector of each mention's likeliest entity, at the words of the mention."""

    settings_class: ClassVar[type[InjectionSettings]] = InjectionSettings

    def __init__(
        self, host_size: int, knowledge: Knowledge, settings: InjectionSettings | None = None
    ) -> None:
        super().__init__(host_size, knowledge)
        self.settings = settings or InjectionSettings()
        size = self._vector_size(knowledge)
        own = host_size if self.settings.method == "concat" else 0
        self.project = nn.Linear(own + size, host_size)
        self.mask = nn.Parameter(torch.randn(size))
        self.mention_size = size
        with torch.no_grad():
            self.project.weight.mul_(_QUIET * size**-0.5)
            self.project.weight[:, :own] = torch.eye(host_size, own)
            self.project.bias.zero_()
        self.paths = path_encoder(knowledge, size)

    def _vector_size(self, knowledge: Knowledge) -> int:
        return knowledge.size

    def forward(
        self, hidden: Tensor, mentions: MentionBatch, knowledge: Knowledge
    ) -> tuple[Tensor, GraftOutput]:
        """Take H (B, L, D) to H' (B, L, D); words outside of mentions stay what they are."""
        weights = likeliest(mentions)  # (B, M, K)
        covered = mentions.covers(hidden.shape[1])  # (B, L, M)
        attention = covered / covered.sum(-1, keepdim=True).clamp_min(1)
        vectors = self._mention_vectors(mentions, weights, knowledge)  # (B, M, V)
        vectors = self._with_paths(vectors, mentions, weights, knowledge)
        injected = attention @ vectors  # (B, L, V)
        if self.settings.method == "add":
            changed = hidden + self.project(injected)
        else:
            changed = self.project(torch.cat([hidden, injected], dim=-1))
        changed = torch.where(covered.any(-1)[..., None], changed, hidden)
        scores = mentions.prior.log().masked_fill(~mentions.is_candidate, -torch.inf)
        return changed, GraftOutput(scores, weights, attention, vectors)

    def _mention_vectors(
        self, mentions: MentionBatch, weights: Tensor, knowledge: Knowledge
    ) -> Tensor:
        """Return what is known of the mentions, (B, M, V)."""
        entity = chosen_entity(mentions, weights)
        return torch.where((entity == MASKED)[..., None], self.mask, knowledge.take(entity))

    def _with_paths(
        self, vectors: Tensor, mentions: MentionBatch, weights: Tensor, knowledge: Knowledge
    ) -> Tensor:
        """Add the paths of each mention's candidate, where the knowledge has some, (B, M, V)."""
        paths = self.path_vectors(mentions, knowledge)
        if paths is None:
            return vectors
        is_chosen = weights.flatten()[paths.row] > 0
        mention = paths.row[is_chosen] // weights.shape[-1]
        added = paths.vectors[is_chosen]
        return vectors.flatten(0, 1).index_add(0, mention, added).view_as(vectors)


def likeliest(mentions: MentionBatch) -> Tensor:
    """Return 1 for each mention's candidate with the highest prior, else 0, (B, M, K)."""
    prior = mentions.prior.masked_fill(~mentions.is_candidate, -1.0)
    best = torch.nn.functional.one_hot(prior.argmax(-1), prior.shape[-1])
    return best.to(mentions.prior) * mentions.is_candidate


def chosen_entity(mentions: MentionBatch, weights: Tensor) -> Tensor:
    """Return the entity of the candidate that weighs most, -1 where none has weight, (B, M)."""
    best = mentions.entity.gather(-1, weights.argmax(-1, keepdim=True))[..., 0]
    return best.masked_fill((weights == 0).all(-1), -1)
