"""Train the reasoner that ships with kgraft, on pieces of public graphs.

    python -m tools.train_reasoner build/reasoner

It learns on Wikidata without the facts of wiki27k, on DBpedia in three languages and English, on a
graph of movies and on two medical taxonomies. It never sees FB15k-237, WN18RR, UMLS, wiki27k or any
of the inductive graphs' `unseen` parts. The state is chosen by the `train` parts of two inductive
graphs, whose facts are not trained on either; probabilities are fitted on all four of them.
Interrupted, the same command resumes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.data.path_graphs import judge, opened, path_graph
from benchmarks.harness import shared_data

from kgraft.reason import Reasoner, ReasonerConfig, ReasonerSettings
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.task import ReasonerTask, fit_calibration
from kgraft.training import fit

CONFIG = ReasonerConfig(width=32)
SETTINGS = ReasonerSettings(epochs=25, steps=250, patience=None, learning_rate=3e-3)
DBPEDIA = ("zh", "ja", "fr")
OTHERS = ("qa/metaqa", "graphs/medic", "graphs/hpo")
CHOSEN_BY = ("fb237_v1", "WN18RR_v1")
CALIBRATED_BY = (*CHOSEN_BY, "fb237_v4", "WN18RR_v4")


def main() -> None:
    """Train, fit probabilities, and write the reasoner."""
    out, data = Path(sys.argv[1]), shared_data()
    if data is None:
        return
    first = out.with_name(f"{out.name}-raw")
    graphs = [f"dbp15k_{name}_en" for name in DBPEDIA] + [Path(name).name for name in OTHERS]
    facts: dict[str, Any] = {"graphs": ["wikidata without wiki27k", *graphs]}
    if not first.exists():
        valid = [judge(inductive(data, name), "valid") for name in CHOSEN_BY]
        reasoner = Reasoner(CONFIG, seed=SETTINGS.seed)
        task = ReasonerTask(reasoner, list(training_graphs(data)), valid, SETTINGS, facts=facts)
        for epoch in fit(task, first, SETTINGS):
            figures = {name: round(value, 4) for name, value in epoch.figures.items()}
            loss = round(epoch.losses["loss"], 3)
            print(f"{epoch.number}  {epoch.seconds / 60:.1f} min  {loss}  {figures}", flush=True)
    reasoner = Reasoner.from_pretrained(first)
    calibration = fit_calibration(
        reasoner, [judge(inductive(data, name), "valid") for name in CALIBRATED_BY]
    )
    facts = {**facts, "settings": SETTINGS.to_dict(), "calibration": calibration}
    reasoner.save_pretrained(out, facts=facts)
    print(out, calibration)


def training_graphs(data: Path) -> Iterator[PathGraph]:
    """Yield the graphs that are learnt from."""
    yield wikidata_without(data)
    for pair in DBPEDIA:
        for side in ("left", "right"):
            yield path_graph(opened(data / f"fuse/dbp15k_{pair}_en" / side))
    for name in OTHERS:
        yield path_graph(opened(data / name))


def wikidata_without(data: Path) -> PathGraph:
    """Return Wikidata without the facts between two entities of wiki27k."""
    graph, judge = opened(data / "graphs/wikidata"), opened(data / "graphs/wiki27k")
    ids = np.array(graph.entities["id"].to_pylist())
    is_judge = np.isin(ids, judge.entities["id"].to_pylist())
    triples = graph.whole().triples
    kept = triples.take(~(is_judge[triples.head] & is_judge[triples.tail]))
    return PathGraph.of_arrays(kept, len(ids), graph.manifest.relations)


def inductive(data: Path, name: str) -> Path:
    """Return the folder of the training part of an inductive graph."""
    return data / "graphs/inductive" / name / "train"


if __name__ == "__main__":
    main()
