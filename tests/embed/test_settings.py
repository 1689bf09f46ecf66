"""Settings: each bad one is refused in one line, good ones come back from JSON as they were."""

import json

import pytest

from kgraft.embed.settings import EmbedSettings
from kgraft.errors import BadInput

BAD = [
    {"model": "conve"},
    {"similarity": "l2"},
    {"similarity": "cosine"},
    {"loss": "hinge"},
    {"corruption": "none"},
    {"optimiser": "sgd"},
    {"regulariser": "l1"},
    {"dimension": 5},
    {"dimension": 0},
    {"dimension": 10**12},
    {"similarity": "modulus", "model": "rotate"},
    {"similarity": "l1", "model": "transe", "loss": "margin", "finish": 1},
    {"relation_weight": 0.1, "model": "rotate", "similarity": "l2"},
    {"dropout": 1.0},
    {"dimension": "64"},
    {"epochs": 2.5},
    {"epochs": True},
    {"epochs": 10**40},
    {"margin": "wide"},
    {"reciprocal": 1},
    {"loss": None},
    {"finish": -1},
    {"seed": -1},
    {"seed": 1 << 64},
    {"learning_rate": 1e300},
]
ABOVE = ("negatives", "chunk", "batch", "epochs", "patience", "validate_every")
ABOVE_REAL = ("learning_rate", "scale")
NOT_BELOW = ("entity_weight", "relation_weight", "dropout", "temperature", "margin", "final_rate")
BAD += [{name: 0} for name in ABOVE + ABOVE_REAL]
BAD += [{n: x} for n in ABOVE_REAL for x in (-1.0, float("nan"), float("inf"))]
BAD += [{n: x} for n in NOT_BELOW for x in (-0.5, float("nan"))]


@pytest.mark.parametrize("changes", BAD, ids=str)
def test_a_bad_setting_is_refused_in_one_line(changes):
    with pytest.raises(BadInput, match=next(iter(changes))) as refused:
        EmbedSettings(**changes)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "settings",
    [
        EmbedSettings(),
        EmbedSettings(model="transe", similarity="l1", loss="margin", dimension=7, dropout=0.25),
        EmbedSettings(model="rotate", similarity="modulus", loss="self-adversarial", margin=6),
    ],
)
def test_json_and_back(settings):
    stored = json.loads(json.dumps(settings.to_dict()))
    assert EmbedSettings.from_dict(stored) == settings


def test_settings_of_a_later_kgraft_are_refused():
    with pytest.raises(BadInput, match="quantum"):
        EmbedSettings.from_dict({**EmbedSettings().to_dict(), "quantum": 1})


def test_settings_of_an_earlier_kgraft_get_the_usual_values():
    assert EmbedSettings.from_dict({"model": "distmult"}) == EmbedSettings(model="distmult")


def test_stored_settings_are_checked_too():
    with pytest.raises(BadInput, match="batch is 0"):
        EmbedSettings.from_dict({"batch": 0})


def test_changes_of_none_change_nothing():
    settings = EmbedSettings(epochs=7)
    assert settings.replace(epochs=None, batch=None) == settings
    assert settings.replace(epochs=8, batch=None) == EmbedSettings(epochs=8)
    with pytest.raises(BadInput, match="batch is 0"):
        settings.replace(batch=0)


def test_settings_summary():
    assert EmbedSettings(learning_rate=0.05, epochs=9).summary() == (
        "256 dimensions, dot, softmax loss, adagrad 0.05, batches of 1024, at most 9 epochs"
    )
