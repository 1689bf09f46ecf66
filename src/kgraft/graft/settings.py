"""How a graft is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from kgraft.errors import BadInput
from kgraft.ranges import (
    PASSES,
    PASSES_OR_NONE,
    RANK,
    RATE,
    SEED,
    SIZE,
    check_ranges,
)

Loss = Literal["likelihood", "margin"]
RATES = ("linker_rate", "graft_rate", "host_rate", "above_rate", "head_rate")


@dataclass(frozen=True)
class GraftSettings:
    """Settings of training; the rates are those of the paper for a host of 12 layers.

    In the first epochs (`linker_epochs`) the linker inside the grafts learns alone, from mentions
    whose entity is known. Then all learns but the entity vectors: batches with masked words and
    batches with known mentions, mixed.
    """

    linker_epochs: int = 2
    epochs: int = 3  # after those
    patience: int = 3  # validations without a better figure before it stops
    loss: Loss | None = None  # of the linker; None: margin where perhaps no candidate is right
    masked: float = 0.5  # share of the later batches that are read with masked words
    told: float = 0.0  # share of those in which marked mentions stay known, and are masked often
    rank: int | None = None  # of the changes to the host; None: all its weights learn
    frozen: int = 0  # layers of the host at the bottom, with the word vectors, that never learn
    batch_tokens: int = 2048  # tokens a batch, padding included
    linker_rate: float = 1e-3
    graft_rate: float = 1e-4
    host_rate: float = 2e-5  # below the first graft
    above_rate: float = 5e-5  # above it
    head_rate: float = 5e-4  # of the head that says what masked words were
    weight_decay: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        passes = {"linker_epochs": PASSES_OR_NONE, "epochs": PASSES_OR_NONE, "patience": PASSES}
        sizes = {"rank": RANK, "frozen": (0, 1000), "batch_tokens": SIZE}
        rates = dict.fromkeys(RATES, RATE)
        check_ranges(self, {**passes, **sizes, **rates, "weight_decay": (0, 1), "seed": SEED})
        for name in ("masked", "told"):
            if not 0 <= getattr(self, name) <= 1:
                said = f"{name} is {getattr(self, name)}"
                raise BadInput(said, remedy="give a share from 0 to 1")
        if self.loss not in (None, "likelihood", "margin"):
            raise BadInput(f"no loss is called {self.loss}", remedy="choose likelihood or margin")

    @property
    def all_epochs(self) -> int:
        """How many epochs there are in all."""
        return self.linker_epochs + self.epochs

    @property
    def masks(self) -> bool:
        """Whether any batch is read with masked words."""
        return bool(self.masked and self.epochs)

    def unknowing(self) -> GraftSettings:
        """Return the settings of a training of the same length without knowledge."""
        return replace(self, linker_epochs=0, epochs=self.all_epochs, masked=1.0, told=0.0)

    def changed(self, **changes: Any) -> GraftSettings:  # noqa: ANN401
        """Return the settings with those changed that are not None."""
        return replace(self, **{name: x for name, x in changes.items() if x is not None})
