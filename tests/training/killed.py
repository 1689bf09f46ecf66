"""Train in processes that are killed at many moments, then once more to the end; a script.

Called as `python -m tests.training.killed FOLDER`; FOLDER gets one run for each moment.
"""

import os
import signal
import sys
import time
from pathlib import Path

import torch
from tests.training.tiny import Tiny, TinySettings

from kgraft.training import fit
from kgraft.training.run_folder import RunLog

MINUTES = {"often": 0.0, "seldom": 1e9}
CALLS = [
    (Tiny, "step", (1, 3, 4, 5, 10, 19)),
    (Tiny, "validate", (1, 3)),
    (Tiny, "state", (1, 2, 3)),
    (Tiny, "save", (1,)),
    (RunLog, "add", (1, 2)),
    (Path, "replace", (1, 2, 3, 4, 5)),
    (Path, "rename", (1,)),
    (os, "link", (1, 2, 3)),
    (os, "fsync", (1, 2, 4, 7)),
]
DELAYS = (0.002, 0.005, 0.01, 0.02)


def run(folder, minutes):
    """Train five epochs, or the rest of them, unless the result is written."""
    if not folder.exists():
        list(fit(Tiny(), folder, TinySettings(), checkpoint_minutes=minutes))


def die_at(owner, name, call):
    """Replace a function by one that is killed when it is called for the `call`-th time."""
    before, calls = getattr(owner, name), 0

    def counted(*given, **options):
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*given, **options)

    setattr(owner, name, counted)


def child(folder, minutes, owner=None, name="", call=0):
    """Start a process that trains; with an owner it will be killed on the way."""
    process = os.fork()
    if process:
        return process
    if owner:
        die_at(owner, name, call)
    run(folder, minutes)
    os._exit(0)


def main(folder):
    """Kill at each moment, then run to the end."""
    torch.set_num_threads(1)
    os.fsync = lambda descriptor: None  # a kill is no power cut; flushing takes most of the time
    for often, minutes in MINUTES.items():
        run(folder / f"{often}-undisturbed", minutes)
        for owner, name, calls in CALLS:
            for call in calls:
                run_folder = folder / f"{often}-{name}-{call}"
                _, status = os.waitpid(child(run_folder, minutes, owner, name, call), 0)
                assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (often, name, call)
                run(run_folder, minutes)
        for delay in DELAYS:
            process = child(folder / f"{often}-{delay}", minutes)
            time.sleep(delay)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            run(folder / f"{often}-{delay}", minutes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
