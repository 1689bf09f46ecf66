"""How a link model is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kgraft.errors import BadInput


@dataclass(frozen=True)
class LinkSettings:
    """Settings of training; the defaults suit some thousand short texts."""

    rank: int = 16  # of the changes to the encoder
    epochs: int = 10
    patience: int = 4  # validations without a better F1 before it stops
    batch_tokens: int = 1024  # tokens a batch, padding included
    learning_rate: float = 5e-4
    weight_decay: float = 0.01
    partial: bool = True  # whether mentions may be left unmarked in the texts
    unmarked_names: float = 0.3  # how far an unmarked name counts as no mention
    unmarked_words: float = 1.0  # the same for names in small letters
    part: int = 8192  # texts gone through between two looks for hard negatives
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rank", "epochs", "patience", "batch_tokens", "part"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}", remedy="give 1 or more")
        if not self.learning_rate > 0:
            raise BadInput(f"learning_rate is {self.learning_rate}", remedy="give more than 0")

    def changed(self, **changes: Any) -> LinkSettings:  # noqa: ANN401
        """Return the settings with those changed that are not None."""
        return replace(self, **{name: x for name, x in changes.items() if x is not None})
