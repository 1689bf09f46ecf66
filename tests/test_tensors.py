"""Tensors written by kgraft are ordinary safetensors files."""

import errno
import resource
import stat

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file

from kgraft import tensors as tensors_module
from kgraft.errors import BadInput
from kgraft.tensors import UNREADABLE, load_tensors, map_tensors, tensor_digest, write_tensors


def test_the_library_reads_what_is_written(tmp_path):
    table = torch.randn(7, 3)
    tensors = {
        "long name": table.T,  # not contiguous
        "shared": table,
        "row": table[2],
        "keys": torch.arange(5),
        "none": torch.zeros(0, 4),
        "half": torch.randn(3).half(),
        "flags": torch.tensor([True, False]),
        "one": torch.tensor(7),
    }
    write_tensors(tmp_path / "x.safetensors", tensors)
    for read in (load_file(tmp_path / "x.safetensors"), map_tensors(tmp_path / "x.safetensors")):
        assert read.keys() == tensors.keys()
        assert all(torch.equal(read[name], tensors[name]) for name in tensors)
        assert all(read[name].dtype == tensors[name].dtype for name in tensors)


def test_metadata_is_kept(tmp_path):
    write_tensors(tmp_path / "x", {"a": torch.zeros(1)}, metadata={"step": "3"})
    with safe_open(tmp_path / "x", framework="pt") as file:
        assert file.metadata() == {"step": "3"}


def test_others_may_read_what_is_written(tmp_path):
    (tmp_path / "plain").touch()
    write_tensors(tmp_path / "x", {"a": torch.zeros(1)})
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "x")}
    assert len(modes) == 1


def test_a_failure_to_write_is_an_os_error_and_keeps_the_old_file(tmp_path):
    target = tmp_path / "x"
    write_tensors(target, {"a": torch.zeros(1)})
    before, limits = target.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, limits[1]))
    try:
        with pytest.raises(OSError) as caught:  # noqa: PT011
            write_tensors(target, {"a": torch.zeros(1 << 14)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(target))
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 100, b"\x02\0\0\0\0\0\0\0{}x"])
def test_damage_raises_what_is_announced(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UNREADABLE):
        map_tensors(tmp_path / "x")


def test_a_file_that_goes_away_while_it_is_opened_is_absent(tmp_path, monkeypatch):
    path = tmp_path / "x.safetensors"
    write_tensors(path, {"a": torch.zeros(1)})

    def remove(*_: object, **__: object) -> None:
        path.unlink(missing_ok=True)
        raise RuntimeError("unable to open file in read-only mode")

    monkeypatch.setattr(tensors_module, "safe_open", remove)
    with pytest.raises(FileNotFoundError) as caught:
        map_tensors(path)
    assert caught.value.filename == str(path)


def test_a_module_takes_only_what_fits(tmp_path):
    module, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    write_tensors(tmp_path / "x", module.state_dict())
    load_tensors(other, tmp_path / "x")
    assert torch.equal(module.weight, other.weight)
    for path in (tmp_path / "x", tmp_path / "absent"):
        with pytest.raises(BadInput) as caught:
            load_tensors(torch.nn.Linear(4, 2), path)
        assert str(path) in str(caught.value)


NAMED = st.dictionaries(
    st.text(max_size=3),
    st.tuples(st.lists(st.integers(0, 3), max_size=4), st.sampled_from([torch.int64, torch.uint8])),
    max_size=3,
)


@given(NAMED, NAMED)
def test_digests_are_equal_for_equal_tensors_only(first, second):
    states = [
        {name: torch.tensor(values, dtype=dtype) for name, (values, dtype) in named.items()}
        for named in (first, second)
    ]
    assert (tensor_digest(states[0]) == tensor_digest(states[1])) == (first == second)


def test_a_digest_ignores_order_and_layout_and_sees_shapes():
    table = torch.randn(2, 3)
    digest = tensor_digest({"a": table, "b": torch.tensor(1.0)})
    again = table.T.contiguous().T
    assert tensor_digest({"b": torch.tensor(1.0), "a": again}) == digest
    assert tensor_digest({"b": torch.tensor(1.0), "a": table.view(3, 2)}) != digest
