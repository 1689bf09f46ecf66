"""Every model has a preset for any graph, and presets are whole settings."""

from types import SimpleNamespace

import pytest

from kgraft.embed.models import MODELS
from kgraft.embed.presets import LARGE, PRESETS, preset_settings
from kgraft.errors import BadInput


@pytest.mark.parametrize("model", MODELS.names())
def test_each_model_has_a_preset(model):
    assert preset_settings(model).model == model


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_settings_of_the_model_they_are_named_after(name):
    assert preset_settings(name).model == name.partition("-")[0]


def sized(entities, triples):
    """Return what a preset looks at in a graph."""
    return SimpleNamespace(manifest=SimpleNamespace(entities=entities, splits={"train": triples}))


@pytest.mark.parametrize("model", MODELS.names())
def test_a_large_graph_is_learnt_from_samples(model):
    assert preset_settings(model, sized(LARGE, 10**6)) == preset_settings(model)
    assert preset_settings(model, sized(LARGE + 1, 10**6)).loss != "softmax"


def test_a_small_graph_has_small_batches():
    batches = [preset_settings("complex", sized(100, n)).batch for n in (10, 30_000, 10**6)]
    assert batches == [64, 300, 1024]


def test_tuned_presets_are_taken_as_they_are():
    for name in PRESETS.keys() - set(MODELS):
        assert preset_settings(name, sized(10**9, 10)) == preset_settings(name)


def test_unknown_presets_are_refused():
    with pytest.raises(BadInput, match="'transx'"):
        preset_settings("transx")
