"""What an answerer is made of, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import EPOCHS, RATE, SIZE, Settings, setting
from kgraft.training import TrainingSettings


@dataclass(frozen=True)
class AnswererConfig(Settings):
    """What an answerer is made of."""

    hops: int = setting(3, "Facts between topic and answer, at most.", (1, 10))
    frontier: int = setting(
        256, "Entities per question from which the next step continues, at most.", SIZE
    )
    use_knowledge: bool = setting(True, "Walk over the graph.", option="")


@dataclass(frozen=True)
class AnswererSettings(TrainingSettings):
    """How a joint model is fine-tuned to answer questions over a graph."""

    epochs: int = setting(3, "Passes over the questions, at most.", EPOCHS)
    patience: int | None = 2
    batch: int = setting(64, "Questions per batch.", SIZE)
    train_lower: bool = setting(False, "Train the lower half of the language module, too.")
    language_rate: float = setting(1e-4, "Learning rate of the language module.", RATE)
    walker_rate: float = setting(1e-3, "Learning rate of the walker and the graph attention.", RATE)
