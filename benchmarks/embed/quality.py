"""Train each model with its preset for one graph, rank test, and record what came out.

Finished vectors and checkpoints stay in build/benchmarks, so that a run can be stopped and
resumed; a model is trained again when its settings or the graph change.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from benchmarks.harness import RESULTS, WORK, Benchmark, Goal, Run, shared_data
from kgraft.embed import EmbedSettings, LinkPredictor, preset_settings, train_embedding
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import PROTOCOL
from kgraft.vectors import read_vectors

MODELS = ("transe", "rotate", "distmult", "complex")
MOST_MINUTES = 60


def measure(
    benchmark: Benchmark,
    graph_name: str,
    least: dict[str, tuple[float, float]],
    *,
    work: Path = WORK,
    results: Path = RESULTS,
) -> None:
    """Run a benchmark on one graph; `least` holds MRR and Hits@10 to reach, by model."""
    data = shared_data()
    if data is None:
        return
    graph = _graph(data / "graphs" / graph_name, work / graph_name)
    with benchmark.run(
        protocol=f"""{PROTOCOL}: the test split of {graph_name}. Each model is trained on the train
        split with the preset MODEL-{graph_name}, tuned on valid; the epoch is chosen by the MRR on
        valid. Minutes are those spent in training steps on this machine, without validation.""",
        data={"name": graph_name, "version": graph.manifest.version},
        seeds=[preset_settings(f"{model}-{graph_name}").seed for model in MODELS],
        goals=_goals(least),
        folder=results,
    ) as run:
        for model in MODELS:
            folder = _trained(graph, preset_settings(f"{model}-{graph_name}"), work)
            _record(run, model, folder, graph)


def _goals(least: dict[str, tuple[float, float]]) -> dict[str, Goal]:
    goals: dict[str, Goal] = {}
    for model, (mrr, hits) in least.items():
        goals[f"{model}_mrr"] = {"at_least": mrr}
        goals[f"{model}_hits10"] = {"at_least": hits}
        goals[f"{model}_minutes"] = {"at_most": MOST_MINUTES}
    return goals


def _graph(source: Path, folder: Path) -> Graph:
    build_graph(open_source(source), folder, name=source.name, overwrite=folder.exists())
    return Graph.open(folder)


def _trained(graph: Graph, settings: EmbedSettings, work: Path) -> Path:
    """Return the vectors of these settings, trained now if they are not there."""
    folder = work / f"{graph.manifest.name}.{settings.model}"
    if folder.exists():
        stored = read_vectors(folder)
        same = EmbedSettings.from_dict(stored.facts["settings"]) == settings
        if same and stored.config.version == graph.manifest.version:
            return folder
        shutil.rmtree(folder)
    for epoch in train_embedding(graph, settings, folder):
        figures = {name: round(value, 4) for name, value in epoch.figures.items()}
        print(f"{folder.name} epoch {epoch.number}, {epoch.seconds / 60:.1f} min: {figures}")
    return folder


def _record(run: Run, model: str, folder: Path, graph: Graph) -> None:
    predictor = LinkPredictor.from_pretrained(folder, graph)
    figures = predictor.rank("test").figures()
    lines = (folder / "log.jsonl").read_text("utf-8").splitlines()
    epochs = [entry for line in lines if "seconds" in (entry := json.loads(line))]
    run.figure(f"{model}_mrr", round(figures["mrr"], 4))
    run.figure(f"{model}_hits10", round(figures["hits10"], 4))
    run.figure(f"{model}_minutes", round(epochs[-1]["seconds"] / 60, 1))
    run.figure(f"{model}_valid_mrr", round(predictor.stored.facts["valid"]["mrr"], 4))
    run.figure(f"{model}_epochs", len(epochs))
    run.figure(f"{model}_dimension", predictor.settings.dimension)
