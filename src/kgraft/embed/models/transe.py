"""TransE: a relation is a step from head to tail."""

from __future__ import annotations

from torch import Tensor

from kgraft.embed.model import SimilarityModel
from kgraft.embed.models import MODELS


def compose(entity: Tensor, relation: Tensor) -> Tensor:
    """Return h + r."""
    return entity + relation


def invert(relation: Tensor) -> Tensor:
    """Return −r: ‖h + r − t‖ = ‖t − r − h‖."""
    return -relation


MODELS.register("transe")(
    SimilarityModel(
        name="transe",
        paper="Bordes et al. 2013, Translating embeddings for modeling multi-relational data",
        formula="−d(h + r, t), d = L1, L2 or L2 squared",
        compose=compose,
        invert=invert,
        similarities=("l2", "l1", "squared"),
    )
)
