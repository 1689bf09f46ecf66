"""What differs between two runs, and what is said when the disk is full."""

import errno
import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import KgraftError
from kgraft.training.checkpoint import write_checkpoint
from kgraft.training.folder import RunFolder, differences
from kgraft.training.position import Position

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
    assert str(said.value) == (
        f"{path}: cannot be written (No space left on device); there is no checkpoint yet; "
        "free space and run the same command again"
    )


def test_only_a_run_that_cannot_go_on_makes_way(tmp_path):
    run = RunFolder(tmp_path / "run", {"rate": 1})
    run.make_way()  # nothing is there
    run.claim()
    write_checkpoint(run.checkpoint, {"w": torch.ones(2)}, Position())
    run.make_way()
    assert run.checkpoint.exists()
    RunFolder(run.path, {"rate": 2}).make_way()
    assert not run.path.exists()
    run.claim()
    run.checkpoint.write_bytes(b"half")
    run.make_way()
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
