"""Training, stopping and resuming within one process."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from tests.random_inputs import at_most
from tests.training.tiny import STEPS, Tiny, TinySettings, bits, log_lines

from kgraft.errors import BadInput, KgraftError
from kgraft.training import Diverged, Schedule, fit, train_in_memory
from kgraft.training.checkpoint import read_checkpoint, step_of
from kgraft.training.run_folder import RunFolder, run_folder

EVERY_STEP, NEVER = 0.0, 1e9
ROOT = Path(__file__).parents[2]


class Stop(Exception):
    """The process ends here."""


def run(out, epochs=5, task=None, *, minutes=5.0, overwrite=False, **changes):
    """Train to the end; return the task and the epochs."""
    task = task or Tiny()
    chosen = TinySettings(epochs=epochs, **changes)
    return task, list(fit(task, out, chosen, checkpoint_minutes=minutes, overwrite=overwrite))


def checkpoint(out, name="checkpoint"):
    return run_folder(out) / f"{name}.safetensors"


def result(out):
    return bits(load_file(out / "weight.safetensors"))


class Failing(Tiny):
    """Does something else at one step."""

    def __init__(self, at, failure, **options):
        super().__init__(**options)
        self.at, self.failure = at, failure

    def step(self, batch, step):
        losses = super().step(batch, step)
        return self.failure(self, losses) or losses if step == self.at else losses


def stop(task, losses):
    raise Stop


def test_an_epoch_says_what_it_came_to(tmp_path):
    plain = Tiny()
    losses = [
        [plain.step(batch, epoch * STEPS + i) for i, batch in enumerate(plain.batches(epoch))]
        for epoch in range(2)
    ]
    _, (first, second) = run(tmp_path / "out", 2)
    for epoch, expected in zip((first, second), losses, strict=True):
        for name in ("loss", "size"):
            assert epoch.losses[name] == sum(step[name] for step in expected) / STEPS
    assert (first.number, first.step, second.number, second.step) == (1, STEPS, 2, 2 * STEPS)
    assert second.figures == plain.validate()
    assert 0 < first.seconds < second.seconds
    assert second.to_dict()["epoch"] == 2


def test_the_best_state_is_left_and_written(tmp_path):
    task, epochs = run(tmp_path / "out")
    figures = [epoch.figures["mrr"] for epoch in epochs]
    best = max(figures)
    assert figures[-1] < best
    assert task.validate() == task.best_figures == {"mrr": best}
    assert [e.best for e in epochs] == [x == max(figures[: i + 1]) for i, x in enumerate(figures)]
    assert result(tmp_path / "out")["weight"] == bits(task.state())["weight"]
    assert [line["epoch"] for line in log_lines(tmp_path / "out")] == [1, 2, 3, 4, 5]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # the run folder is gone


def test_without_validation_the_last_state_is_left(tmp_path):
    task, epochs = run(tmp_path / "out", 3, Tiny(valid=False))
    assert int(task.updates) == 3 * STEPS
    assert not any(epoch.best or epoch.figures for epoch in epochs)


def test_training_in_memory_gives_the_same_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task, epochs = run(tmp_path / "out")
    other = Tiny()
    again = train_in_memory(other, TinySettings())
    assert bits(other.state()) == bits(task.state())
    assert [epoch.figures for epoch in again] == [epoch.figures for epoch in epochs]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_patience_ends_a_run(tmp_path):
    _, whole = run(tmp_path / "whole", 12)
    _, epochs = run(tmp_path / "patient", 12, patience=2)
    best = [epoch.best for epoch in epochs]
    assert best[-2:] == [False, False]
    assert "00" not in "".join("01"[b] for b in best[:-1])
    assert len(epochs) < len(whole)


def test_validation_is_as_often_as_asked_and_at_the_end(tmp_path):
    _, epochs = run(tmp_path / "out", 5, validate_every=2)
    assert [bool(epoch.figures) for epoch in epochs] == [False, True, False, True, True]


def test_a_result_is_not_overwritten_unless_asked(tmp_path):
    out = tmp_path / "out"
    run(out, 1)
    before = result(out)
    with pytest.raises(BadInput):
        run(out, 2)
    assert result(out) == before
    run(out, 2, overwrite=True)
    assert len(log_lines(out)) == 2
    (out / "kgraft.json").write_text('{"kind": "another model"}')
    with pytest.raises(BadInput):
        run(out, 1, overwrite=True)


def test_a_result_that_cannot_be_written_is_written_later(tmp_path, monkeypatch):
    out = tmp_path / "out"

    def full(self, folder):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Tiny, "save", full)
        with pytest.raises(KgraftError, match="No space left"):
            run(out)
    task, epochs = run(out)
    assert epochs == []
    assert result(out)["weight"] == bits(task.state())["weight"]


@pytest.mark.slow
@settings(max_examples=at_most(40), deadline=None)
@given(
    stops=st.lists(st.integers(0, 4 * STEPS - 1), min_size=1, max_size=4),
    minutes=st.sampled_from([EVERY_STEP, NEVER]),
    every=st.integers(1, 3),
    patience=st.sampled_from([None, 1, 2]),
    valid=st.booleans(),
)
def test_stopping_anywhere_changes_nothing(stops, minutes, every, patience, valid):
    chosen = {"epochs": 4, "patience": patience, "validate_every": every, "minutes": minutes}
    with tempfile.TemporaryDirectory() as name:
        whole, parts = Path(name, "whole"), Path(name, "parts")
        expected, _ = run(whole, task=Tiny(valid=valid), **chosen)
        for step in stops:
            try:
                run(parts, task=Failing(step, stop, valid=valid), **chosen)
            except Stop:
                saved = step_of(checkpoint(parts)) or 0
                assert minutes == NEVER or saved == step
            except BadInput:  # an earlier part has ended and is written
                assert parts.exists()
        if parts.exists():
            found = None
        else:
            found, _ = run(parts, task=Tiny(valid=valid), **chosen)
        assert found is None or bits(found.state()) == bits(expected.state())
        assert result(parts) == result(whole)
        assert log_lines(parts) == log_lines(whole)


def test_the_log_says_where_it_was_resumed(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, task=Failing(6, stop), minutes=EVERY_STEP)
    run(out)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert lines[1] == {"resumed at step": 6}


def test_training_time_is_summed_over_resumed_parts(tmp_path):
    first = next(fit(Tiny(), tmp_path / "out", TinySettings(epochs=2)))
    second = next(fit(Tiny(), tmp_path / "out", TinySettings(epochs=2)))
    assert second.number == 2
    assert second.seconds > first.seconds


@pytest.mark.parametrize(
    ("other", "difference"),
    [({"size": 8}, "size 6 → 8"), ({"task": Tiny(data="v2")}, 'data "v1" → "v2"')],
)
def test_another_run_is_refused_with_what_differs(tmp_path, other, difference):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, task=Failing(6, stop))
    before = checkpoint(out).read_bytes()
    with pytest.raises(BadInput) as refused:
        run(out, **other)
    assert difference in str(refused.value)
    assert checkpoint(out).read_bytes() == before
    run(out, **other, overwrite=True)
    assert not run_folder(out).exists()


def test_overwriting_resumes_a_run_that_can_be_resumed(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, task=Failing(6, stop))
    _, epochs = run(out, overwrite=True)
    assert [epoch.number for epoch in epochs] == [2, 3, 4, 5]


@pytest.mark.slow
def test_a_second_training_in_the_same_folder_is_refused(tmp_path):
    out = tmp_path / "out"
    training = fit(Tiny(), out, TinySettings())
    next(training)
    command = "import sys; from tests.training.tiny import *; from kgraft.training import fit\n"
    command += "list(fit(Tiny(), sys.argv[1], TinySettings()))"
    second = subprocess.run(
        [sys.executable, "-c", command, str(out)], cwd=ROOT, capture_output=True, text=True
    )
    assert "BadInput: another process trains in" in second.stderr
    list(training)
    assert len(log_lines(out)) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_that_never_saved_is_replaced(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, task=Failing(2, stop))
    halves = [run_folder(out) / "checkpoint.safetensors.partial-1", run_folder(out) / ".tmpAbCdEf"]
    for half in halves:
        half.write_bytes(b"half")
    next(fit(Tiny(), out, TinySettings(size=7)))
    assert json.loads((run_folder(out) / "run.json").read_text())["size"] == 7
    assert not any(half.exists() for half in halves)


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_checkpoint_without_its_settings_is_refused(tmp_path, text):
    out = tmp_path / "out"
    next(fit(Tiny(), out, TinySettings()))
    (run_folder(out) / "run.json").unlink()
    if text is not None:
        (run_folder(out) / "run.json").write_text(text)
    with pytest.raises(BadInput) as refused:
        run(out)
    assert refused.value.file == str(run_folder(out) / "run.json")


def test_a_best_state_that_is_missing_or_of_another_moment_is_refused(tmp_path):
    out = tmp_path / "out"
    training = fit(Tiny(), out, TinySettings())
    for _ in range(5):
        next(training)
    training.close()
    best = checkpoint(out, "best")
    before = best.read_bytes()
    best.write_bytes(checkpoint(out).read_bytes())
    with pytest.raises(KgraftError, match="is of step 20"):
        run(out)
    best.unlink()
    with pytest.raises(KgraftError, match="damaged"):
        run(out)
    best.write_bytes(before)
    run(out)


def make_loss_nan(task, losses):
    return {"loss": losses["loss"], "size": float("nan")}


def break_weight(task, losses):
    task.weight[2] = float("inf")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    with pytest.raises(Diverged) as diverged:
        run(tmp_path / "out", task=Failing(6, make_loss_nan))
    error = diverged.value
    assert (error.epoch, error.step, error.checkpoint) == (2, 7, 4)
    assert "size is nan" in str(error)
    with pytest.raises(Diverged) as diverged:
        run(tmp_path / "new", task=Failing(0, make_loss_nan))
    assert diverged.value.checkpoint is None


@pytest.mark.parametrize("minutes", [EVERY_STEP, NEVER])
def test_a_state_that_is_not_finite_is_never_saved(tmp_path, minutes):
    with pytest.raises(Diverged) as diverged:
        run(tmp_path / "out", task=Failing(7, break_weight), minutes=minutes)
    assert (diverged.value.epoch, diverged.value.step) == (2, 8)
    for name in ("checkpoint", "best"):
        state, position = read_checkpoint(checkpoint(tmp_path / "out", name))
        assert torch.isfinite(state["weight"]).all()
        assert position.step < 8


@contextmanager
def full_disk():
    """Let no file grow beyond some bytes: a log line fits, a checkpoint does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("minutes", [EVERY_STEP, NEVER])
