"""What differs between two runs, full disks, and the log after kills."""

import errno
import os
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import KgraftError
from kgraft.training.checkpoint import Position, write_checkpoint
from kgraft.training.run_folder import RunFolder, RunLog, differences

NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers()),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.sampled_from("abc"), NESTED, max_size=3)


def test_a_full_disk_is_said_with_its_remedy(tmp_path):
    path = tmp_path / "file"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(KgraftError) as said, RunFolder(tmp_path, {}).saving(path):
        raise full
    assert str(said.value).startswith(f"{path}: ")
    assert "No space left on device" in str(said.value)
    assert "free space" in str(said.value)


def test_only_a_run_that_cannot_be_resumed_is_removed(tmp_path):
    run = RunFolder(tmp_path / "run", {"rate": 1})
    run.remove_unusable()  # nothing is there
    run.claim()
    write_checkpoint(run.checkpoint, {"w": torch.ones(2)}, Position())
    run.remove_unusable()
    assert run.checkpoint.exists()
    RunFolder(run.path, {"rate": 2}).remove_unusable()
    assert not run.path.exists()
    run.claim()
    run.checkpoint.write_bytes(b"half")
    run.remove_unusable()
    assert not run.path.exists()


def test_each_difference_is_named():
    old = {"rate": 0.1, "model": {"name": "transe", "size": 8}, "gone": [1], "same": None}
    new = {"rate": 0.05, "model": {"name": "rotate", "size": 8}, "new": {}, "same": None}
    assert differences(old, new) == [
        "gone [1] → not set",
        'model.name "transe" → "rotate"',
        "new not set → {}",
        "rate 0.1 → 0.05",
    ]


@settings(deadline=None)
@given(SETTINGS, SETTINGS)
def test_equal_settings_and_only_they_do_not_differ(old, new):
    assert differences(old, old) == []
    assert bool(differences(old, new)) == (repr(sort(old)) != repr(sort(new)))


def sort(value):
    if isinstance(value, dict):
        return {name: sort(value[name]) for name in sorted(value)}
    return value


ENTRIES = ({"epoch": 1}, {"epoch": 2}, {"epoch": 3})


def test_lines_to_come_again_and_torn_lines_are_dropped(tmp_path):
    run = RunFolder(tmp_path, {})
    log = RunLog(run, epoch=0, step=0)
    for entry in ENTRIES:
        log.add(entry, {}, entry["epoch"])
    log.close()
    with run.log.open("ab") as file:
        file.write('{"epoch": 4, "ü'.encode()[:-1])
    RunLog(run, epoch=2, step=4).close()
    assert run.log.read_text() == '{"epoch": 1}\n{"epoch": 2}\n{"resumed at step": 4}\n'


def test_lines_are_strict_json(tmp_path):
    log = RunLog(RunFolder(tmp_path, {}), epoch=0, step=0)
    figures = {"mrr": float("nan"), "größe": float("-inf"), "hits": 0.5}
    log.add({"figures": figures, "best": True}, {}, 1)
    log.close()
    assert log.path.read_text(encoding="utf-8") == (
        '{"figures": {"mrr": null, "größe": null, "hits": 0.5}, "best": true}\n'
    )


def test_without_tensorboard_there_are_no_event_files(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    run = RunFolder(tmp_path, {})
    log = RunLog(run, epoch=0, step=0)
    log.add({"epoch": 1}, {"loss": 0.5}, 1)
    log.close()
    assert not run.events.exists()
    assert run.log.read_text() == '{"epoch": 1}\n'
