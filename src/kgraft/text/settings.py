"""Settings of trainings on text alone."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import FRACTION, RATE, SIZE, setting
from kgraft.training import TrainingSettings


@dataclass(frozen=True)
class MaskedSettings(TrainingSettings):
    """How a head for masked words is trained, and the encoder with it if it has a rate."""

    head_rate: float = setting(2e-3, "Learning rate of the head.", RATE)
    encoder_rate: float | None = setting(
        None, "Learning rate of the encoder, which does not change without one.", RATE
    )
    batch_tokens: int = setting(2048, "Tokens per batch, padding included.", SIZE)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", FRACTION)
