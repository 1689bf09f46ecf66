"""Checkpoints come back to the bit, or are refused."""

import json

import pytest
import torch

from kgraft.errors import KgraftError
from kgraft.training.checkpoint import (
    Position,
    copy_checkpoint,
    read_checkpoint,
    step_of,
    write_checkpoint,
)

POSITION = Position(2, 1, 9, 0.1 + 0.2, {"loss": 1 / 3}, {"loss": 1}, 0.3, 8, {"mrr": 0.3}, 0.2, 1)


@pytest.fixture
def state():
    draw = torch.Generator().manual_seed(5)
    return {
        "table": torch.randn(40, 3, generator=draw),
        "double": torch.randn(4, dtype=torch.float64, generator=draw),
        "complex": torch.randn(4, dtype=torch.complex64, generator=draw),
        "half": torch.randn(4, generator=draw).half(),
        "count": torch.tensor(7),
        "flags": torch.tensor([True, False]),
        "nothing": torch.zeros(0, 3),
    }


def test_states_and_positions_come_back(tmp_path, state):
    write_checkpoint(tmp_path / "a", state, POSITION)
    copy_checkpoint(tmp_path / "a", tmp_path / "b")
    for name in ("a", "b"):
        found, position = read_checkpoint(tmp_path / name)
        assert position == POSITION
        assert found.keys() == state.keys()
        assert all(torch.equal(found[n], state[n]) for n in state)
        assert all(found[n].dtype == state[n].dtype for n in state)
        assert step_of(tmp_path / name) == 9


def test_a_copy_outlives_its_source(tmp_path, state, monkeypatch):
    write_checkpoint(tmp_path / "a", state, POSITION)
    copy_checkpoint(tmp_path / "a", tmp_path / "linked")
    monkeypatch.setattr("os.link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))
    copy_checkpoint(tmp_path / "a", tmp_path / "copied")
    write_checkpoint(tmp_path / "a", {}, Position())
    assert step_of(tmp_path / "linked") == step_of(tmp_path / "copied") == 9


def test_any_damage_is_noticed(tmp_path, state):
    path = tmp_path / "a"
    write_checkpoint(path, state, POSITION)
    whole = path.read_bytes()
    for place in range(0, len(whole), 41):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(KgraftError, match="cannot be resumed from"):
            read_checkpoint(path)
    for length in (0, 7, 200, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(KgraftError, match=r"it is damaged .*--overwrite"):
            read_checkpoint(path)
    assert step_of(path) is None


def test_files_of_others_are_no_checkpoints(tmp_path, state):
    from safetensors.torch import save_file

    for metadata in (None, {"position": "{}"}, {"position": json.dumps({"x": 1}), "sha256": ""}):
        save_file(state, tmp_path / "a", metadata=metadata)
        with pytest.raises(KgraftError, match="damaged"):
            read_checkpoint(tmp_path / "a")
        assert step_of(tmp_path / "a") is None
