"""A file is hashed once on a machine, and again when it has changed."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from kgraft.text import digests
from kgraft.text.digests import file_digest, stamp


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "file").write_bytes(b"content")
    return tmp_path / "file"


@pytest.fixture
def record(file):
    return file.parent / "cache" / digests.RECORD


@pytest.fixture
def hashed(monkeypatch):
    """The files that were hashed."""
    files = []
    sha256 = digests.sha256

    def counting(path):
        files.append(path.name)
        return sha256(path)

    monkeypatch.setattr(digests, "sha256", counting)
    new_process()
    return files


def new_process():
    digests._digest.cache_clear()


def test_a_digest_outlives_the_process(file, hashed):
    for _ in range(3):
        assert file_digest(file) == digest_of(b"content")
        new_process()
    assert hashed == ["file"]


def test_a_changed_file_is_hashed_again(file, hashed):
    file_digest(file)
    for content, time in ((b"contenT", 1), (b"longer content", 1), (b"contenT", 2)):
        file.write_bytes(content)
        os.utime(file, ns=(time, time))
        assert file_digest(file) == digest_of(content)
    assert len(hashed) == 4


def test_a_link_is_its_file(file, hashed):
    (file.parent / "link").symlink_to(file)
    assert file_digest(file.parent / "link") == file_digest(file)
    assert hashed == ["file"]


def test_one_record_holds_many_files(file, record, hashed, monkeypatch):
    monkeypatch.setattr(digests, "MOST", 3)
    for number in range(4):
        (file.parent / str(number)).write_text("x")
        file_digest(file.parent / str(number))
    assert [Path(name).name for name in json.loads(record.read_text())] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "spoilt", [b"", b"\xff\xfe", b"{}", b'["another file"]', b'{"FILE": 3}', b'{"FILE": []}']
)
def test_a_spoilt_record_is_made_again(file, record, hashed, spoilt):
    file_digest(file)
    record.write_bytes(spoilt.replace(b"FILE", str(file).encode()))
    for _ in range(2):
        new_process()
        assert file_digest(file) == digest_of(b"content")
    assert len(hashed) == 2


def test_a_file_that_changes_while_it_is_hashed_is_not_recorded(file, record, monkeypatch):
    new_process()

    def changing(path):
        path.write_bytes(b"other content")
        return digest_of(b"content")

    monkeypatch.setattr(digests, "sha256", changing)
    file_digest(file)
    assert not record.exists()


def test_a_cache_that_cannot_be_written_is_tolerated(file, hashed, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(file))
    assert file_digest(file) == file_digest(file) == digest_of(b"content")
    assert hashed == ["file"]


def test_an_absent_file_is_an_error(file):
    with pytest.raises(FileNotFoundError):
        file_digest(file.parent / "absent")
    with pytest.raises(FileNotFoundError):
        stamp(file.parent / "absent")
