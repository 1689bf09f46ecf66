"""The table of a memory: written in parts, mapped, and found by key."""

import numpy as np
import pytest

from kgraft.errors import BadInput
from kgraft.progress import Silent
from kgraft.reason.memory import table as module
from kgraft.reason.memory.table import KeyTable, make_table


@pytest.fixture
def keys():
    drawn = np.random.default_rng(0).integers(0, 1 << 63, (50, 2)).astype(np.uint64)
    return np.unique(drawn, axis=0)


@pytest.fixture
def vectors():
    drawn = np.random.default_rng(1).standard_normal((50, 16)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.fixture
def folder(tmp_path, keys, vectors):
    make_table(tmp_path / "table", keys, lambda rows: vectors[rows], Silent())
    return tmp_path / "table"


def test_vectors_by_key(folder, keys, vectors):
    table = KeyTable.open(folder)
    assert table.codes.dtype == np.int8
    assert isinstance(table.codes, np.memmap)
    asked = keys[[3, 40, 3]]
    rows = table.rows(np.vstack([asked, asked[:1] + np.uint64(1)]))
    assert rows.tolist() == [3, 40, 3, -1]
    assert np.abs(table.vectors(rows[:3]) - vectors[rows[:3]]).max() < 1 / 127


def test_what_was_interrupted_resumes(tmp_path, keys, vectors, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 20)
    asked = []

    def encode(rows):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(rows)
        return vectors[rows]

    with pytest.raises(KeyboardInterrupt):
        make_table(tmp_path / "table", keys, encode, Silent())
    assert not (tmp_path / "table").exists()
    asked.clear()
    make_table(tmp_path / "table", keys, encode, Silent())
    assert [rows.tolist() for rows in asked] == [list(range(40, 50))]
    assert np.abs(KeyTable.open(tmp_path / "table").vectors(np.arange(50)) - vectors).max() < 0.01
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_damaged_table_is_refused(folder):
    np.save(folder / "scales.npy", np.ones(3, np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        KeyTable.open(folder)
    (folder / "index.faiss").write_bytes(b"nothing")
    with pytest.raises(BadInput, match=r"index\.faiss"):
        KeyTable.open(folder)
