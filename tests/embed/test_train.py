"""Training: it learns, comes out the same every time, and loses nothing when it fails."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.embed.killed import CALLS, DELAYS, KINDS
from tests.embed.tiny import build, quick

from kgraft.embed import train as training
from kgraft.embed.models import MODELS
from kgraft.embed.predictor import LinkPredictor
from kgraft.embed.settings import LOSSES, MATRIX_PRODUCTS, EmbedSettings
from kgraft.embed.task import EmbedTask
from kgraft.embed.train import train_embedding
from kgraft.errors import BadInput, KgraftError
from kgraft.measure.ranking import PROTOCOL
from kgraft.settings import field_specs
from kgraft.training import Diverged
from kgraft.training import checkpoint as checkpoints
from kgraft.training.checkpoint import read_checkpoint
from kgraft.training.run_folder import run_folder
from kgraft.vectors import read_vectors

ROOT = Path(__file__).parents[2]
RESULT = ("entities.safetensors", "relations.safetensors", "kgraft.json")
LEARNT = [
    (model.name, similarity, loss)
    for model in [MODELS[name] for name in MODELS]
    for similarity in model.similarities
    for loss in LOSSES
    if (similarity in MATRIX_PRODUCTS or loss != "softmax")
    and (
        similarity == model.similarities[0]
        or loss == ("softmax" if similarity in MATRIX_PRODUCTS else "self-adversarial")
    )
]
SHORT = {"epochs": 2, "validate_every": 1, "dimension": 8}


def bits(out):
    return {name: (out / name).read_bytes() for name in RESULT}


def run(graph, settings, out, **options):
    return list(train_embedding(graph, settings, out, **options))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "similarity", "loss"), LEARNT)
def test_every_model_learns_by_every_loss(desks, tmp_path, model, similarity, loss):
    settings = quick(model, similarity=similarity, loss=loss)
    epochs = run(desks, settings, tmp_path / "vectors")
    assert epochs[-1].losses["loss"] < 0.8 * epochs[0].losses["loss"]
    found = LinkPredictor.from_pretrained(tmp_path / "vectors", desks)
    assert found.stored.facts["valid"]["mrr"] > 0.7  # by chance it is 0.1
    assert found.rank("test").figures()["mrr"] > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"reciprocal": False},
        {"optimiser": "adam", "learning_rate": 0.03},
        {"loss": "margin", "corruption": "uniform"},
        {"loss": "sampled-softmax", "corruption": "bernoulli"},
        {"regulariser": "n3", "relation_weight": 0.01},
        {"dropout": 0.2},
        {"final_rate": 0.1},
    ],
    ids=str,
)
def test_other_choices_learn_too(desks, tmp_path, changes):
    run(desks, quick("distmult", **changes), tmp_path / "vectors")
    assert read_vectors(tmp_path / "vectors").facts["valid"]["mrr"] > 0.7


def test_two_runs_give_the_same_bits_and_another_seed_others(desks, tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        settings = quick("rotate", similarity="modulus", loss="margin", seed=seed, **SHORT)
        run(desks, settings, tmp_path / name)
    assert bits(tmp_path / "one") == bits(tmp_path / "two")
    first, other = bits(tmp_path / "one"), bits(tmp_path / "other")
    assert all(first[name] != other[name] for name in RESULT)


def test_the_folder_says_how_it_was_made(desks, tmp_path):
    settings = quick(**SHORT)
    epochs = run(desks, settings, tmp_path / "vectors")
    stored = read_vectors(tmp_path / "vectors")
    assert stored.config.version == desks.manifest.version
    assert stored.entity_ids.to_pylist() == desks.entities["id"].to_pylist()
    assert stored.facts["settings"] == settings.to_dict()
    assert stored.facts["model"] == "complex"
    assert stored.facts["protocol"] == PROTOCOL
    assert stored.facts["held_out"] == 0
    best = max(epoch.figures["mrr"] for epoch in epochs)
    assert stored.facts["valid"]["mrr"] == pytest.approx(best)
    assert (tmp_path / "vectors" / "log.jsonl").read_text().count('"epoch"') == 2
    assert {path.name for path in tmp_path.iterdir()} == {"vectors"}


def test_a_graph_without_valid_triples_is_learnt_to_the_end(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", "b"), ("b", "r", "c")])
    epochs = run(graph, quick(**SHORT, patience=1), tmp_path / "vectors")
    assert [epoch.figures for epoch in epochs] == [{}, {}]
    facts = read_vectors(tmp_path / "vectors").facts
    assert facts["valid"] == {}
    assert facts["calibration"] is None


@pytest.mark.slow
def test_kills_at_any_moment_change_nothing(desks, tmp_path):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.embed.killed", str(desks.folder), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    moments = 1 + sum(len(calls) for _, _, calls in CALLS) + len(DELAYS)
    for kind in KINDS:
        left = (".training", ".lock")  # of a run killed after its result was written
        runs = [path for path in tmp_path.glob(f"{kind}-*") if path.suffix not in left]
        assert len(runs) == moments
        expected = bits(tmp_path / f"{kind}-undisturbed")
        for folder in runs:
            assert bits(folder) == expected, folder.name
    assert not list(tmp_path.glob("*partial*"))


def test_leaving_off_and_going_on_gives_the_same_bits(desks, tmp_path):
    settings = quick(**SHORT)
    run(desks, settings, tmp_path / "whole")
    begun = train_embedding(desks, settings, tmp_path / "parts")
    assert next(begun).number == 1
    begun.close()
    assert [epoch.number for epoch in run(desks, settings, tmp_path / "parts")] == [2]
    assert bits(tmp_path / "parts") == bits(tmp_path / "whole")


@pytest.fixture
def any_rate(monkeypatch):
    """Let settings have a learning rate at which every training diverges."""
    spec = replace(field_specs(EmbedSettings)["learning_rate"], limits=(0, 1e40))
    monkeypatch.setitem(field_specs(EmbedSettings), "learning_rate", spec)


@pytest.mark.parametrize("loss", ["softmax", "margin"])
@pytest.mark.usefixtures("any_rate")
def test_a_loss_that_is_no_number_stops_training(desks, tmp_path, loss):
    settings = quick(loss=loss, learning_rate=1e30, batch=32, **SHORT)
    out = tmp_path / "vectors"
    with pytest.raises(Diverged) as diverged:
        run(desks, settings, out, checkpoint_minutes=0.0)
    error = diverged.value
    assert (error.epoch, error.step, error.checkpoint) == (1, 2, 1)
    assert error.remedy == "lower the learning rate: --learning-rate 3.3e+29"
    assert not out.exists()
    state, _ = read_checkpoint(run_folder(out) / "checkpoint.safetensors")
    assert all(tensor.isfinite().all() for tensor in state.values())


@pytest.mark.usefixtures("any_rate")
def test_scores_that_are_no_numbers_stop_training_too(desks, tmp_path):
    """One batch an epoch: the vectors are finite, but validation already overflows."""
    settings = quick(learning_rate=1e30, batch=4096, **SHORT)
    with pytest.raises(Diverged, match="mrr is nan"):
        run(desks, settings, tmp_path / "vectors")


@pytest.mark.usefixtures("any_rate")
def test_other_settings_begin_anew_with_overwrite(desks, tmp_path):
    out = tmp_path / "vectors"
    with pytest.raises(Diverged):
        run(desks, quick(learning_rate=1e30, **SHORT), out, checkpoint_minutes=0.0)
    lower = quick(learning_rate=0.1, **SHORT)
    with pytest.raises(BadInput) as refused:
        run(desks, lower, out)
    assert refused.value.file == f"{out}.training"
    assert "learning_rate 1e+30 → 0.1" in str(refused.value)
    run(desks, lower, out, overwrite=True)
    run(desks, lower, tmp_path / "plain")
    assert bits(out) == bits(tmp_path / "plain")


def test_overwrite_goes_on_with_the_same_settings(desks, tmp_path):
    out, settings = tmp_path / "vectors", quick(**SHORT)
    begun = train_embedding(desks, settings, out, overwrite=True)
    next(begun)
    begun.close()
    assert [e.number for e in run(desks, settings, out, overwrite=True)] == [2]


def test_a_damaged_run_begins_anew_with_overwrite(desks, tmp_path):
    out, settings = tmp_path / "vectors", quick(**SHORT)
    begun = train_embedding(desks, settings, out)
    next(begun)
    begun.close()
    (run_folder(out) / "checkpoint.safetensors").write_bytes(b"half")
    with pytest.raises(KgraftError, match="damaged"):
        run(desks, settings, out)
    assert [e.number for e in run(desks, settings, out, overwrite=True)] == [1, 2]


def full_disk(*given, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_at_a_checkpoint_loses_nothing(desks, tmp_path, monkeypatch):
    settings, out = quick(**SHORT), tmp_path / "vectors"
    begun = train_embedding(desks, settings, out)
    step = next(begun).step
    kept = (run_folder(out) / "checkpoint.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_tensors", full_disk)
        with pytest.raises(KgraftError) as failed:
            next(begun)
    assert f"(step {step})" in str(failed.value)
    assert (run_folder(out) / "checkpoint.safetensors").read_bytes() == kept
    assert not out.exists()
    run(desks, settings, out)
    run(desks, settings, tmp_path / "whole")
    assert bits(out) == bits(tmp_path / "whole")


def test_a_full_disk_at_the_end_loses_nothing(desks, tmp_path, monkeypatch):
    settings, out = quick(**SHORT), tmp_path / "vectors"
    with monkeypatch.context() as patch:
        patch.setattr("kgraft.vectors.folder.write_tensors", full_disk)
        with pytest.raises(KgraftError) as failed:
            run(desks, settings, out)
    assert str(failed.value).startswith(f"{out}: ")
    assert {path.name for path in tmp_path.iterdir()} == {"vectors.training"}
    assert run(desks, settings, out) == []  # nothing is trained again
    run(desks, settings, tmp_path / "whole")
    assert bits(out) == bits(tmp_path / "whole")


def test_what_is_there_is_refused_before_any_training(desks, tmp_path, monkeypatch):
    out, other = tmp_path / "vectors", tmp_path / "letters"
    run(desks, quick(**SHORT), out)
    other.mkdir()
    before = bits(out)
    monkeypatch.setattr(EmbedTask, "step", full_disk)
    with pytest.raises(BadInput):
        run(desks, quick(**SHORT, seed=1), out)
    with pytest.raises(BadInput):
        run(desks, quick(**SHORT, seed=1), other, overwrite=True)
    assert bits(out) == before
    assert {path.name for path in tmp_path.iterdir()} == {"vectors", "letters"}


def test_vectors_are_replaced_when_the_new_ones_are_whole(desks, tmp_path):
    out = tmp_path / "vectors"
    run(desks, quick(**SHORT), out)
    before = bits(out)
    replacing = train_embedding(desks, quick(**SHORT, seed=1), out, overwrite=True)
    next(replacing)
    assert bits(out) == before
    list(replacing)
    assert bits(out) != before


def test_an_empty_train_split_is_refused(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", "b", "valid")])
    with pytest.raises(BadInput):
        run(graph, quick(), tmp_path / "vectors")
    assert {path.name for path in tmp_path.iterdir()} == {"graph"}


def test_the_best_vectors_are_written(desks, tmp_path, monkeypatch):
    """Validation says that the first of three epochs was the best."""
    figures = iter([{"mrr": 0.9}, {"mrr": 0.2}, {"mrr": 0.1}])
    monkeypatch.setattr(EmbedTask, "validate", lambda self: next(figures, {"mrr": 0.9}))
    run(desks, quick(**SHORT).replace(epochs=3), tmp_path / "vectors")
    monkeypatch.setattr(EmbedTask, "validate", lambda self: {"mrr": 0.9})
    one = quick(**SHORT).replace(epochs=1)
    run(desks, one, tmp_path / "one")
    names = [name for name in RESULT if name.endswith(".safetensors")]
    for name in names:
        found, expected = (load_file(tmp_path / out / name) for out in ("vectors", "one"))
        assert torch.equal(found["vectors"], expected["vectors"])
    assert not run_folder(tmp_path / "vectors").exists()


def test_vectors_that_no_memory_holds_are_refused(desks, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "memory", lambda: 10_000.0)
    with pytest.raises(BadInput, match="give a smaller dimension"):
        run(desks, quick("complex", dimension=1 << 16), tmp_path / "vectors")
    assert list(tmp_path.iterdir()) == []
