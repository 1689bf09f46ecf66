"""Trained vectors with their model: scores of triples, of all tails and of all heads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding as rows_of  # its gradient is the same in every run

from kgraft.embed.model import Model
from kgraft.embed.models import MODELS
from kgraft.embed.settings import EmbedSettings
from kgraft.measure import QueryBatch


@dataclass
class EmbeddingTables:
    """The vectors of entities and relations under one model, and what else it has learnt.

    A query has an entity and a relation or its inverse: r in 0…R−1 asks for tails of r, R + r for
    heads. Reciprocal relations have a vector for each inverse, too; others are inverted.
    """

    settings: EmbedSettings
    entities: Tensor  # (N, D)
    relations: Tensor  # (R, W), or (2R, W) with reciprocal relations
    parameters: dict[str, Tensor] = field(default_factory=dict)  # shared by all triples

    @classmethod
    def draw(cls, settings: EmbedSettings, entities: int, relations: int) -> EmbeddingTables:
        """Draw the vectors that training starts from."""
        model = MODELS[settings.model]
        generator = torch.Generator().manual_seed(settings.seed)
        rows = relations * 2 if settings.reciprocal else relations
        width, scale = model.relation_width(settings.dimension), settings.scale
        return cls(
            settings,
            torch.randn(entities, settings.dimension, generator=generator) * scale,
            model.draw_relations(rows, width, scale, generator),
            model.draw_parameters(settings.dimension, scale, generator),
        )

    @property
    def model(self) -> Model:
        """The declaration of the model."""
        return MODELS[self.settings.model]

    @property
    def relation_count(self) -> int:
        """How many relations the graph has."""
        return len(self.relations) // (2 if self.settings.reciprocal else 1)

    def relation_vectors(self, relations: Tensor) -> Tensor:
        """Return the vectors of relations or inverses."""
        if self.settings.reciprocal:
            return rows_of(relations, self.relations)
        count = len(self.relations)
        vectors = rows_of(relations % count, self.relations)
        back = (relations >= count)[..., None]
        return torch.where(back, self.model.invert(vectors), vectors)

    def queries(self, entities: Tensor, relations: Tensor) -> Tensor:
        """Return the queries of entities and relations or inverses, by index."""
        vectors = rows_of(entities, self.entities)
        return self.model.query(vectors, self.relation_vectors(relations), self.parameters)

    def compare(self, queries: Tensor, candidates: Tensor) -> Tensor:
        """Return the scores (…, B, N) of queries (…, B, Q) against candidates (…, N, D)."""
        return self.model.score(queries, candidates, self.settings.similarity, self.parameters)

    def score_triples(self, heads: Tensor, relations: Tensor, tails: Tensor) -> Tensor:
        """Return the scores of triples, (B,)."""
        queries = self.queries(heads, relations)[:, None]  # (B, 1, D)
        return self.compare(queries, rows_of(tails, self.entities)[:, None])[:, 0, 0]

    def score_tails(self, heads: Tensor, relations: Tensor) -> Tensor:
        """Return the scores of all entities as tails, (B, N)."""
        return self.compare(self.queries(heads, relations), self.entities)

    @torch.no_grad()
    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores of all entities as answers of queries, (B, N), for ranking."""
        entity, relation = torch.from_numpy(batch.entity), torch.from_numpy(batch.relation)
        return self.score_tails(entity, relation).numpy()

    def score_heads(self, relations: Tensor, tails: Tensor) -> Tensor:
        """Return the scores of all entities as heads, (B, N)."""
        return self.score_tails(tails, relations + self.relation_count)
