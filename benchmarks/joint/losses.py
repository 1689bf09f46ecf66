"""What each of the four losses contributes: python -m benchmarks.joint.losses (an ablation)."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from benchmarks.cached import cached_counts
from benchmarks.data.relation_sentences import to_measure
from benchmarks.harness import Benchmark, shared_data
from benchmarks.joint.baselines import fixed
from benchmarks.joint.wikipedia import SETTINGS, HiddenTypes, hidden_types, pretrained
from kgraft.joint import FineTuning, JointModel, Weights
from kgraft.storage import sha256
from kgraft.tasks import EntityClassSettings, RelationReader, RelationTexts
from kgraft.tasks.joint.classes import classify_entities
from kgraft.tasks.joint.relations import episodes
from kgraft.vectors import RefreshSettings

BENCHMARK = Benchmark(
    name="joint_losses",
    measures="what each of the four losses of joint pre-training contributes",
    minutes=None,
    data=(
        "corpus/vital_articles.jsonl.gz",
        "corpus/wikipedia_linked.jsonl.gz",
        "graphs/wikidata",
        "relations/fewrel",
    ),
)

SHORT = SETTINGS.replace(epochs=1, batch_tokens=1024, refresh=RefreshSettings(first=500))
EVERY = 4  # passages one is learnt from
LOSSES = tuple(weight.name for weight in fields(Weights))
CLASSES = EntityClassSettings()
TEXTS = 100  # of each relation
ASKED = 10_000
PROTOCOL = """
Joint pre-training as in joint_wikipedia but short, with all four losses and with one of them left
out: one epoch of every fourth passage, 1,024 tokens a step, the memory as the default encoder reads
it; then it is read again, and what was pre-trained stays as it is. types: accuracy of the types of
entities of graphs/wikidata as in joint_classify, by a classifier of the vectors that the graph
attention gives. relations: 5-way-1-shot accuracy on the first 100 texts of each of the 16
validation relations of FewRel, every edge between the two marked entities hidden. without_X is the
figure with the loss X left out; contribution is what it falls short of all four. One seed.
"""


def main() -> None:
    """Pre-train five times, measure and record."""
    data = shared_data()
    if data is None:
        return
    asked = hidden_types(data)
    test = to_measure(data, asked.graph, TEXTS)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wikidata", "sha256": sha256(data / "graphs" / "wikidata" / "entities.tsv")},
        seeds=[0],
    ) as run:
        all_losses = _figures(data, asked, test, None)
        for name, value in all_losses.items():
            run.figure(f"{name}_all", value)
        for loss in LOSSES:
            figures = _figures(data, asked, test, loss)
            for name, value in figures.items():
                run.figure(f"{name}_without_{loss}", value)
                run.figure(f"{name}_contribution_of_{loss}", round(all_losses[name] - value, 4))


def _figures(
    data: Path, asked: HiddenTypes, test: RelationTexts, without: str | None
) -> dict[str, float]:
    """Return how good a model is that was pre-trained without one of the losses."""
    name = f"joint-without-{without}" if without else "joint-short"
    weights = Weights().replace(**{without: 0.0}) if without else Weights()
    settings = SHORT.replace(weights=weights)

    def work() -> np.ndarray:
        model = pretrained(data, settings, name, every=EVERY)()
        return np.array([_types(model, asked), _relations(model, asked, test)])

    made_by = (settings, EVERY, asked.graph.manifest.version, CLASSES, TEXTS, ASKED)
    figures = cached_counts(name, made_by, work)
    print(name, figures, flush=True)
    return dict(zip(("types", "relations"), figures.tolist(), strict=True))


def _types(model: JointModel, asked: HiddenTypes) -> float:
    reader = fixed(model, asked.graph)
    return float(classify_entities(reader, model.encoder.dimension, asked[1:], CLASSES).mean())


def _relations(model: JointModel, asked: HiddenTypes, test: RelationTexts) -> float:
    vectors = RelationReader.of(FineTuning(model, asked.graph), test).all()
    return float(episodes(vectors, test.relation, 5, 1, ASKED).mean())


if __name__ == "__main__":
    main()
