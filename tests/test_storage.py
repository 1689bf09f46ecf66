"""A file appears whole or not at all, and what was there stays until then."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgraft import storage
from kgraft.errors import BadInput
from kgraft.storage import Kind, cache_folder, describe_file, new_file, new_folder, refuse_existing

pytestmark = pytest.mark.usefixtures("flushing")

BOX = Kind("box", "box.json")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_appears_when_it_is_whole(tmp_path):
    target = tmp_path / "deep" / "f"
    with new_file(target) as partial:
        partial.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert names(target.parent) == ["f"]


def test_a_file_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    target, flushed, flush = tmp_path / "f", [], os.fsync

    def fsync(descriptor):
        flushed.append((Path(f"/proc/self/fd/{descriptor}").readlink(), target.exists()))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with new_file(target) as partial:
        partial.write_text("new")
    assert flushed == [(partial, False), (tmp_path, True)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_keeps_the_old_file(tmp_path, error):
    target = tmp_path / "f"
    target.write_text("old")

    def fail():
        with new_file(target) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_a_folder_of_another_kind_is_not_overwritten(tmp_path):
    target = tmp_path / "t"
    with new_folder(target, BOX) as partial:
        (partial / "box.json").write_text("{}")
    with new_folder(target, BOX, overwrite=True) as partial:
        (partial / "other").write_text("no marker")
    assert names(target) == ["other"]
    with pytest.raises(BadInput, match="is not a box"):
        refuse_existing(target, BOX, overwrite=True)


def test_a_file_is_described_by_size_and_checksum(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    described = describe_file(tmp_path / "f")
    assert described["bytes"] == 3
    assert described["sha256"].startswith("ba7816bf")


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("KGRAFT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "kgraft"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "kgraft"
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_a_new_file_removes_what_a_killed_writer_left(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"out.txt.partial-{gone.pid}").write_text("half")
    (tmp_path / "out.txt.partial-note").write_text("mine")
    (tmp_path / f"out.txt.partial-{os.getppid()}").write_text("of a writer that runs")
    with storage.new_file(tmp_path / "out.txt") as partial:
        partial.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["out.txt", "out.txt.partial-note", f"out.txt.partial-{os.getppid()}"]
    )


def test_a_full_disk_names_the_target(tmp_path):
    def write():
        with storage.new_file(tmp_path / "out.txt"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space") as error:
        write()
    assert error.value.filename == str(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as error, storage.new_file(tmp_path / "file" / "x"):
        pass
    assert error.value.filename == str(tmp_path / "file")
