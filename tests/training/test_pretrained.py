"""Models come back as they were saved, and other folders are refused."""

import json
from dataclasses import dataclass

import pytest
import torch
from safetensors.torch import load_file

from kgraft.errors import BadInput, NotFound
from kgraft.settings import SIZE, Settings, setting
from kgraft.storage import MODEL_MANIFEST, Kind, new_folder
from kgraft.tensors import write_tensors
from kgraft.training import Pretrained
from kgraft.training.pretrained import read_manifest


@dataclass(frozen=True)
class ScaleConfig(Settings):
    """One size."""

    size: int = setting(3, "Numbers.", SIZE)


class Scale(Pretrained):
    """A model of one tensor, which needs a name to be loaded."""

    kind = Kind("scale", MODEL_MANIFEST)
    format = 2
    made_by = "kgraft scale train"
    config_class = ScaleConfig

    def __init__(self, config, weight, name):
        self.config, self.weight, self.name = config, weight, name

    def _write_files(self, folder):
        write_tensors(folder / "model.safetensors", {"weight": self.weight})

    @classmethod
    def _read_files(cls, folder, config, manifest, *, name):
        weight = load_file(folder / "model.safetensors")["weight"]
        if len(weight) != config.size:
            raise ValueError("its weight is of another size")
        return cls(config, weight, name)


class Other(Scale):
    """Another kind of model."""

    kind = Kind("other scale", MODEL_MANIFEST)


@pytest.fixture
def saved(tmp_path):
    model = Scale(ScaleConfig(), torch.arange(3.0), "a")
    model.save_pretrained(tmp_path / "scale", facts={"seed": 7})
    return tmp_path / "scale"


def edit(folder, **changes):
    path = folder / MODEL_MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_model_comes_back(saved):
    model = Scale.from_pretrained(saved, name="b")
    assert (model.config, model.name) == (ScaleConfig(), "b")
    assert torch.equal(model.weight, torch.arange(3.0))
    assert read_manifest(saved, Scale).facts == {"seed": 7}


def test_what_is_not_there_or_of_another_kind_is_refused(saved, tmp_path):
    with pytest.raises(NotFound):
        Scale.from_pretrained(tmp_path / "nothing", name="a")
    with pytest.raises(BadInput, match="is a scale, not a other scale"):
        Other.from_pretrained(saved, name="a")


@pytest.mark.parametrize("number", [1, 3, "2", None])
def test_other_formats_are_refused(saved, number):
    edit(saved, format=number)
    with pytest.raises(BadInput, match=f"format {number}"):
        Scale.from_pretrained(saved, name="a")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "scale", "what": 1}'])
def test_a_damaged_manifest_is_refused(saved, text):
    (saved / MODEL_MANIFEST).write_text(text)
    with pytest.raises(BadInput):
        Scale.from_pretrained(saved, name="a")


@pytest.mark.parametrize("config", [{"size": 0}, {"size": "3"}, {"width": 3}, [], {"size": 4}])
def test_a_config_that_does_not_fit_is_refused(saved, config):
    edit(saved, config=config)
    with pytest.raises(BadInput):
        Scale.from_pretrained(saved, name="a")


def test_swapped_changed_and_missing_files_are_refused(saved):
    path = saved / "model.safetensors"
    whole = path.read_bytes()
    for content in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b""):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=path.name):
            Scale.from_pretrained(saved, name="a")
    path.unlink()
    with pytest.raises(BadInput, match="missing"):
        Scale.from_pretrained(saved, name="a")


def test_only_a_model_of_the_same_kind_is_overwritten(saved):
    with pytest.raises(BadInput), new_folder(saved, Other.kind, overwrite=True):
        pass
    with new_folder(saved, Scale.kind, overwrite=True) as folder:
        Scale(ScaleConfig(2), torch.zeros(2), "a").save_pretrained(folder)
    assert len(Scale.from_pretrained(saved, name="a").weight) == 2
