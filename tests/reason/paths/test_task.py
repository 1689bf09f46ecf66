"""Training: what is asked for, the loss, the figures that judge, and that it learns."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reason.paths.tiny import TINY, edge_list, few, path_graphs, random_graph, tiny_reasoner

from kgraft.measure import Queries
from kgraft.reason import Reasoner, ReasonerSettings
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import AskedFacts
from kgraft.reason.paths.task import (
    ReasonerTask,
    ValidGraph,
    answer_loss,
    both_directions,
    fit_calibration,
    rank_valid,
)
from kgraft.training import read_manifest, train_in_memory

QUICK = ReasonerSettings(epochs=2, steps=5, batch=4, piece=20, learning_rate=3e-3)


def mirrored(pairs=14):
    """Return a graph with an obvious rule, `back` is the inverse of `to`, and held-out facts."""
    to = [(n, 0, (5 * n + 3) % pairs) for n in range(pairs)]
    back = [(t, 1, h) for h, _, t in to]
    train = np.array([*to, *back[4:]])
    graph = PathGraph.of(train, pairs, 2)
    held_out = np.array(back[:4])
    queries, known = (queries_of(triples, 2) for triples in (held_out, np.array(to + back)))
    return ValidGraph(graph, queries, known)


def queries_of(triples, relations):
    facts = both_directions(triples, relations)
    return Queries.group(facts.entity, facts.relation, facts.answer, relations)


@few
@given(path_graphs())
def test_facts_are_asked_for_in_both_directions(graph):
    asked = both_directions(graph.triples, graph.relations)
    facts = np.stack([asked.entity, asked.relation, asked.answer], axis=1).tolist()
    assert list(map(tuple, facts)) == edge_list(graph.triples, graph.relations)
    assert len(asked) == 2 * len(graph.triples)


@few
@given(path_graphs(), st.integers(0, 99))
def test_the_loss_is_that_of_the_answer_among_wrong_ones(graph, seed):
    asked = both_directions(graph.triples, graph.relations)
    scores = torch.randn(len(asked), graph.entities, generator=torch.Generator().manual_seed(seed))
    losses = []
    edges = set(edge_list(graph.triples, graph.relations))
    for row, fact in enumerate(edge_list(graph.triples, graph.relations)):
        entity, kind, answer = fact
        rivals = [v for v in range(graph.entities) if (entity, kind, v) not in edges]
        total = sum(np.exp(float(scores[row, v])) for v in [answer, *rivals])
        if sum(node == answer for node, _, _ in edges) > 1:  # else it would be isolated
            losses.append(np.log(total) - float(scores[row, answer]))
    loss = answer_loss(scores, graph, asked)
    assert float(loss) == pytest.approx(sum(losses) / max(len(losses), 1), abs=1e-5)


def test_the_mrr_is_that_of_a_naive_ranker():
    valid, reasoner = mirrored(), tiny_reasoner()
    with torch.no_grad():
        asked = AskedFacts(valid.queries.entity, valid.queries.relation)
        scores = reasoner(valid.graph, asked).numpy()
    reciprocal = []
    for row, own in enumerate(scores):
        batch = valid.queries.batch(np.array([row]))
        known = set(valid.known.known(batch)[1].tolist())
        for answer in valid.queries.answers(np.array([row]))[1]:
            rivals = np.array([s for v, s in enumerate(own) if v not in known])
            above, equal = (rivals > own[answer]).sum(), (rivals == own[answer]).sum()
            reciprocal.append(1 / (1 + above + equal / 2))
    assert rank_valid(reasoner, valid) == pytest.approx(np.mean(reciprocal), rel=1e-5)


@pytest.mark.slow
def test_an_obvious_rule_is_learnt():
    valid = mirrored()
    settings = QUICK.replace(epochs=4, steps=15, learning_rate=1e-2)
    task = ReasonerTask(tiny_reasoner(), [valid.graph], [valid], settings)
    before = task.validate()["mrr"]
    epochs = train_in_memory(task, settings)
    assert epochs[-1].losses["loss"] < 0.6 * epochs[0].losses["loss"]
    assert task.validate()["mrr"] > max(before, 0.7)


def test_steps_are_a_function_of_their_number():
    graph = random_graph(0, entities=60, triples=150)
    tasks = [ReasonerTask(tiny_reasoner(), [graph], [], QUICK) for _ in range(2)]
    for task in tasks:
        task.steps = 10
    losses = [[task.step(batch, 0)["loss"] for batch in task.batches(1)] for task in tasks]
    assert losses[0] == losses[1]
    assert len(set(losses[0])) == len(losses[0])


@pytest.mark.parametrize("piece", [1, 2, 5])
def test_pieces_may_be_tiny(piece):
    graph = random_graph(0, entities=60, triples=80)
    task = ReasonerTask(tiny_reasoner(), [graph], [], QUICK.replace(piece=piece))
    for batch in range(10):
        assert np.isfinite(task.step(batch, batch)["loss"])


def test_figures_of_several_graphs_are_averaged():
    valid = [mirrored(), mirrored(20)]
    task = ReasonerTask(tiny_reasoner(), [valid[0].graph], valid, QUICK)
    figures = task.validate()
    assert figures["mrr"] == pytest.approx((figures["mrr_0"] + figures["mrr_1"]) / 2)
    assert set(ReasonerTask(tiny_reasoner(), [], valid[:1], QUICK).validate()) == {"mrr"}
    assert ReasonerTask(tiny_reasoner(), [], [], QUICK).validate() == {}


def test_what_is_saved_says_how_it_was_made(tmp_path):
    valid = mirrored()
    task = ReasonerTask(tiny_reasoner(), [valid.graph], [valid], QUICK, facts={"graph": "pairs"})
    assert task.identity() == {"reasoner": TINY.to_dict(), "graph": "pairs"}
    task.save(tmp_path / "out")
    facts = read_manifest(tmp_path / "out", Reasoner).facts
    assert (facts["graph"], facts["settings"]) == ("pairs", QUICK.to_dict())
    assert Reasoner.load(tmp_path / "out").calibration == facts["calibration"]
    assert len(facts["calibration"]["weights"]) == 2


def test_the_calibration_of_a_graph_is_judged_by_that_of_the_others():
    one, two = mirrored(), mirrored(20)
    reasoner = tiny_reasoner()
    alone, both = fit_calibration(reasoner, [one]), fit_calibration(reasoner, [one, two])
    for fitted in (alone, both):
        assert np.isfinite(fitted["weights"]).all()
        assert 0 <= fitted["error"] <= 1
    assert both["weights"] != alone["weights"]
