"""The settings of one training: every choice, with its meaning, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import inf
from typing import Any

from kgraft.embed.model import Model
from kgraft.embed.models import MODELS
from kgraft.embed.similarity import PRODUCTS
from kgraft.errors import BadInput
from kgraft.ranges import (
    PASSES,
    PASSES_OR_NONE,
    RATE,
    SEED,
    SIZE,
    WEIGHT,
    Range,
    check_ranges,
)

LOSSES = ("softmax", "sampled-softmax", "self-adversarial", "margin")
CORRUPTIONS = ("both", "uniform", "bernoulli")
OPTIMISERS = ("adagrad", "adam")
REGULARISERS = ("n3", "l2", "dura")


@dataclass(frozen=True)
class Settings:
    """All choices of a training; `presets.py` holds good ones for each model."""

    model: str = "complex"
    similarity: str = "dot"  # dot, squared, l2, l1 or modulus: what the model allows
    dimension: int = 256  # real numbers an entity (a complex number takes two)
    reciprocal: bool = True  # a vector of its own for each relation asked backwards

    loss: str = "softmax"  # softmax over all entities, or one of the losses with negatives
    finish: int = 0  # last epochs of another loss that end with softmax over all entities
    negatives: int = 256  # wrong answers a query, for the losses with negatives
    chunk: int = 128  # queries that share their negatives, so that scoring is a matrix product
    corruption: str = "both"  # ends asked for: both, or one, drawn evenly (uniform) or bernoulli
    margin: float = 9.0  # γ of the margin and the self-adversarial loss
    temperature: float = 1.0  # α of the self-adversarial loss

    regulariser: str = "n3"  # of the vectors of a batch: n3 Σ|x|³, l2 Σx², dura Σx² of queries too
    entity_weight: float = 0.0  # weight of the regulariser on entities
    relation_weight: float = 0.0  # and on relations
    dropout: float = 0.0  # share of a query's coordinates left out in training

    optimiser: str = "adagrad"
    learning_rate: float = 0.1
    final_rate: float = 1.0  # share of the learning rate left at the last epoch, reached evenly
    batch: int = 1024  # queries (softmax) or triples (the other losses) an update
    epochs: int = 100
    patience: int = 5  # validations without a better MRR before training stops
    validate_every: int = 1  # epochs
    scale: float = 1e-3  # standard deviation of the first vectors
    seed: int = 0

    def __post_init__(self) -> None:
        for wrong in self._wrong():
            raise BadInput(wrong)
        check_ranges(self, _RANGES)

    def _wrong(self) -> list[str]:
        """Return what is wrong with the settings, the remedy included."""
        kinds = [_wrong_kind(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        if any(kinds):
            return [problem for problem in kinds if problem]
        model = MODELS.get(self.model)
        if model is None:
            return [f"no model is named {self.model!r}; there are {', '.join(MODELS)}"]
        problems = [
            _not_among("similarity", self.similarity, model.similarities, f" for {self.model}"),
            _not_among("loss", self.loss, LOSSES),
            _not_among("corruption", self.corruption, CORRUPTIONS),
            _not_among("optimiser", self.optimiser, OPTIMISERS),
            _not_among("regulariser", self.regulariser, REGULARISERS),
            model.check(self.dimension),
            self._too_slow(),
            self._no_size(model),
            f"dropout is {self.dropout}, but must be below 1" if self.dropout >= 1 else None,
            *(_not_positive(name, getattr(self, name)) for name in _POSITIVE),
            *(_negative(name, getattr(self, name)) for name in _NOT_NEGATIVE),
        ]
        return [problem for problem in problems if problem]

    def _too_slow(self) -> str | None:
        if not (self.loss == "softmax" or self.finish) or self.similarity in PRODUCTS:
            return None
        return (
            f"similarity {self.similarity} is no matrix product, too slow for softmax over all "
            "entities; choose another similarity, or the loss sampled-softmax or self-adversarial "
            "to the end"
        )

    def _no_size(self, model: Model) -> str | None:
        if model.free_relations or not self.relation_weight:
            return None
        return f"relations of {self.model} have no size to keep small; relation_weight must be 0"

    def changed(self, **changes: Any) -> Settings:  # noqa: ANN401
        """Return these settings with those that are not None replaced."""
        return replace(self, **{name: v for name, v in changes.items() if v is not None})

    def in_words(self) -> str:
        """Say the main settings, for people."""
        return (
            f"{self.dimension} dimensions, {self.similarity}, {self.loss} loss, {self.optimiser} "
            f"{self.learning_rate:g}, batches of {self.batch}, at most {self.epochs} epochs"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as they are stored."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Settings:
        """Read stored settings."""
        unknown = stored.keys() - {field.name for field in fields(cls)}
        if unknown:
            raise BadInput(f"the setting {min(unknown)!r} is not known; update kgraft")
        return cls(**stored)


_POSITIVE = ("negatives", "chunk", "learning_rate", "batch", "epochs", "patience", "scale",
             "validate_every")  # fmt: skip
_NOT_NEGATIVE = ("entity_weight", "relation_weight", "dropout", "temperature", "margin", "seed",
                 "final_rate", "finish")  # fmt: skip


_RANGES: dict[str, Range] = {
    "dimension": (1, 1 << 16),
    **dict.fromkeys(("negatives", "chunk", "batch"), SIZE),
    **dict.fromkeys(("epochs", "patience", "validate_every"), PASSES),
    "finish": PASSES_OR_NONE,
    **dict.fromkeys(("learning_rate", "scale"), RATE),
    "final_rate": (0, 1000),
    **dict.fromkeys(("entity_weight", "relation_weight", "temperature", "margin"), WEIGHT),
    "seed": SEED,
}

_KINDS = {str: "a name", int: "a whole number", float: "a number", bool: "true or false"}


def _not_among(what: str, value: str, allowed: tuple[str, ...], where: str = "") -> str | None:
    if value in allowed:
        return None
    return f"no {what}{where} is named {value!r}; choose one of {', '.join(allowed)}"


def _not_positive(name: str, value: float) -> str | None:
    return None if 0 < value < inf else f"{name} is {value}, but must be a number above 0"


def _negative(name: str, value: float) -> str | None:
    return None if 0 <= value < inf else f"{name} is {value}, but must be a number not below 0"


def _wrong_kind(name: str, value: object, usual: object) -> str | None:
    """Say so if a value is of another kind than the usual one; whole numbers are numbers too."""
    if type(value) is type(usual) or (type(usual) is float and type(value) is int):
        return None
    return f"{name} is {value!r}, but must be {_KINDS[type(usual)]}"
