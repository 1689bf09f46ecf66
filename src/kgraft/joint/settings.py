"""How a joint model is built and pre-trained."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from kgraft.errors import BadInput
from kgraft.ranges import PASSES, RATE, SEED, SIZE, WEIGHT, check_ranges
from kgraft.vectors.graph_attention import GraphAttentionSettings
from kgraft.vectors.memory import RefreshSettings

LOSSES = ("words", "mentions", "categories", "relations")


@dataclass(frozen=True)
class JointConfig:
    """The shape of a joint model."""

    cut: int | None = None  # the last layer of LM1; None: half of the layers
    attention: GraphAttentionSettings = field(default_factory=GraphAttentionSettings)
    fan_out: tuple[int, ...] = (8, 4)  # edges looked at for an entity, hop by hop
    categories: int = 50  # the most frequent types

    def __post_init__(self) -> None:
        if len(self.fan_out) != self.attention.layers:
            said = f"{len(self.fan_out)} fan-outs for {self.attention.layers} layers"
            raise BadInput(said, remedy="give one for each layer of graph attention")


@dataclass(frozen=True)
class Weights:
    """How much each of the four losses counts; one of weight 0 is left out."""

    words: float = 1.0  # masked tokens
    mentions: float = 1.0  # masked entities
    categories: float = 1.0  # entity category
    relations: float = 1.0  # relation between two entities

    def __post_init__(self) -> None:
        check_ranges(self, dict.fromkeys(LOSSES, WEIGHT))
        if not any(getattr(self, name) for name in LOSSES):
            raise BadInput("none of the four losses counts", remedy="give one some weight")


@dataclass(frozen=True)
class PretrainSettings:
    """Settings of joint pre-training."""

    epochs: int = 1  # passes over the texts
    batch_tokens: int = 2048  # of a batch of texts, padding included
    roots: int = 64  # entities from which walks begin, a batch
    walk: int = 1  # steps of a walk
    masked_mentions: float = 0.15  # share of the mentions that lose their entity
    neighbours: int = 8  # of a masked entity that it is told from
    strangers: int = 64  # other entities, drawn for all of a batch
    weights: Weights = field(default_factory=Weights)
    refreshing: RefreshSettings = field(default_factory=RefreshSettings)
    language_rate: float = 5e-5
    knowledge_rate: float = 5e-4
    head_rate: float = 5e-4
    weight_decay: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = ("batch_tokens", "roots", "walk", "neighbours", "strangers")
        rates = ("language_rate", "knowledge_rate", "head_rate")
        check_ranges(self, {**dict.fromkeys(sizes, SIZE), **dict.fromkeys(rates, RATE)})
        check_ranges(self, {"epochs": PASSES, "weight_decay": (0, 1), "seed": SEED})
        if not 0 <= self.masked_mentions <= 1:
            said = f"masked_mentions is {self.masked_mentions}"
            raise BadInput(said, remedy="give a share from 0 to 1")

    def changed(self, **changes: Any) -> PretrainSettings:
        """Return the settings with those changed that are not None."""
        return replace(self, **{name: x for name, x in changes.items() if x is not None})


def config_of(told: dict[str, Any]) -> JointConfig:
    """Return the config that was written as a dictionary."""
    held = {f.name: told[f.name] for f in fields(JointConfig)}
    attention = GraphAttentionSettings(**held.pop("attention"))
    return JointConfig(attention=attention, **held | {"fan_out": tuple(held["fan_out"])})
