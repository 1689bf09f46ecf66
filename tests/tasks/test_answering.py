"""An answerer is fine-tuned, kept, and taken up again."""

import copy
import json
from dataclasses import replace

import pytest
import torch
from tests.tasks.asked import QUICK

from kgraft.errors import BadInput, NotFound
from kgraft.joint import load_joint
from kgraft.tasks.answering import load_answerer, train_answerer
from kgraft.tasks.joint_tasks import FineTuning


@pytest.fixture
def tuning(model, graph, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    return FineTuning(model, graph)


def trained(tuning, asked, out, **options):
    return list(train_answerer(tuning, asked, asked, out, settings=QUICK, **options))


def test_it_answers_as_before(tuning, asked, graph, tmp_path):
    (epoch,) = trained(tuning, asked, tmp_path / "out")
    assert set(epoch.figures) == {"hits"}
    loaded = load_answerer(tmp_path / "out", graph)
    assert loaded.right(asked).mean() == pytest.approx(epoch.figures["hits"])
    for answers in loaded.answers(asked):
        assert all(answer.path for answer in answers)
    assert not (tmp_path / "out.training").exists()
    assert load_joint(tmp_path / "out").config == tuning.model.config


def test_what_was_read_before_is_not_read_again(tuning, asked, graph, tmp_path):
    """Fine-tuning leaves LM1 as it was."""
    trained(tuning, asked, tmp_path / "out")
    before = tuning.memory.folder
    assert load_answerer(tmp_path / "out", graph).memory.folder == before


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bits(tuning, asked, graph, tmp_path):
    two, before = replace(QUICK, epochs=2), copy.deepcopy(tuning.model)
    list(train_answerer(tuning, asked, asked, tmp_path / "whole", settings=two))
    out = tmp_path / "killed"
    given_up = train_answerer(
        FineTuning(copy.deepcopy(before), graph), asked, asked, out, settings=two
    )
    assert next(given_up).number == 1
    given_up.close()
    again = train_answerer(FineTuning(before, graph), asked, asked, out, settings=two)
    assert [epoch.number for epoch in again] == [2]
    whole, killed = (load_answerer(tmp_path / name, graph) for name in ("whole", "killed"))
    for name, tensor in whole.walker.state_dict().items():
        assert torch.equal(tensor, killed.walker.state_dict()[name])


def test_what_is_there_stays(tuning, asked, tmp_path):
    trained(tuning, asked, tmp_path / "out")
    with pytest.raises(BadInput, match="exists already"):
        trained(tuning, asked, tmp_path / "out")
    assert trained(tuning, asked, tmp_path / "out", overwrite=True)


def test_no_answerer(tuning, asked, graph, tmp_path):
    with pytest.raises(NotFound, match="no answerer at"):
        load_answerer(tmp_path, graph)
    trained(tuning, asked, tmp_path / "out")
    walker = tmp_path / "out" / "walker.safetensors"
    walker.write_bytes(walker.read_bytes()[:-8])
    with pytest.raises(BadInput, match=r"walker\.safetensors: cannot be read"):
        load_answerer(tmp_path / "out", graph)
    stored = json.loads((tmp_path / "out" / "questions.json").read_text())
    odd = {"seed": "x", "hops": 1.5, "most": None, "epochs": 10**20}
    for told in ([], {}, *({**stored, name: value} for name, value in odd.items())):
        (tmp_path / "out" / "questions.json").write_text(json.dumps(told))
        with pytest.raises(BadInput, match=r"cannot be read|epochs is 1000"):
            load_answerer(tmp_path / "out", graph)
