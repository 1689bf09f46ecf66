"""How a joint model is built and pre-trained."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from kgraft.errors import BadInput
from kgraft.settings import COUNT, EPOCHS, FRACTION, RATE, SIZE, WEIGHT, Settings, setting
from kgraft.training import TrainingSettings
from kgraft.vectors import GraphAttentionSettings, RefreshSettings


@dataclass(frozen=True)
class JointConfig(Settings):
    """The shape of a joint model."""

    cut: int | None = setting(
        None, "The last layer that reads without the graph; by default half of them.", (1, 1000)
    )
    attention: GraphAttentionSettings = field(default_factory=GraphAttentionSettings)
    fan_out: tuple[int, ...] = setting((8, 4), "Edges per entity that are sampled by hop.", SIZE)
    categories: int = setting(50, "Types that are learned, the most frequent.", COUNT, option="")
    max_length: int | None = setting(None, "Tokens that are read at once.", SIZE, option="")

    def check(self) -> None:
        """Refuse another number of hops than layers."""
        if len(self.fan_out) != self.attention.layers:
            reason = f"{len(self.fan_out)} fan-outs for {self.attention.layers} layers"
            raise BadInput(reason, remedy="give one for each layer of graph attention")


@dataclass(frozen=True)
class Weights(Settings):
    """How much each of the four losses counts; one of weight 0 is left out."""

    words: float = setting(1.0, "Weight of the loss of masked words.", WEIGHT)
    mentions: float = setting(1.0, "Weight of the loss of masked entities.", WEIGHT)
    categories: float = setting(1.0, "Weight of the loss of entity categories.", WEIGHT)
    relations: float = setting(1.0, "Weight of the loss of relations.", WEIGHT)

    def check(self) -> None:
        """Refuse weights that are all 0."""
        if not any(getattr(self, weight.name) for weight in fields(self)):
            raise BadInput("none of the four losses counts", remedy="give one some weight")


@dataclass(frozen=True)
class PretrainSettings(TrainingSettings):
    """Settings of joint pre-training."""

    epochs: int = setting(1, "Passes over the texts, at most.", EPOCHS)
    batch_tokens: int = setting(2048, "Tokens per batch of texts, padding included.", SIZE)
    roots: int = setting(64, "Entities per batch from which walks begin.", SIZE)
    walk: int = setting(1, "Steps of a walk.", SIZE)
    masked_mentions: float = setting(
        0.15, "Fraction of the mentions whose entity is masked.", FRACTION
    )
    neighbours: int = setting(8, "Neighbours among the candidates of a masked entity.", SIZE)
    random_negatives: int = setting(
        64, "Random entities among the candidates, drawn once per batch.", SIZE
    )
    weights: Weights = field(default_factory=Weights)
    refresh: RefreshSettings = field(default_factory=RefreshSettings)
    language_rate: float = setting(5e-5, "Learning rate of the language module.", RATE)
    knowledge_rate: float = setting(5e-4, "Learning rate of the knowledge module.", RATE)
    head_rate: float = setting(5e-4, "Learning rate of the heads.", RATE)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", FRACTION)
