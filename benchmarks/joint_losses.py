"""What each of the four losses contributes: python -m benchmarks.joint_losses (an ablation)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.harness import Benchmark, shared_data
from benchmarks.joint_wikipedia import SETTINGS, Untold, pretrained, untold_types
from benchmarks.kept import counted
from benchmarks.relation_sentences import relation_sentences
from kgraft.joint import JointModel, Weights, open_memory
from kgraft.joint.settings import LOSSES
from kgraft.storage import sha256
from kgraft.tasks.entity_classes import EntitySettings, GraphReader
from kgraft.tasks.few_shot import RelationTexts, episodes
from kgraft.tasks.joint_tasks import FineTuning, learn_classes, read_relations

SHORT = SETTINGS.changed(epochs=1)
CLASSES = EntitySettings()
ASKED = 10_000
PROTOCOL = """
Joint pre-training as in joint_wikipedia but for one epoch, with all four losses and with one of
them left out. types: accuracy of the types of entities of graphs/wikidata, the graph attention
fine-tuned as in joint_classify. relations: 5-way-1-shot accuracy on the 16 validation relations of
FewRel without any fine-tuning, every edge between the two marked entities hidden. without_X is the
figure with the loss X left out; contribution is what it falls short of all four.
"""


def main() -> None:
    """Pre-train five times, measure and record."""
    data = shared_data()
    if data is None:
        return
    asked = untold_types(data)
    _, test = relation_sentences(data, asked.graph)
    with Benchmark(
        "joint_losses",
        protocol=PROTOCOL,
        data={"name": "wikidata", "sha256": sha256(data / "graphs" / "wikidata" / "entities.tsv")},
        seeds=[0],
    ) as run:
        whole = _figures(data, asked, test, None)
        for name, value in whole.items():
            run.figure(f"{name}_all", value)
        for loss in LOSSES:
            found = _figures(data, asked, test, loss)
            for name, value in found.items():
                run.figure(f"{name}_without_{loss}", value)
                run.figure(f"{name}_contribution_of_{loss}", round(whole[name] - value, 4))


def _figures(
    data: Path, asked: Untold, test: RelationTexts, without: str | None
) -> dict[str, float]:
    """Return how good a model is that was pre-trained without one of the losses."""
    name = f"joint-without-{without}" if without else "joint-short"
    weights = replace(Weights(), **{without: 0.0}) if without else Weights()
    settings = replace(SHORT, weights=weights)

    def work() -> np.ndarray:
        load = pretrained(data, settings, name)
        return np.array([_types(load(), asked), _relations(load(), asked, test)])

    found = counted(name, (settings, asked.graph.manifest.version, CLASSES), work)
    print(name, found, flush=True)
    return dict(zip(("types", "relations"), found.tolist(), strict=True))


def _types(model: JointModel, asked: Untold) -> float:
    reader = GraphReader(model, asked.graph, open_memory(model, asked.graph))
    return float(learn_classes(reader, model.encoder.dimension, asked[1:], CLASSES).mean())


def _relations(model: JointModel, asked: Untold, test: RelationTexts) -> float:
    vectors = read_relations(FineTuning(model, asked.graph), test)
    return float(episodes(vectors, test.relation, 5, 1, ASKED).mean())


if __name__ == "__main__":
    main()
