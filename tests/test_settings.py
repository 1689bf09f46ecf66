"""Settings check their values, come back from JSON, and keep what a base class says of a field."""

import json
from dataclasses import dataclass, field, replace

import pytest

from kgraft.errors import BadInput
from kgraft.settings import COUNT, FRACTION, RANK, Settings, field_specs, setting, shorten


@dataclass(frozen=True)
class Weights(Settings):
    """Nested settings."""

    words: float = setting(1.0, "Weight of words.", FRACTION)


@dataclass(frozen=True)
class Walk(Settings):
    """Settings of every kind."""

    steps: int = setting(4, "Steps per walk.", COUNT)
    rank: int | None = setting(None, "Rank.", RANK)
    fan_out: tuple[int, ...] = setting((8, 4), "Edges per hop.", COUNT)
    kind: str = setting("even", "How.", choices=("even", "weighted"))
    back: bool = setting(False, "Also back.")
    weights: Weights = field(default_factory=Weights)

    def check(self):
        if self.back and self.kind == "weighted":
            raise BadInput("kind is weighted", remedy="do not walk back")


@dataclass(frozen=True)
class LongWalk(Walk):
    """Another default, the same range."""

    steps: int = 100


def test_settings_come_back_from_json():
    walk = Walk(5, 3, (1, 2, 3), "weighted", weights=Weights(0.5))
    assert Walk.from_dict(json.loads(json.dumps(walk.to_dict()))) == walk
    assert Walk.from_dict({"steps": 7}) == Walk(7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 0),
        ("steps", 10**60),
        ("steps", 2.0),
        ("steps", True),
        ("steps", None),
        ("rank", 0),
        ("fan_out", (2, 0)),
        ("fan_out", 3),
        ("kind", "odd"),
        ("back", 1),
        ("weights", {"words": 2.0}),
    ],
)
def test_a_value_outside_its_range_or_kind_is_refused(name, value):
    with pytest.raises(BadInput, match=name):
        Walk(**{name: value})
    with pytest.raises(ValueError, match=name):
        replace(Walk(), **{name: value})


@pytest.mark.parametrize("words", [float("nan"), float("inf"), -0.1])
def test_no_range_has_nan(words):
    with pytest.raises(BadInput, match="words"):
        Weights(words)


def test_settings_that_do_not_fit_together_are_refused():
    with pytest.raises(BadInput, match="weighted"):
        Walk(back=True, kind="weighted")


@pytest.mark.parametrize("stored", [{"speed": 3}, {"weights": {"speed": 3}}, [], None])
def test_unknown_settings_are_refused(stored):
    with pytest.raises(BadInput):
        Walk.from_dict(stored)


def test_none_changes_nothing():
    assert Walk().replace(steps=None, rank=3) == Walk(rank=3)


def test_a_subclass_keeps_what_is_said_of_a_field():
    assert LongWalk().steps == 100
    assert field_specs(LongWalk)["steps"] == field_specs(Walk)["steps"]
    with pytest.raises(BadInput, match="steps"):
        LongWalk(steps=0)


def test_long_values_are_shortened():
    assert shorten("a" * 100).endswith("(102 characters)")
