"""Missing links are predicted from text and structure."""

import numpy as np
import pytest
import torch
from tests.embed.tiny import build, desk_triples

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import FineTuning, open_memory
from kgraft.joint import model as joint_model
from kgraft.measure import Queries
from kgraft.tasks import GraphReader, LinkPredictionSettings
from kgraft.tasks.joint.links import (
    FactQueries,
    LinkPredictionEvaluation,
    LinkPredictionTask,
    queries_by_answer,
)
from kgraft.vectors import neighbourhoods

QUICK = LinkPredictionSettings(epochs=30, batch=32, random_negatives=16, learning_rate=5e-3)


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desks") / "graph"
    build(folder, desk_triples())
    return Graph.open(folder)


@pytest.fixture
def task(desks, model, tmp_path):
    memory = open_memory(model, desks, folder=tmp_path)
    return LinkPredictionTask(GraphReader(model, desks, memory), memory.relations, desks, QUICK)


def test_questions_and_what_is_known(desks):
    whole = desks.whole().triples
    count = len(desks.relations)
    asked, known = FactQueries(whole.take(np.arange(5)), count), Queries.of(whole, count)
    facts = set(zip(whole.head.tolist(), whole.relation.tolist(), whole.tail.tolist(), strict=True))
    assert len(asked) == 10
    step, answer = known.known(asked.batch(np.arange(10)))
    for row in range(10):
        entity, relation = int(asked.entity[row]), int(asked.relation[row])
        right = set(answer[step == row].tolist())
        if relation < count:
            assert right == {t for h, r, t in facts if (h, r) == (entity, relation)}
        else:
            assert right == {h for h, r, t in facts if (t, r) == (entity, relation - count)}
        assert int(asked.answer[row]) in right


@pytest.mark.slow
def test_it_learns(task):
    before = task.validate()["mrr"]
    step = 0
    for epoch in range(10):
        for batch in task.batches(epoch):
            task.step(batch, step)
            step += 1
    assert task.validate()["mrr"] > before + 0.1


def test_ranks_are_filtered(task, desks):
    ranks = task.rank(task.test).rank
    assert len(ranks) == 2 * desks.manifest.splits["test"]
    vectors = task.module["reader"](np.arange(task.entities), seed=0)
    row = 0
    with torch.no_grad():
        relation = torch.from_numpy(task.test.relation[:1])
        head = vectors[task.test.entity[row]][None]
        wanted = task.module["scorer"](head, relation, task.relations)
        scores = (wanted @ task.module["scorer"].entity(vectors).T)[0]
    known = set(task.known.known(task.test.batch(np.array([0])))[1].tolist())
    own = scores[task.test.answer[0]]
    others = [n for n in range(task.entities) if n not in known]
    higher = sum(float(scores[n] > own) for n in others)
    equal = sum(float(scores[n] == own) for n in others)
    assert ranks[0] == pytest.approx(1 + higher + equal / 2)


def test_a_graph_without_facts(tmp_path, task):
    build(tmp_path / "bare", [], [{"id": "a"}])
    with pytest.raises(BadInput, match="facts"):
        LinkPredictionTask(
            task.module["reader"], task.relations, Graph.open(tmp_path / "bare"), QUICK
        )


def test_who_asks_for_a_candidate():
    found = queries_by_answer(np.array([2, 0, 2]), np.array([7, 8, 9]), 4)
    assert found.tolist() == [[8, -1], [-1, -1], [7, 9], [-1, -1]]
    assert queries_by_answer(np.zeros(0, int), np.zeros(0, int), 2).tolist() == [[-1], [-1]]


def test_nothing_of_the_test_facts_is_seen(desks, model, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    seen = []

    def sampled(graph, *rest, **options):
        seen.append(graph.only)
        return neighbourhoods(graph, *rest, **options)

    monkeypatch.setattr(joint_model, "neighbourhoods", sampled)
    evaluation = LinkPredictionEvaluation(QUICK.replace(epochs=1))
    evaluation.measure(FineTuning(model, desks), None)
    assert set(seen) == {"train"}
