"""How a link model is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kgraft.errors import BadInput
from kgraft.ranges import PASSES, RANK, SEED, SIZE, check_ranges


@dataclass(frozen=True)
class LinkSettings:
    """Settings of training; the defaults suit some hundred to some thousand texts."""

    rank: int = 16  # of the changes to the encoder
    epochs: int = 6
    patience: int = 3  # validations without a better F1 before it stops
    batch_tokens: int = 1536  # tokens per batch, padding included
    learning_rate: float = 3e-4
    head_rate: float = 1e-3  # learning rate of the link head
    weight_decay: float = 0.01
    fully_annotated: bool = False  # whether every mention in the texts is marked
    silence: float = 0.15  # share of texts in which the encoder says nothing
    drop_gold: float = 0.05  # share of mentions whose right candidate is taken away
    part: int = 4096  # texts gone through between two searches for candidates
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = {"rank": RANK, "batch_tokens": SIZE, "part": SIZE}
        check_ranges(self, sizes | {"epochs": PASSES, "patience": PASSES, "seed": SEED})
        for name in ("learning_rate", "head_rate"):
            if not 0 < getattr(self, name) < 1:
                raise BadInput(
                    f"{name} is {getattr(self, name)}", remedy="give a number between 0 and 1"
                )
        for name in ("silence", "drop_gold"):
            if not 0 <= getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}", remedy="give 0 or more, below 1")

    def replace(self, **changes: Any) -> LinkSettings:  # noqa: ANN401
        """Return the settings with those changed that are not None."""
        return replace(self, **{name: x for name, x in changes.items() if x is not None})
