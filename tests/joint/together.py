"""Pre-train in as many processes as there are, resuming once; a script for `accelerate launch`."""

import sys
from pathlib import Path

from tests.joint.conftest import CONFIG, marked

from kgraft.corpus import AnnotatedTexts, annotate
from kgraft.graph import Graph
from kgraft.joint import JointModel, PretrainSettings, pretrain
from kgraft.text import Encoder
from kgraft.vectors import RefreshSettings

QUICK = PretrainSettings(
    epochs=4, batch_tokens=64, roots=4, random_negatives=6, language_rate=1e-3, head_rate=1e-2,
    refresh=RefreshSettings(first=3, every=2, most=6),
)  # fmt: skip


def begin(folder):
    """Return a run that yields after each epoch."""
    graph = Graph.open(folder / "graph")
    data = AnnotatedTexts.concat([annotate(graph, marked())] * 3)
    encoder = Encoder.load(folder / "host", device="cpu", max_length=64)
    model = JointModel(encoder, CONFIG)
    return pretrain(model, graph, data, folder / "model", valid=data, settings=QUICK)


def run(folder):
    """Leave off after two epochs and go on."""
    begun = begin(folder)
    next(begun), next(begun)
    begun.close()
    assert [epoch.number for epoch in begin(folder)] == [3, 4]


if __name__ == "__main__":
    run(Path(sys.argv[1]))
