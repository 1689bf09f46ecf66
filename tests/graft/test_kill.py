"""A graft that is killed in training, and its head before it, resumes to the same bits."""

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("file", ["graft.safetensors", "head.safetensors"])
def test_killed_runs_end_with_the_same_bits(trained, file):
    whole, parts = (trained / name / file for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, "-m", "tests.graft.killed", folder], check=True)
    return folder
