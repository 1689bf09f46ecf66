"""How long to train, and what is looked at on the way."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import EPOCHS, EPOCHS_OR_NONE, SEED, Settings, setting


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """What every training has; the settings of a model's training extend these."""

    epochs: int = setting(1, "Passes over the training data, at most.", EPOCHS_OR_NONE)
    patience: int | None = setting(
        None, "Validations without a better figure before training stops.", EPOCHS
    )
    validate_every: int = setting(1, "Epochs from one validation to the next.", EPOCHS, option="")
    seed: int = setting(0, "Seed of all random choices.", SEED)


@dataclass(frozen=True)
class Schedule:
    """When a run validates, saves and ends."""

    epochs: int
    patience: int | None = None  # validations without a better figure before it stops
    validate_every: int = 1  # epochs; the last one is always validated
    checkpoint_minutes: float = 5.0  # besides one at every validation; 0 is after every step

    def is_over(self, epoch: int, stale: int) -> bool:
        """Tell whether a run ends after some epochs and some validations that were no better."""
        out_of_patience = self.patience is not None and stale >= self.patience
        return out_of_patience or epoch >= self.epochs

    def validates(self, epoch: int) -> bool:
        """Tell whether there is a validation after an epoch (counted from 1)."""
        return epoch % self.validate_every == 0 or epoch == self.epochs
