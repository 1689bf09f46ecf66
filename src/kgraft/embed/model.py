"""What a model of graph embedding is: how an entity and a relation make a query for an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Compose = Callable[[Tensor, Tensor], Tensor]
Turn = Callable[[Tensor], Tensor]
Draw = Callable[[int, int, float, torch.Generator], Tensor]


def normal(rows: int, width: int, scale: float, generator: torch.Generator) -> Tensor:
    """Draw a table from a normal distribution with standard deviation `scale`."""
    return torch.randn(rows, width, generator=generator) * scale


@dataclass(frozen=True)
class Model:
    """A model as a declaration: score(h, r, t) = similarity(compose(h, r), t).

    `invert` turns a relation round, so that heads are asked for like tails:
    score(h, r, t) = similarity(compose(t, invert(r)), h). All that is scored, trained and ranked
    is a query compared with candidates; nothing else needs to know the model.
    """

    name: str
    paper: str
    formula: str
    compose: Compose  # (…, D) entities and (…, W) relations to (…, D) queries
    invert: Turn  # (…, W) to (…, W)
    similarities: tuple[str, ...]  # names of kgraft.embed.similarity, the usual one first
    complex_pairs: bool = False  # whether a coordinate is a complex number of two halves
    relation_width: Callable[[int], int] = lambda dimension: dimension
    draw_relations: Draw = normal
    free_relations: bool = True  # whether the size of a relation's vector means anything

    def check(self, dimension: int) -> str | None:
        """Say what is wrong with a dimension, if anything is."""
        if dimension < 1:
            return f"the dimension is {dimension}, but at least 1 is needed"
        if self.complex_pairs and dimension % 2:
            return f"{self.name} needs an even dimension (two halves a complex number)"
        return None
