"""Training writes a linker that opens, survives kills, and is never worse than before."""

import errno
import json
import os
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.corpus.texts import annotated_texts
from tests.graph.tiny import examples
from tests.link.tiny import disturbed, link_model

from kgraft.corpus import annotate
from kgraft.errors import BadInput, KgraftError
from kgraft.link import read_adaptation
from kgraft.link.knowledge import Knowledge
from kgraft.link.linker import Linker
from kgraft.link.model import WEIGHTS, LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.task import LinkTask
from kgraft.link.train import new_model, train_linker
from kgraft.link.training_texts import FULL, TrainingTexts
from kgraft.storage import MODEL_MANIFEST
from kgraft.training import Diverged

QUICK = LinkSettings(rank=2, epochs=2, batch_tokens=400, learning_rate=2e-3, fully_annotated=True)
EMPTY = annotated_texts([], *np.zeros((4, 0), np.int64))


@pytest.fixture
def run(graph, encoder_folder, marked_texts, tmp_path):
    """Train: `run(name, **options)` returns the epochs."""

    def run(name="linker", data=None, *, model=None, valid=True, knowledge=None, **options):
        learnt, held_out = (marked_texts if data is None else data).hold_out()
        model = model or link_model(encoder_folder)
        knowledge = knowledge or Knowledge(graph, model.entity_encoder)
        texts = [TrainingTexts(knowledge, learnt, FULL)]
        held_out = [TrainingTexts(knowledge, held_out, FULL)] if valid else []
        options = {"settings": QUICK, "valid": held_out, **options}
        return list(train_linker(model, texts, tmp_path / name, **options))

    return run


def bits(out):
    return {name: (out / name).read_bytes() for name in (WEIGHTS, MODEL_MANIFEST)}


def adaptation(out):
    return read_adaptation(out).to_dict()


def validating(monkeypatch, figures):
    """Let validations give these weak F1, one after the other; return the states they saw."""
    values, states = iter(figures), []

    def validate(self):
        states.append({name: tensor.clone() for name, tensor in self.model.small_state().items()})
        value = next(values)
        return {"weak_f1": value, "strong_f1": value, "threshold": round(value / 2, 3)}

    monkeypatch.setattr(LinkTask, "validate", validate)
    return states


@pytest.mark.slow
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
    log = (tmp_path / "linker" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in log] == [1, 2]
    assert {path.name for path in tmp_path.iterdir()} == {"linker"}


