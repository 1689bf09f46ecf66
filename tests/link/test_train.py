"""Training writes a linker that opens, comes out the same every time, and survives kills."""

import errno
import json
import os
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.link.tiny import examples

from kgraft.errors import BadInput
from kgraft.graph.annotated import Annotated, annotate, split_texts
from kgraft.link import train as training
from kgraft.link.linker import Linker
from kgraft.link.model import WEIGHTS, LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.train import run_folder, train_linker
from kgraft.link.trainee import LinkTrainee
from kgraft.training import Diverged, Schedule

QUICK = LinkSettings(rank=2, epochs=2, batch_tokens=400, learning_rate=2e-3)
EMPTY = Annotated([], *np.zeros((4, 0), np.int64))


@pytest.fixture
def run(graph, encoder_folder, marked_texts, tmp_path):
    """Train: `run(name, **options)` returns the epochs."""

    def run(name="linker", data=None, **options):
        learnt, valid = split_texts(marked_texts if data is None else data)
        options = {"settings": QUICK, "valid": valid, "encoder": str(encoder_folder)} | options
        return list(train_linker(graph, learnt, tmp_path / name, **options))

    return run


def bits(out):
    return {name: (out / name).read_bytes() for name in (WEIGHTS, "config.json")}


def test_a_linker_opens_what_training_wrote(run, graph, tmp_path, encoder_folder):
    epochs = run()
    assert [epoch.number for epoch in epochs] == [1, 2]
    assert epochs[1].losses["loss"] < epochs[0].losses["loss"]
    linker = Linker(graph, tmp_path / "linker")
    best = max(epochs, key=lambda epoch: epoch.figures["weak_f1"])
    assert linker.threshold == best.figures["threshold"]
    text = "We went from Berlin to Texas by train."
    assert all(text[k.start : k.end] == k.surface for k in linker(text, threshold=0))
    assert linker.model.config.encoder == str(encoder_folder)
    assert linker.model.config.rank == QUICK.rank
    log = (tmp_path / "linker" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in log] == [1, 2]
    assert {path.name for path in tmp_path.iterdir()} == {"linker"}


def test_two_runs_give_the_same_bits_and_another_seed_others(run, tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        run(name, settings=replace(QUICK, epochs=1, seed=seed))
    assert bits(tmp_path / "one") == bits(tmp_path / "two")
    assert bits(tmp_path / "one")[WEIGHTS] != bits(tmp_path / "other")[WEIGHTS]


def test_training_goes_on_from_a_model(run, tmp_path):
    run("first", settings=replace(QUICK, epochs=1))
    begun = LinkModel.from_pretrained(tmp_path / "first").small_state()
    run("second", start=tmp_path / "first", settings=replace(QUICK, epochs=1, learning_rate=1e-9))
    ended = LinkModel.from_pretrained(tmp_path / "second").small_state()
    for name, tensor in begun.items():
        torch.testing.assert_close(ended[name], tensor, atol=1e-6, rtol=0)


@pytest.mark.parametrize("valid", [None, EMPTY])
def test_without_validation_texts_it_learns_to_the_end(run, tmp_path, valid):
    epochs = run(valid=valid)
    assert [epoch.figures for epoch in epochs] == [{}, {}]
    assert LinkModel.from_pretrained(tmp_path / "linker").config.threshold == 0.5


def test_a_large_set_is_gone_through_in_parts(run):
    epochs = run(settings=replace(QUICK, part=10, epochs=1))
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4]  # 36 texts


@pytest.mark.parametrize("texts", [[], ["Paris"]])
def test_texts_without_mentions_are_refused(graph, tmp_path, texts):
    data = Annotated(texts, *np.zeros((4, 0), np.int64))
    with pytest.raises(BadInput, match="no mention is marked in the texts; mark some"):
        list(train_linker(graph, data, tmp_path / "linker"))
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_refused_before_any_training(run, tmp_path, monkeypatch):
    (tmp_path / "linker").mkdir()
    monkeypatch.setattr(LinkTrainee, "step", None)
    with pytest.raises(BadInput, match=r"linker exists already; name another folder or pass --ov"):
        run()
    with pytest.raises(BadInput, match=r"linker is no link model, so it is not overwritten"):
        run(overwrite=True)


