"""Train in processes that are killed at many moments, then once more to the end; a script.

Called as `python -m tests.embed.killed GRAPH FOLDER`; FOLDER gets the vectors of each moment.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import torch
from tests.embed.tiny import quick
from tests.training.killed import die_at

from kgraft.embed import task as embedding_task
from kgraft.embed import train_embedding
from kgraft.embed.task import EmbedTask
from kgraft.graph import Graph

SHORT = {"epochs": 3, "validate_every": 1, "dimension": 8, "dropout": 0.1, "entity_weight": 0.01}
KINDS = {
    "softmax": quick(batch=80, **SHORT),
    "sampled": quick("transe", loss="self-adversarial", optimiser="adam", batch=64,
                     corruption="bernoulli", **SHORT),
}  # fmt: skip
CALLS = [
    (EmbedTask, "step", (1, 4)),
    (EmbedTask, "validate", (2,)),
    (EmbedTask, "state", (3,)),
    (Path, "replace", (5,)),
    (embedding_task, "write_table_vectors", (1,)),
    (shutil, "rmtree", (1,)),
]
DELAYS = (0.02, 0.04)


def run(graph, kind, out):
    """Train, or do what is left of it, with a checkpoint at every step."""
    list(train_embedding(graph, KINDS[kind], out, checkpoint_minutes=0.0))


def child(graph, kind, out, owner=None, name="", call=0):
    """Start a process that trains; with an owner it will kill itself on the way."""
    process = os.fork()
    if process:
        return process
    if owner:
        die_at(owner, name, call)
    run(graph, kind, out)
    os._exit(0)


def finish(graph, kind, out):
    """Run to the end; killed behind the last file, there is nothing left to do."""
    if not out.exists():
        run(graph, kind, out)


def main(graph, folder):
    """Kill at each moment, then run to the end."""
    torch.set_num_threads(1)
    os.fsync = lambda descriptor: None  # a kill is no power cut; flushing takes most of the time
    for kind in KINDS:
        finish(graph, kind, folder / f"{kind}-undisturbed")
        for owner, name, calls in CALLS:
            for call in calls:
                out = folder / f"{kind}-{name}-{call}"
                _, status = os.waitpid(child(graph, kind, out, owner, name, call), 0)
                assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (kind, name, call)
                finish(graph, kind, out)
        for delay in DELAYS:
            out = folder / f"{kind}-{delay}"
            process = child(graph, kind, out)
            time.sleep(delay)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            finish(graph, kind, out)


if __name__ == "__main__":
    main(Graph.open(sys.argv[1]), Path(sys.argv[2]))
