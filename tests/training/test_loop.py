"""Training, stopping and resuming within one process."""

import json
import os
import resource
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.training.tiny import STEPS, Tiny, bits, log_lines

from kgraft.errors import BadInput, KgraftError
from kgraft.training import Diverged, Schedule, train
from kgraft.training.checkpoint import read_checkpoint, step_of

ID = {"model": {"size": 6}, "seed": 3}
EVERY_STEP, NEVER = 0.0, 1e9


class Stop(Exception):
    """The process ends here."""


def run(folder, epochs=5, trainee=None, *, identity=ID, **schedule):
    """Train to the end; return the trainee and the epochs."""
    trainee = trainee or Tiny()
    return trainee, list(train(trainee, folder, Schedule(epochs, **schedule), identity=identity))


class Failing(Tiny):
    """Does something else at one step."""

    def __init__(self, place, failure, **options):
        super().__init__(**options)
        self.place, self.failure = place, failure

    def step(self, batch, place):
        losses = super().step(batch, place)
        return self.failure(self, losses) or losses if place == self.place else losses


def stop(trainee, losses):
    raise Stop


def test_an_epoch_says_what_it_came_to(tmp_path):
    plain = Tiny()
    losses = [
        [plain.step(batch, epoch * STEPS + i) for i, batch in enumerate(plain.batches(epoch))]
        for epoch in range(2)
    ]
    _, (first, second) = run(tmp_path, 2)
    for found, expected in zip((first, second), losses, strict=True):
        for name in ("loss", "size"):
            assert found.losses[name] == sum(step[name] for step in expected) / STEPS
    assert (first.number, first.step, second.number, second.step) == (1, STEPS, 2, 2 * STEPS)
    assert second.figures == plain.validate()
    assert 0 < first.seconds < second.seconds


def test_the_best_state_is_left(tmp_path):
    trainee, epochs = run(tmp_path)
    figures = [epoch.figures["mrr"] for epoch in epochs]
    best = max(figures)
    assert figures[-1] < best
    assert trainee.validate() == {"mrr": best}
    assert [e.best for e in epochs] == [x == max(figures[: i + 1]) for i, x in enumerate(figures)]


def test_without_validation_the_last_state_is_left(tmp_path):
    trainee, epochs = run(tmp_path, 3, Tiny(valid=False))
    assert int(trainee.updates) == 3 * STEPS
    assert not any(epoch.best or epoch.figures for epoch in epochs)
    assert not (tmp_path / "best.safetensors").exists()
    again, epochs = run(tmp_path, 3, Tiny(valid=False))
    assert bits(again.state()) == bits(trainee.state())
    assert epochs == []


def test_patience_ends_a_run(tmp_path):
    _, whole = run(tmp_path / "whole", 12)
    trainee, epochs = run(tmp_path / "patient", 12, patience=2)
    best = [epoch.best for epoch in epochs]
    assert best[-2:] == [False, False]
    assert "00" not in "".join("01"[b] for b in best[:-1])
    assert len(epochs) < len(whole)
    again, more = run(tmp_path / "patient", 12, patience=2)
    assert more == []
    assert bits(again.state()) == bits(trainee.state())


def test_validation_is_as_often_as_asked_and_at_the_end(tmp_path):
    _, epochs = run(tmp_path, 5, validate_every=2)
    assert [bool(epoch.figures) for epoch in epochs] == [False, True, False, True, True]


def test_a_finished_run_is_only_loaded(tmp_path):
    trainee, _ = run(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again, epochs = run(tmp_path)
    assert epochs == []
    assert bits(again.state()) == bits(trainee.state())
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_more_epochs_go_on_where_fewer_ended(tmp_path):
    whole, _ = run(tmp_path / "whole", 5)
    run(tmp_path / "parts", 2)
    parts, epochs = run(tmp_path / "parts", 5)
    assert [epoch.number for epoch in epochs] == [3, 4, 5]
    assert bits(parts.state()) == bits(whole.state())


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    stops=st.lists(st.integers(0, 4 * STEPS - 1), min_size=1, max_size=4),
    minutes=st.sampled_from([EVERY_STEP, NEVER]),
    every=st.integers(1, 3),
    patience=st.sampled_from([None, 1, 2]),
    valid=st.booleans(),
)
def test_stopping_anywhere_changes_nothing(stops, minutes, every, patience, valid):
    schedule = Schedule(4, patience=patience, validate_every=every, checkpoint_minutes=minutes)
    with tempfile.TemporaryDirectory() as name:
        whole, parts = Path(name, "whole"), Path(name, "parts")
        expected = Tiny(valid=valid)
        list(train(expected, whole, schedule, identity=ID))
        for place in stops:
            try:
                list(train(Failing(place, stop, valid=valid), parts, schedule, identity=ID))
            except Stop:
                saved = step_of(parts / "checkpoint.safetensors") or 0
                assert minutes == NEVER or saved == place
        found = Tiny(valid=valid)
        list(train(found, parts, schedule, identity=ID))
        assert bits(found.state()) == bits(expected.state())
        assert log_lines(parts) == log_lines(whole)


