"""The shipped reasoner on graphs that it never saw, against ULTRA: make bench-reason.paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.data.path_graphs import judge
from benchmarks.harness import Benchmark, Goal, Run, shared_data
from benchmarks.peers.ultra import Ultra
from kgraft.measure import (
    PROTOCOL,
    Logistic,
    Queries,
    QueryBatch,
    Score,
    answer_examples,
    calibration_error,
    rank,
)
from kgraft.reason import Reasoner
from kgraft.reason.paths.task import ValidGraph, reasoner_score

BENCHMARK = Benchmark(
    name="reason_paths",
    measures="completing graphs that the shipped reasoner never saw, against ULTRA",
    minutes=40,
    data=("graphs/inductive", "graphs/umls", "graphs/wiki27k", "peers"),
)

PORTED = {"fb237_v1": (0.470, 0.656), "WN18RR_v1": (0.591, 0.777)}  # MRR, Hits@10 as published
INDUCTIVE = ("fb237_v1", "fb237_v4", "WN18RR_v1", "WN18RR_v4")
UNSEEN = {name: f"graphs/inductive/{name}/unseen" for name in INDUCTIVE}
UNSEEN |= {"umls": "graphs/umls", "wiki27k": "graphs/wiki27k"}
MOST = 1000  # test queries of a graph, drawn once, where it has more than FEW
FEW = 4000
CHUNK = 16  # queries

PROTOCOL_TEXT = f"""
{PROTOCOL}: test triples of graphs that the reasoner has not seen in training; their train triples
are the graph (the `unseen` part of the inductive sets), and nothing is trained on them. Its
training data hold no triple of FB15k-237, WN18RR, UMLS or wiki27k; its state was chosen by the
`train` parts of fb237_v1 and WN18RR_v1. ultra: the published weights ultra_3g (trained on
FB15k-237, WN18RR and CoDEx-M, which hold the triples of the inductive sets), run by kgraft's kernel
on the same queries. frequent: entities by how often they answer the relation in the graph. wiki27k:
{MOST:,} test queries drawn at random, for all sides. port: ULTRA's weights on all test queries, to
check the implementation against the figures that its authors' code gives. ece: calibration error
over the 50 best new answers of each query, ece_best over the best one alone, by the probabilities
that ship with the reasoner.
"""


def main() -> None:
    """Rank and record."""
    data = shared_data()
    if data is None:
        return
    goals: dict[str, Goal] = {
        f"port_{name}": {"at_least": mrr - 0.002, "at_most": mrr + 0.002}
        for name, (mrr, _) in PORTED.items()
    }
    goals["zero_shot_gain_over_ultra"] = {"at_least": -0.02}
    goals["zero_shot_least_gain_over_frequent"] = {"at_least": 0.0}
    described = {"name": ", ".join(UNSEEN), "description": "see the data folder's README"}
    with BENCHMARK.run(protocol=PROTOCOL_TEXT, data=described, goals=goals) as run:
        _measure(run, data)


def _measure(run: Run, data: Path) -> None:
    reasoner = Reasoner.load()
    weights = data / "peers/ultra_3g.safetensors"
    means: dict[str, list[float]] = {"ours": [], "ultra": [], "frequent": []}
    for name, folder in UNSEEN.items():
        judged = _judge(data / folder)
        sides: dict[str, Score] = {
            "ours": reasoner_score(reasoner, judged.graph),
            "ultra": Ultra(weights, judged.graph).score,
            "frequent": _most_frequent(judged),
        }
        for side, score in sides.items():
            figures = _figures(score, judged)
            means[side].append(figures["mrr"])
            stem = {"ours": "zero_shot", "ultra": "ultra", "frequent": "frequent"}[side]
            run.figure(f"{stem}_{name}", round(figures["mrr"], 4))
            run.figure(f"{stem}_{name}_hits10", round(figures["hits10"], 4))
            if side == "ultra" and name in PORTED:
                run.figure(f"port_{name}", round(figures["mrr"], 4))
                run.figure(f"port_{name}_hits10", round(figures["hits10"], 4))
            print(name, side, {key: round(value, 4) for key, value in figures.items()}, flush=True)
        error, best_error = _calibration_errors(reasoner, judged)
        run.figure(f"ece_{name}", round(error, 4))
        run.figure(f"ece_best_{name}", round(best_error, 4))
    mean = {side: float(np.mean(values)) for side, values in means.items()}
    run.figure("paths_zero_shot_mrr", round(mean["ours"], 4))
    run.figure("ultra_zero_shot_mrr", round(mean["ultra"], 4))
    run.figure("zero_shot_gain_over_ultra", round(mean["ours"] - mean["ultra"], 4))
    least = min(a - b for a, b in zip(means["ours"], means["frequent"], strict=True))
    run.figure("zero_shot_least_gain_over_frequent", round(least, 4))


def _judge(folder: Path) -> ValidGraph:
    judged = judge(folder, "test")
    return judged if len(judged.queries) <= FEW else judge(folder, "test", most=MOST)


def _figures(score: Score, judged: ValidGraph) -> dict[str, float]:
    size = judged.graph.entities
    ranking = rank(score, judged.queries, judged.known, entities=size, scores=CHUNK * size)
    return ranking.figures()


def _most_frequent(judged: ValidGraph) -> Score:
    """Return the dumbest sensible rule: what answers the relation most often."""
    graph = judged.graph
    edges, size = graph.edges, 2 * graph.relations
    inverse = (edges.relation + graph.relations) % size  # of whom the entity is an answer
    node = np.repeat(np.arange(graph.entities), np.diff(edges.bounds))
    counts = np.zeros((size, graph.entities), np.float32)
    np.add.at(counts, (inverse, node), 1)

    def score(batch: QueryBatch) -> np.ndarray:
        chosen: np.ndarray = counts[batch.relation].copy()
        return chosen

    return score


def _calibration_errors(reasoner: Reasoner, judged: ValidGraph) -> tuple[float, float]:
    """Return the error over the best answers of each query, and over the very best alone."""
    assert reasoner.calibration is not None
    graph = judged.graph
    node = np.repeat(np.arange(graph.entities), np.diff(graph.edges.bounds))
    train = Queries.group(
        node, graph.edges.relation.astype(np.int64), graph.edges.neighbour.astype(np.int64),
        graph.relations,
    )  # fmt: skip
    score = reasoner_score(reasoner, graph)
    features, labels, _ = answer_examples(score, judged.queries, train, graph.entities)
    probability = Logistic.from_dict(reasoner.calibration).probability(features)
    is_best = features[:, 1] == 0  # log rank
    return (
        calibration_error(probability, labels),
        calibration_error(probability[is_best], labels[is_best]),
    )


if __name__ == "__main__":
    main()
