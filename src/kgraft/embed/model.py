"""What a model of graph embedding is: how a triple is scored, from which tensors."""

# ruff: noqa: ARG002 -- few models need every argument

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from kgraft.embed.similarity import SIMILARITIES
from kgraft.errors import BadInput

Compose = Callable[[Tensor, Tensor], Tensor]
Invert = Callable[[Tensor], Tensor]
Draw = Callable[[int, int, float, torch.Generator], Tensor]
Parameters: TypeAlias = Mapping[str, Tensor]
"""What a model learns besides the vectors of entities and relations, by name."""


def normal(rows: int, width: int, scale: float, generator: torch.Generator) -> Tensor:
    """Draw a table from a normal distribution with standard deviation `scale`."""
    return torch.randn(rows, width, generator=generator) * scale


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """A model: score(h, r, t) = score(query(h, r), t), where a query is any tensor.

    `query` does what depends on the entity and the relation alone, once per query; `score` compares
    queries with candidates, all of them against all. `invert` gives the inverse relation, so that
    heads are asked for like tails: score(h, r, t) = score(query(t, invert(r)), h). Everything that
    is scored, trained and ranked is queries and candidates; nothing else needs to know the model.

    Besides the vectors of entities and relations a model may learn tensors that all triples share:
    those of `parameter_shapes`.
    """

    name: str
    paper: str
    formula: str
    invert: Invert  # (…, W) to (…, W)
    similarities: tuple[str, ...]  # names of kgraft.embed.similarity, the usual one first
    complex_pairs: bool = False  # whether a coordinate is a complex number of two halves
    relation_width: Callable[[int], int] = lambda dimension: dimension
    draw_relations: Draw = normal
    free_relations: bool = True  # whether the size of a relation's vector means anything

    @abstractmethod
    def query(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return the queries (…, Q) of entities (…, D) and relations (…, W)."""

    @abstractmethod
    def score(
        self, queries: Tensor, candidates: Tensor, similarity: str, parameters: Parameters
    ) -> Tensor:
        """Return the scores (…, B, N) of queries (…, B, Q) against candidates (…, N, D).

        N may be all entities: a tensor of B × N × D numbers is too large then.
        """

    def guess(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return vectors (…, D) that answer the queries well, for entities new since training.

        A model that cannot tell answers with the entity itself: neighbours are alike.
        """
        return entities

    def parameter_shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the further parameters by name; most models have none."""
        return {}

    def draw_parameters(
        self, dimension: int, scale: float, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """Draw the further parameters that training starts from."""
        shapes = self.parameter_shapes(dimension)
        return {
            name: torch.randn(shape, generator=generator) * scale for name, shape in shapes.items()
        }

    def check_dimension(self, dimension: int) -> None:
        """Refuse a dimension that the model cannot have."""
        if self.complex_pairs and dimension % 2:
            reason = f"dimension is {dimension}"
            raise BadInput(reason, remedy=f"give {self.name} an even one: two per coordinate")


@dataclass(frozen=True, kw_only=True)
class SimilarityModel(Model):
    """A model as a declaration: score(h, r, t) = similarity(compose(h, r), t).

    A query is a point among the entities, and the answer is what is near it.
    """

    compose: Compose  # (…, D) entities and (…, W) relations to (…, D) queries

    def query(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return compose(h, r)."""
        return self.compose(entities, relations)

    def score(
        self, queries: Tensor, candidates: Tensor, similarity: str, parameters: Parameters
    ) -> Tensor:
        """Return the similarity of the queries to the candidates."""
        return SIMILARITIES[similarity](queries, candidates)

    def guess(self, entities: Tensor, relations: Tensor, parameters: Parameters) -> Tensor:
        """Return compose(h, r): nothing is more similar to a query than the query."""
        return self.compose(entities, relations)
