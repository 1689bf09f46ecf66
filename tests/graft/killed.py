"""Train a graft in processes that are killed at some step, then once more to the end; a script.

Called as `python -m tests.graft.killed FOLDER`; FOLDER gets the results `whole` and `parts`.
"""

import os
import signal
import sys
from pathlib import Path

import torch
from tests.graft.annotated import examples
from tests.graft.conftest import SETTINGS, DrawnVectors, write_host
from tests.graph.tiny import build

from kgraft.corpus import annotate
from kgraft.graft import GraftedEncoder, GraftSettings, GraphKnowledge, locate_mentions
from kgraft.graft.task import GraftTask
from kgraft.graph import Graph
from kgraft.text import Encoder, MaskedTask
from kgraft.training import fit

SHORT = GraftSettings(linker_epochs=1, epochs=2, masked_fraction=0.7, batch_tokens=64)


def train(folder, out):
    """Train, saving after each step, unless the result is written."""
    graph = Graph.open(folder / "graph")
    host = Encoder.load(folder / "host", device="cpu", max_length=64)
    knowledge = GraphKnowledge(graph, DrawnVectors(graph))
    encoder = GraftedEncoder(host, {2: knowledge}, settings={2: SETTINGS})
    texts = locate_mentions(encoder, annotate(graph, examples()), 2)
    list(fit(GraftTask(encoder, texts, texts, SHORT), out, SHORT, checkpoint_minutes=0))


def die_in(task, call):
    """Let a task be killed in its `call`-th step."""
    step, calls = task.step, 0

    def counted(self, batch, index):
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(self, batch, index)

    task.step = counted


def child(folder, out, task=None, call=0):
    """Train in a fork; with a task it is killed on the way. Return how the fork ended."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if task:
        die_in(task, call)
    train(folder, out)
    os._exit(0)


def main(folder):
    build(folder / "graph")
    write_host(folder / "host")
    assert child(folder, folder / "whole") == 0
    for task, call in ((MaskedTask, 1), (GraftTask, 2), (GraftTask, 3), (GraftTask, 1)):
        assert child(folder, folder / "parts", task, call) == -signal.SIGKILL
    assert child(folder, folder / "parts") == 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
