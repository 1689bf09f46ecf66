"""How a link model is trained."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.errors import BadInput
from kgraft.settings import EPOCHS, FRACTION, RANK, SIZE, Range, setting
from kgraft.training import TrainingSettings

LEARNING_RATE: Range = (1e-12, 1)


@dataclass(frozen=True)
class LinkSettings(TrainingSettings):
    """Settings of training; the defaults suit some hundred to some thousand texts."""

    rank: int = setting(16, "Rank of the changes to the encoder.", RANK)
    epochs: int = setting(6, "Passes over the texts, at most.", EPOCHS)
    patience: int | None = 3
    batch_tokens: int = setting(1536, "Tokens per batch, padding included.", SIZE)
    learning_rate: float = setting(3e-4, "Size of a step.", LEARNING_RATE)
    head_rate: float = setting(1e-3, "Size of a step of the link head.", LEARNING_RATE)
    weight_decay: float = setting(0.01, "Decay of the weights.", FRACTION)
    fully_annotated: bool = setting(False, "Every mention in the texts is marked.")
    silence: float = setting(
        0.15, "Fraction of texts in which the encoder says nothing.", FRACTION, option=""
    )
    drop_gold: float = setting(
        0.05, "Fraction of mentions whose right candidate is taken away.", FRACTION, option=""
    )
    part: int = setting(4096, "Texts from one search for candidates to the next.", SIZE, option="")

    def check(self) -> None:
        """Refuse fractions that leave nothing to learn from."""
        for name in ("silence", "drop_gold"):
            if getattr(self, name) == 1:
                raise BadInput(f"{name} is 1", remedy="give less than 1")
