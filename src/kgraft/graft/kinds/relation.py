"""Injection of relations: what the graph says between the entities that a text mentions.

As entities are injected, with x the mean, over the mentions that hold word t, of the sum of the
vectors of the relations between a mention's entity and the text's other entities.
"""

from __future__ import annotations

from torch import Tensor

from kgraft.graft.interfaces import Knowledge
from kgraft.graft.kinds import GRAFTS
from kgraft.graft.kinds.entity import EntityInjection, chosen_entity
from kgraft.text import MentionBatch


@GRAFTS.register("relation")
class RelationInjection(EntityInjection):
    """The vectors of the relations between the text's likeliest entities, at their mentions."""

    def _vector_size(self, knowledge: Knowledge) -> int:
        return knowledge.relations.size

    def _mention_vectors(
        self, mentions: MentionBatch, weights: Tensor, knowledge: Knowledge
    ) -> Tensor:
        return knowledge.relations.between(chosen_entity(mentions, weights))