def test_the_log_says_where_it_was_resumed(tmp_path):
    with pytest.raises(Stop):
        run(tmp_path, trainee=Failing(6, stop), checkpoint_minutes=EVERY_STEP)
    run(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[1] == {"resumed at step": 6}


def test_training_time_is_summed_over_resumptions(tmp_path):
    first = next(train(Tiny(), tmp_path, Schedule(2), identity=ID))
    second = next(train(Tiny(), tmp_path, Schedule(2), identity=ID))
    assert second.number == 2
    assert second.seconds > first.seconds


def test_another_run_is_refused_with_what_differs(tmp_path):
    run(tmp_path, 1)
    held = bits(read_checkpoint(tmp_path / "checkpoint.safetensors")[0])
    with pytest.raises(BadInput) as refused:
        run(tmp_path, identity={"model": {"size": 8}, "seed": 3, "rate": 0.1})
    assert str(refused.value) == (
        f"{tmp_path}: holds a run with other settings: model.size 6 → 8, rate not set → 0.1; "
        "name another folder, or pass --overwrite to begin anew"
    )
    assert bits(read_checkpoint(tmp_path / "checkpoint.safetensors")[0]) == held


def test_a_run_that_never_saved_is_replaced(tmp_path):
    with pytest.raises(Stop):
        run(tmp_path, trainee=Failing(2, stop))
    halves = [tmp_path / "checkpoint.safetensors.partial-1", tmp_path / ".tmpAbCdEf"]
    for half in halves:
        half.write_bytes(b"half")
    run(tmp_path, 1, identity={"seed": 4})
    assert json.loads((tmp_path / "run.json").read_text()) == {"seed": 4}
    assert not any(half.exists() for half in halves)


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_checkpoint_without_its_settings_is_refused(tmp_path, text):
    run(tmp_path, 1)
    (tmp_path / "run.json").unlink()
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(BadInput, match=r"run\.json: .* cannot be read .*--overwrite"):
        run(tmp_path)


def test_a_best_state_that_is_missing_or_of_another_moment_is_refused(tmp_path):
    run(tmp_path)
    best = tmp_path / "best.safetensors"
    held = best.read_bytes()
    best.write_bytes((tmp_path / "checkpoint.safetensors").read_bytes())
    with pytest.raises(KgraftError, match=r"best\.safetensors: is of step 20, but the best was"):
        run(tmp_path)
    best.unlink()
    with pytest.raises(KgraftError, match=r"best\.safetensors: .* damaged"):
        run(tmp_path)
    best.write_bytes(held)
    run(tmp_path)


def no_number(trainee, losses):
    return {"loss": losses["loss"], "size": float("nan")}


def break_weight(trainee, losses):
    trainee.weight[2] = float("inf")


def test_a_loss_that_is_no_number_stops_the_run(tmp_path):
    with pytest.raises(Diverged) as diverged:
        run(tmp_path, trainee=Failing(6, no_number))
    assert str(diverged.value) == (
        "training diverged in epoch 2, step 7: size is nan; the last good checkpoint is that of "
        "step 4; lower the learning rate"
    )
    with pytest.raises(Diverged, match=r"epoch 1, step 1: .*; there is no checkpoint yet; rest$"):
        list(
            train(Failing(0, no_number), tmp_path / "new", Schedule(1), identity={}, remedy="rest")
        )


@pytest.mark.parametrize("minutes", [EVERY_STEP, NEVER])
def test_a_state_that_is_no_number_is_never_saved(tmp_path, minutes):
    with pytest.raises(Diverged, match=r"epoch 2, step 8: (weight is no longer finite|mrr is nan)"):
        run(tmp_path, trainee=Failing(7, break_weight), checkpoint_minutes=minutes)
    for name in ("checkpoint", "best"):
        state, position = read_checkpoint(tmp_path / f"{name}.safetensors")
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
def test_a_full_disk_loses_nothing(tmp_path, minutes):
    whole, _ = run(tmp_path / "whole", 3)
    parts = tmp_path / "parts"
    saving = train(Tiny(), parts, Schedule(3, checkpoint_minutes=minutes), identity=ID)
    next(saving)
    before = set(parts.iterdir())
    with full_disk(), pytest.raises(KgraftError) as failed:
        next(saving)
    assert str(failed.value).endswith(
        ".safetensors: cannot be written (File too large); the last checkpoint "
        "(step 4) is whole; put that right and run the same command again"
    )
    assert set(parts.iterdir()) == before
    found, _ = run(parts, 3)
    assert bits(found.state()) == bits(whole.state())
    assert log_lines(parts) == log_lines(tmp_path / "whole")


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KgraftError, match=r"cannot be written \(Not a directory\); there is no"):
        run(tmp_path / "file" / "run")


