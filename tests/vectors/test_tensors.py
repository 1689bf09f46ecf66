"""Tensors written by kgraft are ordinary safetensors files."""

import stat

import pytest
import torch
from safetensors.torch import load_file

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
