"""Two processes under `accelerate launch` pre-train one model."""

import json
import shutil

import pytest
import torch
from tests.graft.tiny import build
from tests.joint.together import run
from tests.training.test_processes import launch

from kgraft.joint import JointModel


@pytest.fixture(scope="module")
def folders(host_folder, tmp_path_factory):
    """Folders of what one process and of what two have learned."""
    pytest.importorskip("accelerate")
    alone, together = (tmp_path_factory.mktemp(name) for name in ("alone", "together"))
    for folder in (alone, together):
        build(folder / "graph")
        shutil.copytree(host_folder, folder / "host")
    run(alone)
    launch("tests.joint.together", together)
    return alone, together


@pytest.mark.slow
def test_both_learn(folders):
    for folder in folders:
        lines = (folder / "model" / "log.jsonl").read_text().splitlines()
        epochs = [line for line in map(json.loads, lines) if "losses" in line]
        assert [line["epoch"] for line in epochs] == [1, 2, 3, 4]
        assert epochs[-1]["figures"]["perplexity"] < epochs[0]["figures"]["perplexity"]


@pytest.mark.slow
def test_the_models_are_alike_but_not_the_same(folders):
    one, two = (JointModel.from_pretrained(folder / "model").state_dict() for folder in folders)
    assert one.keys() == two.keys()
    assert all(tensor.isfinite().all() for tensor in two.values())
    assert not all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.slow
def test_nothing_but_the_model_is_left(folders):
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {"graph", "host", "model"}
