"""Speed of the reasoner, and whether its reasons are facts: make bench-reason.speed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.data.path_graphs import judge, opened, path_graph
from benchmarks.harness import Benchmark, Goal, Run, shared_data, turns
from kgraft.embed import EmbeddingTables, EmbedSettings
from kgraft.graph import Graph
from kgraft.measure import Queries, QueryBatch
from kgraft.reason import PathSource, Reasoner
from kgraft.reason.paths.kernel import propagate
from kgraft.reason.paths.path_graph import PathGraph

BENCHMARK = Benchmark(
    name="reason_speed",
    measures="the kernel of the reasoner, one prediction, and its reasons",
    minutes=6,
    data=("graphs/fb15k237", "graphs/wikidata", "graphs/inductive"),
)

QUERIES, WIDTH = 8, 32
DIMENSION = 512  # of the trained table that a prediction is compared with
PREDICTIONS = 12
EXPLAINED = 150  # queries whose best answer is explained

PROTOCOL = f"""
kernel_vs_scatter: seconds of one layer of message passing over FB15k-237 (544,230 edges), forward
and backward, {QUERIES} queries, width {WIDTH}: torch's gather, multiply and index_add over kgraft's
kernel, in turns, two threads. predict_seconds_vs_embed: seconds of one zero-shot prediction over
graphs/wikidata (110,992 entities), the graph opened and its relation read once, over those of
ranking all entities by a table of {DIMENSION} numbers (ComplEx) for the same query, in turns;
predict_cold_vs_embed: the same for a relation that is read for the first time. explained: of the
test queries of fb237_v1 and WN18RR_v1 (unseen parts) whose best answer is right, {EXPLAINED} each
at most, the share whose reason consists of facts of the graph's train triples, without the asked
one.
"""


def main() -> None:
    """Measure and record."""
    data = shared_data()
    if data is None:
        return
    goals: dict[str, Goal] = {
        "kernel_vs_scatter": {"at_least": 4},
        "predict_seconds_vs_embed": {"at_most": 30},
        "explained": {"at_least": 1.0},
    }
    described = {"name": "fb15k237, wikidata, inductive", "description": "see the data folder"}
    with BENCHMARK.run(protocol=PROTOCOL, data=described, seeds=[0], goals=goals) as run:
        _kernel(run, path_graph(opened(data / "graphs/fb15k237")))
        _prediction(run, opened(data / "graphs/wikidata"))
        _explained(run, data)


def _kernel(run: Run, graph: PathGraph) -> None:
    torch.manual_seed(0)
    states = torch.randn(QUERIES, graph.entities, WIDTH, requires_grad=True)
    relations = torch.randn(QUERIES, 2 * graph.relations, WIDTH, requires_grad=True)
    slope = torch.randn(QUERIES, graph.entities, WIDTH)
    node = torch.from_numpy(np.repeat(np.arange(graph.entities), np.diff(graph.edges.bounds)))
    kind = torch.from_numpy(graph.edges.relation).long()
    neighbour = torch.from_numpy(graph.edges.neighbour).long()

    def scatter() -> Tensor:
        messages = states[:, neighbour] * relations[:, kind]
        return torch.zeros_like(states).index_add(1, node, messages)

    def both_ways(layer: Tensor) -> None:
        states.grad = relations.grad = None
        torch.autograd.backward([layer], [slope])

    ours, theirs = turns(
        lambda: both_ways(propagate(states, relations, graph.edges, graph.entities)),
        lambda: both_ways(scatter()),
        repeats=5,
    )
    run.ratio("kernel_vs_scatter", theirs, ours)


def _prediction(run: Run, graph: Graph) -> None:
    source = PathSource(graph, Reasoner.load())
    size = graph.manifest
    settings = EmbedSettings(model="complex", similarity="dot", dimension=DIMENSION)
    tables = EmbeddingTables.draw(settings, size.entities, size.relations)
    queries = Queries.of(graph.triples, size.relations)
    chosen = np.random.default_rng(0).permutation(len(queries))[:PREDICTIONS]
    batches = [queries.batch(np.array([index])) for index in chosen]
    for batch in batches:
        source.score(batch)  # its relation is read
    warm, table = turns(
        lambda: [source.score(batch) for batch in batches],
        lambda: [_best(tables, batch) for batch in batches],
    )
    run.ratio("predict_seconds_vs_embed", warm, table)
    cold, table = turns(
        lambda: _cold(source, batches[0]), lambda: _best(tables, batches[0]), repeats=3
    )
    run.ratio("predict_cold_vs_embed", cold, table)
    run.figure("predict_milliseconds", round(1000 * float(np.median(warm)) / PREDICTIONS, 1))


def _best(tables: EmbeddingTables, batch: QueryBatch) -> np.ndarray:
    return np.argsort(-tables.score(batch)[0], kind="stable")[:10]


def _cold(source: PathSource, batch: QueryBatch) -> None:
    source.forget()
    source.score(batch)


def _explained(run: Run, data: Path) -> None:
    explained = total = 0
    for name in ("fb237_v1", "WN18RR_v1"):
        folder = data / "graphs/inductive" / name / "unseen"
        judged, graph = judge(folder, "test"), opened(folder)
        source = PathSource(graph, Reasoner.load())
        right = _right_best(source, judged.queries, judged.known)[:EXPLAINED]
        explained += sum(_rests_on_facts(graph, source, *query) for query in right)
        total += len(right)
    run.figure("explained", round(explained / total, 4))
    run.figure("explained_queries", total)


def _right_best(source: PathSource, queries: Queries, known: Queries) -> list[tuple[int, int, int]]:
    """Return the queries whose best new answer is right, with it."""
    right = []
    for index in range(len(queries)):
        batch = queries.batch(np.array([index]))
        answers = queries.answer[queries.bounds[index] : queries.bounds[index + 1]]
        scores = source.score(batch)[0]
        scores[np.setdiff1d(known.known(batch)[1], answers)] = -np.inf
        best = int(np.argmax(scores))
        if best in answers:
            right.append((int(batch.entity[0]), int(batch.relation[0]), best))
    return right


def _rests_on_facts(
    graph: Graph, source: PathSource, entity: int, relation: int, answer: int
) -> bool:
    """Tell whether an answer has a reason of facts of the graph alone, not the asked one."""
    size = graph.manifest
    train = Queries.of(graph.split("train").triples, size.relations)
    asked = (entity, relation, answer)
    if relation >= size.relations:
        asked = (answer, relation - size.relations, entity)
    reasons = source.reasons(entity, relation, answer, limit=1)
    facts = [triple for reason in reasons for path in reason.paths for triple in path.triples()]
    known = set()
    for head, name, tail in facts:
        triple = (graph.index(head), graph.relation(name).index, graph.index(tail))
        batch = QueryBatch(np.array([triple[0]]), np.array([triple[1]]))
        known.add(triple != asked and triple[2] in train.known(batch)[1])
    return bool(facts) and known == {True}


if __name__ == "__main__":
    main()