def test_a_linker_is_replaced_when_the_new_one_is_whole(run, tmp_path, graph):
    one = replace(QUICK, epochs=1)
    run(settings=one)
    before = bits(tmp_path / "linker")
    run(settings=replace(one, seed=1), overwrite=True)
    assert bits(tmp_path / "linker") != before
    assert {path.name for path in tmp_path.iterdir()} == {"linker"}


def leave_off(graph, data, out, **options):
    """Train an epoch and stop."""
    begun = train_linker(graph, data, out, **options)
    next(begun)
    begun.close()


def test_other_settings_begin_anew_with_overwrite(
    run, graph, marked_texts, encoder_folder, tmp_path
):
    learnt, valid = split_texts(marked_texts)
    options = {"valid": valid, "encoder": str(encoder_folder)}
    leave_off(graph, learnt, tmp_path / "linker", settings=QUICK, **options)
    other = replace(QUICK, learning_rate=1e-3)
    with pytest.raises(BadInput, match=r"other settings: learning_rate 0.002 → 0.001; .*overwrite"):
        run(settings=other)
    assert [epoch.number for epoch in run(settings=other, overwrite=True)] == [1, 2]
    run("plain", settings=other)
    assert bits(tmp_path / "linker") == bits(tmp_path / "plain")


def test_a_full_disk_at_the_end_loses_nothing(run, tmp_path, monkeypatch):
    def full_disk(*given, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(LinkModel, "save_pretrained", full_disk)
        with pytest.raises(OSError, match="No space left"):
            run()
    assert {path.name for path in tmp_path.iterdir()} == {"linker.training"}
    assert run() == []  # nothing is trained again
    run("whole")
    assert bits(tmp_path / "linker") == bits(tmp_path / "whole")


def test_a_loss_that_is_no_number_stops_training(run, tmp_path):
    with pytest.raises(Diverged, match=r"lower the learning rate: --learning-rate 3.3e\+29"):
        run(settings=replace(QUICK, learning_rate=1e30))
    assert not (tmp_path / "linker").exists()


def test_the_best_epoch_is_written(run, tmp_path, monkeypatch):
    """Validation says that the first of two epochs was the best."""
    figures, seen = iter([0.9, 0.2, 0.9]), []

    def validate(self):
        seen.append({name: tensor.clone() for name, tensor in self.model.small_state().items()})
        return {"weak_f1": next(figures), "threshold": 0.15}

    monkeypatch.setattr(LinkTrainee, "validate", validate)
    run()
    written = load_file(tmp_path / "linker" / WEIGHTS)
    assert all(torch.equal(written[name], tensor) for name, tensor in seen[0].items())
    assert not torch.equal(written["mark.weight"], seen[1]["mark.weight"])
    assert LinkModel.from_pretrained(tmp_path / "linker").config.threshold == 0.15


class Killed(BaseException):
    """What nobody catches: the end of a process, as far as its files are concerned."""


def die_at(patch, owner, name, call):
    """Replace a function by one that dies when it is called for the `call`-th time."""
    before, calls = getattr(owner, name), count(1)

    def counted(*given, **options):
        if next(calls) == call:
            raise Killed
        return before(*given, **options)

    patch.setattr(owner, name, counted)


def test_a_training_that_died_ends_with_the_same_bits(run, graph, tmp_path, monkeypatch):
    """In the middle of the second epoch, at a validation, and when the model is written."""
    monkeypatch.setattr(training, "Schedule", partial(Schedule, checkpoint_minutes=0.0))
    data = annotate(graph, examples(12))
    settings = replace(QUICK, batch_tokens=64, part=8)
    run("whole", data, settings=settings)
    moments = (
        (LinkTrainee, "step", 5),
        (LinkTrainee, "validate", 2),
        (LinkModel, "save_pretrained", 1),
    )
    for owner, name, call in moments:
        with monkeypatch.context() as patch:
            die_at(patch, owner, name, call)
            with pytest.raises(Killed):
                run(name, data, settings=settings)
        assert not (tmp_path / name).exists()
        run(name, data, settings=settings)
        assert bits(tmp_path / name) == bits(tmp_path / "whole"), name


def test_a_run_lies_beside_its_linker():
    assert run_folder(Path("models/mine")) == Path("models/mine.training")
