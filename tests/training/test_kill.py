"""Runs killed with SIGKILL and started again end as if nothing had happened, to the bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tests.training.killed import CALLS, DELAYS, MINUTES
from tests.training.tiny import bits, log_lines

ROOT = Path(__file__).parents[2]


def outcome(folder):
    """Return what must not depend on kills: the result, and the log without times."""
    return bits(load_file(folder / "weight.safetensors")), log_lines(folder)


@pytest.mark.slow
def test_kills_at_any_moment_change_nothing(tmp_path):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.training.killed", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = outcome(tmp_path / "often-undisturbed")
    runs = sorted(tmp_path.iterdir())  # nothing of a killed run is left beside them
    assert len(runs) == len(MINUTES) * (1 + sum(len(c) for _, _, c in CALLS) + len(DELAYS))
    for folder in runs:
        assert outcome(folder) == expected, folder.name
        files = {"kgraft.json", "weight.safetensors", "log.jsonl"}
        assert {path.name for path in folder.iterdir()} == files
