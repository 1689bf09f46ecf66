"""What a model of graph embedding is: how an entity and a relation make a query for an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from kgraft.errors import BadInput

Compose = Callable[[Tensor, Tensor], Tensor]
Invert = Callable[[Tensor], Tensor]
Draw = Callable[[int, int, float, torch.Generator], Tensor]


def normal(rows: int, width: int, scale: float, generator: torch.Generator) -> Tensor:
    """Draw a table from a normal distribution with standard deviation `scale`."""
    return torch.randn(rows, width, generator=generator) * scale


@dataclass(frozen=True)
class Model:
    """A model as a declaration: score(h, r, t) = similarity(compose(h, r), t).

    `invert` gives the inverse relation, so that heads are batch for like tails:
    score(h, r, t) = similarity(compose(t, invert(r)), h). All that is scored, trained and ranked
    is a query compared with candidates; nothing else needs to know the model.
    """

    name: str
    paper: str
    formula: str
    compose: Compose  # (…, D) entities and (…, W) relations to (…, D) queries
    invert: Invert  # (…, W) to (…, W)
    similarities: tuple[str, ...]  # names of kgraft.embed.similarity, the usual one first
    complex_pairs: bool = False  # whether a coordinate is a complex number of two halves
    relation_width: Callable[[int], int] = lambda dimension: dimension
    draw_relations: Draw = normal
    free_relations: bool = True  # whether the size of a relation's vector means anything

    def check_dimension(self, dimension: int) -> None:
        """Refuse a dimension that the model cannot have."""
        if self.complex_pairs and dimension % 2:
            reason = f"dimension is {dimension}"
            raise BadInput(reason, remedy=f"give {self.name} an even one: two per coordinate")
