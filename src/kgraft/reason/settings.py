"""What a reasoner is made of, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import EPOCHS, RATE, SIZE, Settings, setting
from kgraft.training import TrainingSettings


@dataclass(frozen=True)
class ReasonerConfig(Settings):
    """What a reasoner is made of."""

    width: int = setting(32, "Numbers in the state of an entity.", (1, 1024))
    relation_layers: int = setting(6, "Steps over the graph of relations.", (1, 16))
    entity_layers: int = setting(6, "Steps over the graph: the longest path.", (1, 16))


@dataclass(frozen=True)
class ReasonerSettings(TrainingSettings):
    """How a reasoner is trained: on one graph, or on pieces of several."""

    epochs: int = setting(10, "Passes over the steps of an epoch, at most.", EPOCHS)
    patience: int | None = 3
    steps: int = setting(500, "Steps per epoch.", SIZE)
    batch: int = setting(16, "Facts per step, each asked in both directions.", SIZE)
    piece: int = setting(3000, "Entities of a piece of a graph that a step is about.", SIZE)
    learning_rate: float = setting(1e-3, "Learning rate.", RATE)


@dataclass(frozen=True)
class CompleterConfig(Settings):
    """Which sources a completer weighs, by the folders they are in."""

    reasoner: str | None = setting(
        None, "A reasoner of 'kgraft reason train'; by default the one that ships."
    )
    rules: str | None = setting(
        None, "Rules of 'kgraft reason mine', or a file in AnyBURL's format."
    )
    vectors: str | None = setting(None, "Vectors of 'kgraft embed train'.")
    text: str | None = setting(None, "A model of 'kgraft reason train --text'.")
    plausible_only: bool = setting(
        True, "Leave out answers that all facts of a relation speak against."
    )
