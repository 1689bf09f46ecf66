"""Train the graph of a folder in as many processes as there are; a script."""

import sys
from pathlib import Path

from tests.embed.tiny import quick

from kgraft.embed.train import train_embedding
from kgraft.graph import Graph

# A last batch of one query or one chunk, of which a second process has no share.
KINDS = {
    "softmax": quick(batch=175),
    "sampled": quick("transe", loss="self-adversarial", chunk=20, batch=40),
}


def run(folder):
    """Train all kinds on `folder`/graph into `folder`/KIND."""
    graph = Graph.open(folder / "graph")
    for name, settings in KINDS.items():
        list(train_embedding(graph, settings, folder / name))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
