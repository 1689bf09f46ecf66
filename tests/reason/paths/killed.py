"""Train a reasoner in processes that are killed at many moments, then once more to the end.

Called as `python -m tests.reason.paths.killed GRAPH FOLDER`; FOLDER gets one run for each moment.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import torch
from tests.reason.paths.tiny import tiny_reasoner
from tests.training.killed import die_at

from kgraft.graph import Graph
from kgraft.reason import Reasoner, ReasonerSettings, train_reasoner
from kgraft.reason.paths.task import ReasonerTask

SETTINGS = ReasonerSettings(epochs=2, steps=2, batch=2, piece=30, patience=None)
CALLS = [
    (ReasonerTask, "step", (2,)),
    (ReasonerTask, "validate", (2,)),
    (ReasonerTask, "state", (3,)),
    (Path, "replace", (5,)),
    (Reasoner, "save_pretrained", (1,)),
    (shutil, "rmtree", (1,)),
]


def run(graph, out):
    """Train, or do what is left of it, with a checkpoint at every step."""
    if not out.exists():
        epochs = train_reasoner(
            graph, SETTINGS, out, reasoner=tiny_reasoner(), checkpoint_minutes=0.0
        )
        list(epochs)


def child(graph, out, owner, name, call):
    """Start a process that trains and kills itself on the way."""
    process = os.fork()
    if process:
        return process
    die_at(owner, name, call)
    run(graph, out)
    os._exit(0)


def main(graph, folder):
    """Kill at each moment, then run to the end."""
    torch.set_num_threads(1)
    os.fsync = lambda descriptor: None  # a kill is no power cut; flushing takes most of the time
    run(graph, folder / "undisturbed")
    for owner, name, calls in CALLS:
        for call in calls:
            out = folder / f"{name}-{call}"
            _, status = os.waitpid(child(graph, out, owner, name, call), 0)
            assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (name, call)
            run(graph, out)


if __name__ == "__main__":
    main(Graph.open(sys.argv[1]), Path(sys.argv[2]))
