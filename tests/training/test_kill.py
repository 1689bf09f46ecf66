"""Runs killed with SIGKILL and started again end as if nothing had happened, to the bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.training.killed import CALLS, DELAYS, MINUTES
from tests.training.tiny import bits, log_lines

from kgraft.training.checkpoint import read_checkpoint

ROOT = Path(__file__).parents[2]


def outcome(folder):
    """Return what must not depend on kills: best and last state, position without times, log."""
    found = []
    for name in ("best", "checkpoint"):
        state, position = read_checkpoint(folder / f"{name}.safetensors")
        place = (position.epoch, position.step, position.best, position.best_step, position.stale)
        found.append((bits(state), place))
    return found, log_lines(folder)


@pytest.mark.slow
def test_kills_at_any_moment_change_nothing(tmp_path):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.training.killed", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = outcome(tmp_path / "often-undisturbed")
    runs = sorted(tmp_path.iterdir())
    assert len(runs) == len(MINUTES) * (1 + sum(len(c) for _, _, c in CALLS) + len(DELAYS))
    for folder in runs:
        assert outcome(folder) == expected, folder.name
        left = {"run.json", "checkpoint.safetensors", "best.safetensors", "log.jsonl", "events"}
        assert {path.name for path in folder.iterdir()} == left
