"""How models are fine-tuned on tasks."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import COUNT, EPOCHS, FRACTION, RATE, SIZE, setting
from kgraft.training import TrainingSettings


@dataclass(frozen=True)
class ClassificationSettings(TrainingSettings):
    """How an encoder is fine-tuned to classify spans."""

    epochs: int = setting(4, "Passes over the examples, at most.", EPOCHS)
    patience: int | None = 2
    learning_rate: float = setting(5e-5, "Learning rate of the encoder.", RATE)
    graft_rate: float = setting(
        1e-4, "Learning rate of grafts: with a higher one they forget what they learned.", RATE
    )
    head_rate: float = setting(1e-3, "Learning rate of the classifier.", RATE)
    frozen_layers: int = setting(
        0, "Layers at the bottom, with the word vectors, that do not learn.", (0, 1000)
    )
    batch_tokens: int = setting(1024, "Tokens per batch, padding included.", SIZE)
    dropout: float = setting(0.1, "Dropout of the classifier.", FRACTION)


@dataclass(frozen=True)
class EntityClassSettings(TrainingSettings):
    """How a reader of entities is trained to classify them."""

    epochs: int = setting(30, "Passes over the entities, at most.", EPOCHS)
    patience: int | None = 6
    batch: int = setting(256, "Entities per batch.", SIZE)
    learning_rate: float = setting(1e-3, "Learning rate.", RATE)
    dropout: float = setting(0.3, "Dropout of the classifier.", FRACTION)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", FRACTION)
    readings: int = setting(4, "Sampled neighbourhoods per entity whose mean decides.", SIZE)


@dataclass(frozen=True)
class LinkPredictionSettings(TrainingSettings):
    """How missing links are learned to be predicted."""

    epochs: int = setting(5, "Passes over the facts, at most.", EPOCHS)
    patience: int | None = 2
    batch: int = setting(256, "Facts per batch, either way.", SIZE)
    random_negatives: int = setting(256, "Random entities, drawn once per batch.", SIZE)
    learning_rate: float = setting(1e-3, "Learning rate.", RATE)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", FRACTION)


@dataclass(frozen=True)
class FewShotSettings(TrainingSettings):
    """How a joint model is fine-tuned for few-shot relations."""

    epochs: int = setting(4, "Rounds of steps, each with a validation, at most.", EPOCHS)
    patience: int | None = 3
    steps: int = setting(100, "Steps per round.", COUNT)
    ways: int = setting(16, "Relations per step.", SIZE)
    texts: int = setting(3, "Texts of each.", SIZE)
    sharpness: float = setting(20.0, "What cosines are multiplied by.", RATE)
    train_lower: bool = setting(True, "Train the lower half of the language module, too.")
    language_rate: float = setting(2e-4, "Learning rate of the language module.", RATE)
    knowledge_rate: float = setting(5e-4, "Learning rate of the knowledge module.", RATE)
    valid_ways: int = setting(5, "Relations per episode of a validation.", SIZE)
    valid_episodes: int = setting(2000, "Episodes of a validation.", COUNT)