@pytest.mark.slow
def test_two_runs_give_the_same_bits_and_another_seed_others(run, tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        run(name, settings=replace(QUICK, epochs=1, seed=seed), valid=False)
    assert bits(tmp_path / "one") == bits(tmp_path / "two")
    assert bits(tmp_path / "one")[WEIGHTS] != bits(tmp_path / "other")[WEIGHTS]


def test_training_continues_from_a_model(run, tmp_path, encoder_folder):
    begun = disturbed(link_model(encoder_folder))
    state = {name: tensor.clone() for name, tensor in begun.small_state().items()}
    settings = replace(QUICK, epochs=1, learning_rate=1e-9, head_rate=1e-9, weight_decay=0.0)
    run(model=begun, settings=settings, valid=False)
    ended = LinkModel.from_pretrained(tmp_path / "linker").small_state()
    for name, tensor in state.items():
        torch.testing.assert_close(ended[name], tensor, atol=1e-6, rtol=0)


def test_without_validation_texts_it_learns_to_the_end(run, tmp_path):
    epochs = run(valid=False)
    assert [epoch.figures for epoch in epochs] == [{}, {}]
    assert LinkModel.from_pretrained(tmp_path / "linker").config.threshold == 0.35
    outcome = adaptation(tmp_path / "linker")
    assert outcome == {"before": {}, "after": {}, "improved": True}


def test_a_large_set_is_gone_through_in_parts(run):
    epochs = run(settings=replace(QUICK, part=10, epochs=1))
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4]  # 36 texts
    assert [bool(epoch.figures) for epoch in epochs] == [False, False, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("part", [10, 100])
def test_it_stops_after_some_validations_without_a_better_one(run, monkeypatch, part):
    validating(monkeypatch, [0.1, 0.5, 0.4, 0.4, *[0.5] * 20])
    epochs = run(settings=replace(QUICK, part=part, epochs=9, patience=2))
    validated = [epoch for epoch in epochs if epoch.figures]
    assert [epoch.figures["weak_f1"] for epoch in validated] == [0.5, 0.4, 0.4]


# Never for the worse


def test_the_best_state_is_written_with_its_threshold(run, tmp_path, monkeypatch):
    """Before training 0.3, then 0.9 and 0.2: the first epoch was the best."""
    states = validating(monkeypatch, [0.3, 0.9, 0.2, 0.9])
    run()
    written = load_file(tmp_path / "linker" / WEIGHTS)
    assert all(torch.equal(written[name], tensor) for name, tensor in states[1].items())
    assert not torch.equal(written["mark.weight"], states[2]["mark.weight"])
    assert LinkModel.from_pretrained(tmp_path / "linker").config.threshold == 0.45
    outcome = adaptation(tmp_path / "linker")
    assert outcome["improved"] is True
    assert (outcome["before"]["weak_f1"], outcome["after"]["weak_f1"]) == (0.3, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("begun", ["fresh", "trained"])
def test_where_training_does_not_help_the_model_is_written_as_it_was(
    run, graph, tmp_path, monkeypatch, encoder_folder, begun
):
    model = link_model(encoder_folder)
    model = disturbed(model) if begun == "trained" else model
    text = "We went from Berlin to Texas by train."
    before = [(k.surface, k.score) for k in Linker(graph, model)(text, threshold=0)]
    with monkeypatch.context() as patch:
        validating(patch, [0.8, 0.7, 0.6, 0.7])
        run(model=model)
    outcome = adaptation(tmp_path / "linker")
    assert outcome["improved"] is False
    assert (outcome["before"]["weak_f1"], outcome["after"]["weak_f1"]) == (0.8, 0.7)
    written = Linker(graph, tmp_path / "linker")
    assert written.threshold == 0.4  # that of the figures before
    after = [(k.surface, k.score) for k in written(text, threshold=0)]
    assert [name for name, _ in after] == [name for name, _ in before]
    assert [s for _, s in after] == pytest.approx([s for _, s in before], abs=1e-5)


@pytest.mark.parametrize(("errors_ahead", "improved"), [(0.0, True), (20.0, False)])
def test_a_gain_may_have_to_exceed_some_standard_errors(
    run, tmp_path, monkeypatch, errors_ahead, improved
):
    validating(monkeypatch, [0.8, 0.9, 0.9, 0.9])
    run(errors_ahead=errors_ahead)
    outcome = adaptation(tmp_path / "linker")
    assert outcome["improved"] is improved


def test_what_is_written_is_as_good_as_figures_say(run, graph, tmp_path, marked_texts):
    from kgraft.link.evaluate import best_threshold, score_texts

    run()
    outcome = adaptation(tmp_path / "linker")
    kept = outcome["after"] if outcome["improved"] else outcome["before"]
    model = LinkModel.from_pretrained(tmp_path / "linker")
    _, valid = marked_texts.hold_out()
    knowledge = Knowledge(graph, model.entity_encoder)
    scored = score_texts(model, knowledge, valid.texts)
    figures = best_threshold(scored, valid, partial=False, near=kept["threshold"])
    assert figures == pytest.approx(kept)
    assert kept["weak_f1"] >= outcome["before"]["weak_f1"]


# What is refused


@pytest.mark.parametrize("texts", [[], ["Paris"]])
def test_texts_without_mentions_are_refused(knowledge, model, tmp_path, texts):
    data = annotated_texts(texts, *np.zeros((4, 0), np.int64))
    with pytest.raises(BadInput):
        list(train_linker(model, [TrainingTexts(knowledge, data)], tmp_path / "linker"))
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_refused_before_any_training(run, tmp_path, monkeypatch):
    (tmp_path / "linker").mkdir()
    monkeypatch.setattr(LinkTask, "step", None)
    with pytest.raises(BadInput):
        run()
    with pytest.raises(BadInput):
        run(overwrite=True)


def test_a_linker_is_replaced_when_the_new_one_is_complete(run, tmp_path):
    settings = replace(QUICK, epochs=1)
    run(settings=settings, valid=False)
    before = bits(tmp_path / "linker")
    run(settings=replace(settings, seed=1), overwrite=True, valid=False)
    assert bits(tmp_path / "linker") != before
    assert {path.name for path in tmp_path.iterdir()} == {"linker"}


def test_a_loss_that_is_no_number_stops_training(run, tmp_path, monkeypatch):
    from kgraft.link import task

    monkeypatch.setattr(task, "mention_loss", lambda *given: torch.tensor(float("nan")))
    with pytest.raises(Diverged, match=r"0\.00067"):
        run()
    assert not (tmp_path / "linker").exists()


@pytest.mark.slow
def test_other_settings_begin_again_with_overwrite(run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        die_at(patch, LinkTask, "validate", 3)
        with pytest.raises(Killed):
            run()
    other = replace(QUICK, learning_rate=1e-3)
    with pytest.raises(BadInput, match=r"learning_rate 0\.002 → 0\.001"):
        run(settings=other)
    assert [epoch.number for epoch in run(settings=other, overwrite=True)] == [1, 2]
    run("plain", settings=other)
    assert bits(tmp_path / "linker") == bits(tmp_path / "plain")


@pytest.mark.slow
@pytest.mark.parametrize("change", ["model", "texts"])
def test_a_run_is_not_resumed_with_another_model_or_other_texts(
    run, graph, encoder_folder, knowledge, monkeypatch, change
):
    with monkeypatch.context() as patch:
        die_at(patch, LinkTask, "validate", 3)
        with pytest.raises(Killed):
            run()
    other = annotate(graph, examples(30))
    options = {
        "model": {"model": link_model(encoder_folder, seed=4)},
        "texts": {"data": other},
    }[change]
    with pytest.raises(BadInput, match="other settings"):
        run(**options)


# Interruptions


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


MOMENTS = (
    (LinkTask, "step", 5),
    (LinkTask, "validate", 2),
    (LinkModel, "save_pretrained", 1),
)


@pytest.mark.slow
@pytest.mark.parametrize("indexed", [False, True])
def test_a_training_that_died_ends_with_the_same_bits(
    run, graph, model, tmp_path, own_cache, monkeypatch, indexed
):
    """Within an epoch, at a validation, and when the model is written."""
    monkeypatch.setattr("kgraft.link.reading.FLOOR", 0.0)
    knowledge = Knowledge(graph, model.entity_encoder)
    if indexed:
        knowledge.build_index()
    options = {
        "data": annotate(graph, examples(12)),
        "settings": replace(QUICK, batch_tokens=64, part=8),
        "knowledge": knowledge,
        "checkpoint_minutes": 0.0,
    }
    run("straight", **options)
    moments = MOMENTS[:1] if indexed else MOMENTS  # what is found differs within an epoch only
    for number, (owner, name, call) in enumerate(moments):
        out = f"{name}{number}"
        with monkeypatch.context() as patch:
            die_at(patch, owner, name, call)
            with pytest.raises(Killed):
                run(out, **options)
        assert not (tmp_path / out).exists()
        run(out, **options)
        assert bits(tmp_path / out) == bits(tmp_path / "straight"), (name, call)


@pytest.mark.slow
def test_ctrl_c_keeps_the_step_that_was_done(run, tmp_path, monkeypatch):
    settings = replace(QUICK, batch_tokens=100)
    run("straight", settings=settings)
    step, calls = LinkTask.step, count(1)

    def interrupted(self, batch, place):
        losses = step(self, batch, place)
        if next(calls) == 3:
            os.kill(os.getpid(), 2)
        return losses

    with monkeypatch.context() as patch:
        patch.setattr(LinkTask, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(settings=settings)
    places = []
    noted = lambda self, batch, place: places.append(place) or step(self, batch, place)  # noqa: E731
    monkeypatch.setattr(LinkTask, "step", noted)
    run(settings=settings)
    assert places[0] == 3
    assert bits(tmp_path / "linker") == bits(tmp_path / "straight")


@pytest.mark.slow
def test_a_full_disk_at_the_end_loses_nothing(run, tmp_path, monkeypatch):
    def full_disk(*given, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(LinkModel, "save_pretrained", full_disk)
        with pytest.raises(KgraftError, match="No space left"):
            run()
    assert {path.name for path in tmp_path.iterdir()} == {"linker.training"}
    assert run() == []  # nothing is trained again
    run("straight")
    assert bits(tmp_path / "linker") == bits(tmp_path / "straight")


def test_a_new_model_has_the_rank_and_seed_of_the_settings(encoder_folder):
    model, other = (new_model(str(encoder_folder), LinkSettings(rank=3, seed=s)) for s in (1, 2))
    assert model.config.rank == 3
    assert model.digest() != other.digest()
