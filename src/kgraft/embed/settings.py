"""The settings of one training: every choice, with its meaning, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.errors import BadInput
from kgraft.settings import EPOCHS, EPOCHS_OR_NONE, FRACTION, RATE, SIZE, WEIGHT, setting
from kgraft.training import TrainingSettings

LOSSES = ("softmax", "sampled-softmax", "self-adversarial", "margin")
CORRUPTIONS = ("both", "uniform", "bernoulli")
OPTIMISERS = ("adagrad", "adam")
REGULARISERS = ("n3", "l2", "dura")
SIMILARITIES = ("dot", "squared", "l2", "l1", "modulus")
MATRIX_PRODUCTS = ("dot", "squared", "l2")  # similarities that are one, and so are fast


@dataclass(frozen=True)
class EmbedSettings(TrainingSettings):
    """All choices of a training; `presets.py` holds good ones for each model."""

    model: str = setting(
        "complex", "The model: transe, rotate, distmult, complex or pairre.", option=""
    )
    similarity: str = setting(
        "dot", "How a query is compared, of those the model allows.", choices=SIMILARITIES
    )
    dimension: int = setting(
        256, "Numbers per entity; a complex coordinate takes two.", (1, 1 << 16)
    )
    reciprocal: bool = setting(True, "Learn a vector for each inverse relation, too.")

    loss: str = setting("softmax", "Over all entities, or against negatives.", choices=LOSSES)
    finish: int = setting(
        0, "Last epochs of another loss that use softmax over all entities.", EPOCHS_OR_NONE
    )
    negatives: int = setting(256, "Wrong answers per query, where the loss draws them.", SIZE)
    chunk: int = setting(128, "Queries that share their negatives.", SIZE)
    corruption: str = setting(
        "both", "Which sides of a triple are predicted: both, or one drawn.", choices=CORRUPTIONS
    )
    margin: float = setting(9.0, "γ of the margin and the self-adversarial loss.", WEIGHT)
    temperature: float = setting(1.0, "α of the self-adversarial loss.", WEIGHT)

    regulariser: str = setting("n3", "What keeps vectors small.", choices=REGULARISERS)
    entity_weight: float = setting(0.0, "Weight of the regulariser on entities.", WEIGHT)
    relation_weight: float = setting(0.0, "Weight of the regulariser on relations.", WEIGHT)
    dropout: float = setting(0.0, "Fraction of a query's coordinates left out.", FRACTION)

    optimiser: str = setting("adagrad", "How the vectors are updated.", choices=OPTIMISERS)
    learning_rate: float = setting(0.1, "Size of a step.", RATE)
    final_rate: float = setting(
        1.0, "Fraction of the learning rate left at the last epoch.", (0, 1000)
    )
    batch: int = setting(1024, "Queries (softmax) or triples (other losses) per update.", SIZE)
    scale: float = setting(1e-3, "Standard deviation of the first vectors.", RATE)
    epochs: int = setting(100, "Passes over the triples, at most.", EPOCHS)
    patience: int | None = 5

    def check(self) -> None:
        """Refuse what the model does not allow, and losses that would take too long."""
        from kgraft.embed.models import MODELS

        model = MODELS[self.model]
        if self.similarity not in model.similarities:
            raise BadInput(
                f"similarity is {self.similarity!r}",
                remedy=f"{self.model} takes one of {', '.join(model.similarities)}",
            )
        model.check_dimension(self.dimension)
        uses_softmax = self.loss == "softmax" or self.finish
        if uses_softmax and self.similarity not in MATRIX_PRODUCTS:
            raise BadInput(
                f"similarity {self.similarity} is not a matrix product, too slow for softmax over "
                "all entities",
                remedy="choose another similarity or loss, with finish 0",
            )
        if self.relation_weight and not model.free_relations:
            reason = f"relations of {self.model} have no size to keep small"
            raise BadInput(reason, remedy="let relation_weight be 0")
        if self.dropout == 1:
            raise BadInput("dropout is 1", remedy="give less than 1")

    def summary(self) -> str:
        """Return the main settings in one line."""
        return (
            f"{self.dimension} dimensions, {self.similarity}, {self.loss} loss, {self.optimiser} "
            f"{self.learning_rate:g}, batches of {self.batch}, at most {self.epochs} epochs"
        )
