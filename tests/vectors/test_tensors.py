"""Tensors written by kgraft are ordinary safetensors files."""

import stat

import pytest
import torch
from safetensors.torch import load_file

from kgraft.vectors import tensors as tensors_module
from kgraft.vectors.tensors import UNREADABLE, map_tensors, write_tensors


def test_the_library_reads_what_is_written(tmp_path, random_vectors):
    tensors = {
        "long name": random_vectors(7, 3).T,  # not contiguous
        "keys": torch.arange(5),
        "none": torch.zeros(0, 4),
    }
    write_tensors(tmp_path / "x.safetensors", tensors)
    for read in (load_file(tmp_path / "x.safetensors"), map_tensors(tmp_path / "x.safetensors")):
        assert read.keys() == tensors.keys()
        assert all(torch.equal(read[name], tensors[name]) for name in tensors)


def test_others_may_read_what_is_written(tmp_path):
    (tmp_path / "plain").touch()
    write_tensors(tmp_path / "x", {"a": torch.zeros(1)})
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "x")}
    assert len(modes) == 1


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 100, b"\x02\0\0\0\0\0\0\0{}x"])
def test_damage_raises_what_is_announced(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UNREADABLE):
        map_tensors(tmp_path / "x")


def test_a_file_that_goes_away_while_it_is_opened_is_absent(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(1)})

    def gone(*_: object, **__: object) -> None:
        path.unlink(missing_ok=True)
        raise RuntimeError("unable to open file in read-only mode")

    monkeypatch.setattr(tensors_module, "safe_open", gone)
    with pytest.raises(FileNotFoundError):
        map_tensors(path)
