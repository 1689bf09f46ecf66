"""Every model has a preset for any graph, and presets are whole settings."""

import pytest

from kgraft.embed.models import MODELS
from kgraft.embed.presets import LARGE, PRESETS, preset_settings
from kgraft.errors import BadInput


@pytest.mark.parametrize("model", MODELS)
def test_each_model_has_a_preset(model):
    assert preset_settings(model).model == model


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_settings_of_the_model_they_are_named_after(name):
    assert preset_settings(name).model == name.partition("-")[0]


@pytest.mark.parametrize("model", MODELS)
def test_a_large_graph_is_learnt_from_samples(model):
    assert preset_settings(model, entities=LARGE).loss == preset_settings(model).loss
    assert preset_settings(model, entities=LARGE + 1).loss != "softmax"


def test_unknown_presets_are_refused():
    with pytest.raises(BadInput, match="no model or preset is named 'transx'; there are complex"):
        preset_settings("transx")
