"""Settings: each bad one is refused in one line, good ones come back from JSON as they were."""

import json

import pytest

from kgraft.embed.settings import LOSSES, Settings
from kgraft.errors import BadInput

BAD = [
    ({"model": "conve"}, "no model is named 'conve'; there are complex, distmult, rotate, transe"),
    (
        {"similarity": "l2"},
        "no similarity for complex is named 'l2'; choose one of dot",
    ),
    ({"loss": "hinge"}, f"no loss is named 'hinge'; choose one of {', '.join(LOSSES)}"),
    (
        {"corruption": "none"},
        "no corruption is named 'none'; choose one of both, uniform, bernoulli",
    ),
    ({"optimiser": "sgd"}, "no optimiser is named 'sgd'; choose one of adagrad, adam"),
    ({"regulariser": "l1"}, "no regulariser is named 'l1'; choose one of n3, l2, dura"),
    ({"dimension": 5}, "complex needs an even dimension (two halves a complex number)"),
    ({"dimension": 0}, "the dimension is 0, but at least 1 is needed"),
    (
        {"model": "rotate", "similarity": "modulus"},
        "similarity modulus is no matrix product, too slow for softmax over all entities; choose "
        "another similarity, or the loss sampled-softmax or self-adversarial to the end",
    ),
    (
        {"model": "transe", "similarity": "l1", "loss": "margin", "finish": 1},
        "similarity l1 is no matrix product, too slow for softmax over all entities; choose "
        "another similarity, or the loss sampled-softmax or self-adversarial to the end",
    ),
    (
        {"model": "rotate", "similarity": "l2", "relation_weight": 0.1},
        "relations of rotate have no size to keep small; relation_weight must be 0",
    ),
    ({"dropout": 1.0}, "dropout is 1.0, but must be below 1"),
    ({"dimension": "64"}, "dimension is '64', but must be a whole number"),
    ({"epochs": 2.5}, "epochs is 2.5, but must be a whole number"),
    ({"epochs": True}, "epochs is True, but must be a whole number"),
    ({"margin": "wide"}, "margin is 'wide', but must be a number"),
    ({"reciprocal": 1}, "reciprocal is 1, but must be true or false"),
    ({"loss": None}, "loss is None, but must be a name"),
]
ABOVE = ("negatives", "chunk", "batch", "epochs", "patience", "validate_every")
ABOVE_REAL = ("learning_rate", "scale")
NOT_BELOW = ("entity_weight", "relation_weight", "dropout", "temperature", "margin", "final_rate")
BAD += [({name: 0}, f"{name} is 0, but must be a number above 0") for name in ABOVE + ABOVE_REAL]
BAD += [
    ({name: value}, f"{name} is {value}, but must be a number above 0")
    for name in ABOVE_REAL
    for value in (-1.0, float("nan"), float("inf"))
]
BAD += [
    ({name: value}, f"{name} is {value}, but must be a number not below 0")
    for name in NOT_BELOW
    for value in (-0.5, float("nan"))
]
BAD += [({"finish": -1}, "finish is -1, but must be a number not below 0")]
BAD += [({"seed": -1}, "seed is -1, but must be a number not below 0")]
BAD += [({"dimension": 10**12}, "dimension is 1000000000000; give 1 to 65536")]
BAD += [({"learning_rate": 1e300}, "learning_rate is 1e+300; give 1e-12 to 1000")]
BAD += [({"epochs": 10**40}, "epochs is 10000000000000000000… (41 digits); give 1 to 1e+06")]
BAD += [({"seed": 1 << 64}, "seed is 18446744073709551616; give 0 to ")]


@pytest.mark.parametrize(("changes", "line"), BAD, ids=[str(changes) for changes, _ in BAD])
def test_a_bad_setting_is_refused_in_one_line(changes, line):
    with pytest.raises(BadInput) as refused:
        Settings(**changes)
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(model="transe", similarity="l1", loss="margin", dimension=7, dropout=0.25),
        Settings(model="rotate", similarity="modulus", loss="self-adversarial", margin=6),
    ],
)
def test_json_and_back(settings):
    stored = json.loads(json.dumps(settings.as_dict()))
    assert Settings.from_dict(stored) == settings


def test_settings_of_a_later_kgraft_are_refused():
    with pytest.raises(BadInput, match=r"^the setting 'quantum' is not known; update kgraft$"):
        Settings.from_dict({**Settings().as_dict(), "quantum": 1})


def test_settings_of_an_earlier_kgraft_get_the_usual_values():
    assert Settings.from_dict({"model": "distmult"}) == Settings(model="distmult")


def test_stored_settings_are_checked_too():
    with pytest.raises(BadInput, match="batch is 0"):
        Settings.from_dict({"batch": 0})


def test_changes_of_none_change_nothing():
    settings = Settings(epochs=7)
    assert settings.changed(epochs=None, batch=None) == settings
    assert settings.changed(epochs=8, batch=None) == Settings(epochs=8)
    with pytest.raises(BadInput, match="batch is 0"):
        settings.changed(batch=0)


def test_settings_in_words():
    assert Settings(learning_rate=0.05, epochs=9).in_words() == (
        "256 dimensions, dot, softmax loss, adagrad 0.05, batches of 1024, at most 9 epochs"
    )
