"""How a text completer is shaped and trained."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import COUNT, FRACTION, RATE, SIZE, WEIGHT, Settings, setting
from kgraft.training import TrainingSettings


@dataclass(frozen=True)
class TextConfig(Settings):
    """The shape of a text completer."""

    tokens: int = setting(40, "Tokens that are read of a text, special ones included.", SIZE)


@dataclass(frozen=True)
class TextSettings(TrainingSettings):
    """Settings of the training of a text completer."""

    tokens: int = setting(40, "Tokens that are read of a text, special ones included.", SIZE)
    batch: int = setting(128, "Triples per batch, each asked for its tail and its head.", SIZE)
    epoch_triples: int | None = setting(
        None, "Triples per epoch, others in each; by default all.", COUNT
    )
    earlier_batches: int = setting(2, "Earlier batches whose entities are negatives.", (0, 1024))
    earlier_weight: float = setting(0.5, "Factor on the scores of those.", FRACTION)
    margin: float = setting(0.02, "Taken from the score of the answer (γ).", (0, 2))
    temperature: float = setting(0.05, "τ at the beginning; it is learnt.", (1e-3, 100))
    rate: float = setting(5e-5, "Learning rate of the encoder.", RATE)
    temperature_rate: float = setting(1e-3, "Learning rate of log 1/τ.", RATE)
    weight_decay: float = setting(1e-4, "Weight decay of AdamW.", WEIGHT)
    frozen: int = setting(0, "Lowest layers that stay as they are.", (0, 1000))
    valid_queries: int = setting(500, "Queries that a validation ranks, at most.", SIZE)
    valid_entities: int = setting(2000, "Entities among which it ranks them.", SIZE)