def test_a_full_disk_loses_nothing(tmp_path, minutes, monkeypatch):
    monkeypatch.setattr("kgraft.training.run_folder._summary_writer", lambda *_, **__: None)
    whole, _ = run(tmp_path / "whole", 3)
    parts = tmp_path / "parts"
    saving = fit(Tiny(), parts, TinySettings(epochs=3), checkpoint_minutes=minutes)
    next(saving)
    before = set(run_folder(parts).iterdir())
    with full_disk(), pytest.raises(KgraftError) as failed:
        next(saving)
    assert "File too large" in str(failed.value)
    assert "(step 4) is complete" in str(failed.value)
    assert set(run_folder(parts).iterdir()) == before
    found, _ = run(parts, 3)
    assert bits(found.state()) == bits(whole.state())
    assert log_lines(parts) == log_lines(tmp_path / "whole")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KgraftError):
        run(tmp_path / "file" / "run")


def press(task, losses):
    os.kill(os.getpid(), signal.SIGINT)


def press_twice(task, losses):
    press(task, losses)
    press(task, losses)


@pytest.mark.parametrize(("keys", "saved"), [(press, 7), (press_twice, 4)])
def test_ctrl_c_saves_complete_steps_only(tmp_path, keys, saved):
    whole, _ = run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", task=Failing(6, keys))
    assert step_of(checkpoint(tmp_path / "parts")) == saved
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    found, _ = run(tmp_path / "parts")
    assert bits(found.state()) == bits(whole.state())
    assert log_lines(tmp_path / "parts") == log_lines(tmp_path / "whole")


