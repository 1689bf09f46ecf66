"""What differs between two runs, and what is said when the disk is full."""

import errno
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import KgraftError
from kgraft.training.folder import RunFolder, differences

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