def press(trainee, losses):
    os.kill(os.getpid(), signal.SIGINT)


def press_twice(trainee, losses):
    press(trainee, losses)
    press(trainee, losses)


@pytest.mark.parametrize(("keys", "saved"), [(press, 7), (press_twice, 4)])
def test_ctrl_c_saves_whole_steps_only(tmp_path, keys, saved):
    whole, _ = run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", trainee=Failing(6, keys))
    assert step_of(tmp_path / "parts" / "checkpoint.safetensors") == saved
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    found, _ = run(tmp_path / "parts")
    assert bits(found.state()) == bits(whole.state())
    assert log_lines(tmp_path / "parts") == log_lines(tmp_path / "whole")


def test_ctrl_c_while_validating_saves_the_epoch(tmp_path, monkeypatch):
    trainee = Tiny()
    monkeypatch.setattr(trainee, "validate", lambda: press(None, None))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, trainee=trainee)
    assert step_of(tmp_path / "checkpoint.safetensors") == STEPS
    _, epochs = run(tmp_path)
    assert epochs[0].number == 1
    assert epochs[0].figures


def test_a_figure_that_is_not_there_cannot_be_watched(tmp_path):
    with pytest.raises(BadInput, match="there is no figure 'hits' to watch; there are: mrr"):
        run(tmp_path, watch="hits")


def test_a_figure_that_is_no_number_stops_training(tmp_path, monkeypatch):
    trainee = Tiny()
    monkeypatch.setattr(trainee, "validate", lambda: {"mrr": float("nan")})
    with pytest.raises(Diverged, match=r"in epoch 1, step 4: mrr is nan; there is no checkpoint"):
        run(tmp_path, 3, trainee)
    assert not (tmp_path / "best.safetensors").exists()


@pytest.mark.parametrize("wrong", [{"epochs": -1}, {"patience": 0}, {"validate_every": 0}])
def test_a_schedule_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(BadInput, match=f"{next(iter(wrong))} is"):
        Schedule(**{"epochs": 1, **wrong})


class Recorder:
    """Progress that remembers."""

    def __init__(self):
        self.stages = []

    def start(self, what, total=None):
        self.stages.append([what, total, 0])

    def advance(self, amount=1):
        self.stages[-1][2] += amount


def test_progress_counts_steps_and_shows_the_last_figure(tmp_path):
    with pytest.raises(Stop):
        run(tmp_path, 2, Failing(6, stop), checkpoint_minutes=EVERY_STEP)
    progress = Recorder()
    list(train(Tiny(), tmp_path, Schedule(2), identity=ID, progress=progress))
    (first, _) = log_lines(tmp_path)
    assert progress.stages == [[f"epoch 2 of 2, mrr {first['figures']['mrr']:.4f}", STEPS, STEPS]]
    other = Recorder()
    list(train(Tiny(), tmp_path / "new", Schedule(1), identity=ID, progress=other))
    assert other.stages == [["epoch 1 of 1", STEPS, STEPS]]