def test_ctrl_c_while_validating_saves_the_epoch(tmp_path, monkeypatch):
    out, task = tmp_path / "out", Tiny()
    monkeypatch.setattr(task, "validate", lambda: press(None, None))
    with pytest.raises(KeyboardInterrupt):
        run(out, task=task)
    assert step_of(checkpoint(out)) == STEPS
    _, epochs = run(out)
    assert epochs[0].number == 1
    assert epochs[0].figures


def test_a_figure_that_is_not_there_cannot_be_watched(tmp_path, monkeypatch):
    monkeypatch.setattr(Tiny, "watch", "hits")
    with pytest.raises(BadInput, match="'hits'"):
        run(tmp_path / "out")


def test_a_figure_that_is_not_finite_stops_training(tmp_path, monkeypatch):
    task = Tiny()
    monkeypatch.setattr(task, "validate", lambda: {"mrr": float("nan")})
    with pytest.raises(Diverged) as diverged:
        run(tmp_path / "out", 3, task)
    assert diverged.value.step == STEPS
    assert not checkpoint(tmp_path / "out", "best").exists()


@pytest.mark.parametrize("wrong", [{"epochs": -1}, {"patience": 0}, {"validate_every": 0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadInput, match=next(iter(wrong))):
        TinySettings(**wrong)


def test_a_schedule_ends_by_epochs_or_patience():
    assert not Schedule(3, patience=2).is_over(2, 1)
    assert Schedule(3, patience=2).is_over(3, 0)
    assert Schedule(3, patience=2).is_over(1, 2)


class Recorder:
    """Progress that remembers."""

    def __init__(self):
        self.stages = []

    def start(self, what, total=None):
        self.stages.append([what, total, 0])

    def advance(self, amount=1):
        self.stages[-1][2] += amount


def test_progress_counts_steps_and_shows_the_last_figure(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, 2, Failing(6, stop), minutes=EVERY_STEP)
    progress = Recorder()
    list(fit(Tiny(), out, TinySettings(epochs=2), progress=progress))
    (first, _) = log_lines(out)
    assert progress.stages == [[f"epoch 2 of 2, mrr {first['figures']['mrr']:.4f}", STEPS, STEPS]]
    other = Recorder()
    list(fit(Tiny(), tmp_path / "new", TinySettings(epochs=1), progress=other))
    assert other.stages == [["epoch 1 of 1", STEPS, STEPS]]


def test_tensorboard_reads_the_figures(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    out = tmp_path / "out"
    with pytest.raises(Stop):
        run(out, task=Failing(6, stop), minutes=EVERY_STEP)
    training = fit(Tiny(), out, TinySettings())
    epochs = [next(training) for _ in range(4)]
    training.close()
    events = loader.EventAccumulator(str(RunFolder(run_folder(out), {}).events)).Reload()
    points = {e.step: e.value for e in events.Scalars("valid/mrr")}
    assert points == pytest.approx({e.step: e.figures["mrr"] for e in epochs} | {4: points[4]})
    assert list(points) == [4, 8, 12, 16, 20]
