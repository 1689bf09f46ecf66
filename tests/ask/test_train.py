"""An answerer is trained, saved, and loaded again."""

import copy

import pytest
import torch
from tests.ask.tiny_questions import CONFIG, QUICK, write_questions

from kgraft.ask import Answerer, measure_answers, train_answerer
from kgraft.errors import BadInput, NotFound
from kgraft.joint import FineTuning, JointModel
from kgraft.training import read_manifest


@pytest.fixture
def tuning(model, graph, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    return FineTuning(model, graph)


def trained(tuning, questions, out, settings=QUICK, **options):
    return list(
        train_answerer(
            tuning, questions, questions, out, settings=settings, config=CONFIG, **options
        )
    )


def load(folder, graph):
    return Answerer.from_pretrained(folder, graph=graph)


def test_it_answers_as_before(tuning, questions, graph, tmp_path):
    (epoch,) = trained(tuning, questions, tmp_path / "out", model_facts={"seed": 5})
    assert set(epoch.figures) == {"hits"}
    loaded = load(tmp_path / "out", graph)
    assert loaded.config == CONFIG
    assert loaded.right(questions).mean() == pytest.approx(epoch.figures["hits"])
    for answered in loaded.answer(questions):
        assert all(len(answer.path) for answer in answered.answers)
    assert not (tmp_path / "out.training").exists()
    assert read_manifest(tmp_path / "out", Answerer).facts["model"] == {"seed": 5}
    assert JointModel.from_pretrained(tmp_path / "out" / "joint").config == tuning.model.config


def test_what_was_read_before_is_not_read_again(tuning, questions, graph, tmp_path):
    """Training leaves LM1 as it was."""
    trained(tuning, questions, tmp_path / "out")
    assert load(tmp_path / "out", graph).memory.folder == tuning.memory.folder


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bits(tuning, questions, graph, tmp_path):
    two, before = QUICK.replace(epochs=2), copy.deepcopy(tuning.model)
    trained(tuning, questions, tmp_path / "whole", settings=two)
    out = tmp_path / "killed"
    killed = FineTuning(copy.deepcopy(before), graph)
    run = train_answerer(killed, questions, questions, out, settings=two, config=CONFIG)
    assert next(run).number == 1
    run.close()
    resumed = trained(FineTuning(before, graph), questions, out, settings=two)
    assert [epoch.number for epoch in resumed] == [2]
    one, other = (load(tmp_path / name, graph).state_dict() for name in ("whole", "killed"))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_an_answerer_that_is_there_stays(tuning, questions, tmp_path):
    trained(tuning, questions, tmp_path / "out")
    with pytest.raises(BadInput, match="out"):
        trained(tuning, questions, tmp_path / "out")
    assert trained(tuning, questions, tmp_path / "out", overwrite=True)


def test_no_answerer(tuning, questions, graph, tmp_path):
    with pytest.raises(NotFound):
        load(tmp_path, graph)
    trained(tuning, questions, tmp_path / "out")
    walker = tmp_path / "out" / "walker.safetensors"
    walker.write_bytes(walker.read_bytes()[:-8])
    with pytest.raises(BadInput, match=r"walker\.safetensors"):
        load(tmp_path / "out", graph)
    (tmp_path / "out" / "kgraft.json").unlink()
    (tmp_path / "out" / "questions.json").write_text("{}")
    with pytest.raises(BadInput, match="format 1"):
        load(tmp_path / "out", graph)


@pytest.mark.slow
def test_measured_on_the_files_of_a_folder(tuning, tmp_path):
    for name in ("train", "dev", "test"):
        write_questions(tmp_path / f"{name}.jsonl")
    right = measure_answers(tuning, tmp_path, settings=QUICK, config=CONFIG)
    assert right.shape == (9,)
    assert right.dtype == bool
