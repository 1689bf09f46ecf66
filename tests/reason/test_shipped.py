"""The reasoner that ships: it completes graphs that it never saw, and its reasons are facts."""

import numpy as np
import pytest
from tests.embed.tiny import build, desk_triples
from tests.reason.tiny import FixedSource

from kgraft.graph import Graph
from kgraft.reason import Completer, PathSource, Reasoner, open_completer


@pytest.fixture(scope="module")
def world():
    return open_completer(Graph.open("world"))


def test_it_is_small_and_calibrated():
    reasoner = Reasoner.load()
    assert sum(parameter.numel() for parameter in reasoner.parameters()) < 1_000_000
    assert set(reasoner.calibration) >= {"weights", "bias"}


@pytest.mark.slow
def test_it_completes_a_graph_without_training(tmp_path):
    graph = build(tmp_path / "graph", desk_triples())
    shipped = Completer(graph, [PathSource(graph, Reasoner.load())])
    chance = Completer(graph, [FixedSource.random("noise", graph)])
    mrr, noise = (made.rank("test").figures()["mrr"] for made in (shipped, chance))
    assert mrr > max(0.5, 2 * noise)


@pytest.mark.slow
def test_every_reason_is_a_fact_of_the_world(world):
    triples = world.graph.split("train").triples
    ids, relations = (
        table["id"].to_pylist() for table in (world.graph.entities, world.graph.relations)
    )
    facts = {
        (ids[h], relations[r], ids[t])
        for h, r, t in zip(
            triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist(), strict=True
        )
    }
    for head, relation in [("Peru", "borders"), ("Peru", "continent"), ("Lyon", "located in")]:
        predictions = world.tails(world.graph.resolve(head), relation, limit=3, reasons=2)
        assert predictions
        for prediction in predictions:
            assert 0 <= prediction.probability <= 1
            shown = {t for r in prediction.reasons for p in r.paths for t in p.triples()}
            assert shown <= facts


@pytest.mark.slow
def test_it_keeps_to_sense(world):
    peru, paris = (world.graph.resolve(name) for name in ("Peru", "Paris"))
    labels = [p.entity.label for p in world.tails(peru, "borders", limit=20, reasons=0)]
    assert "Peru" not in labels
    assert world.tails(paris, "capital of", new=True) == []
    known = [p for p in world.tails(peru, "borders", limit=20, reasons=0) if p.known]
    assert np.mean([p.probability for p in known]) > 0.1
