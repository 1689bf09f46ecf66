"""Missing links are predicted from text and structure."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.embed.tiny import build, desk_triples
from tests.joint.conftest import CONFIG

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint import JointModel, open_memory
from kgraft.joint import model as joint_model
from kgraft.measure import Queries
from kgraft.tasks.entity_classes import GraphReader
from kgraft.tasks.joint_tasks import FineTuning, predict_links
from kgraft.tasks.link_prediction import FactQueries, PredictionSettings, PredictionTrainee, _askers
from kgraft.text import Encoder
from kgraft.vectors.neighbourhood import neighbourhoods

QUICK = PredictionSettings(epochs=30, batch=32, strangers=16, rate=5e-3)


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desks") / "graph"
    build(folder, desk_triples())
    return Graph.open(folder)


@pytest.fixture
def trainee(desks, host_folder, tmp_path):
    model = JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)
    memory = open_memory(model, desks, folder=tmp_path)
    return PredictionTrainee(GraphReader(model, desks, memory), memory.relations, desks, QUICK)


def test_questions_and_what_is_known(desks):
    whole = desks.whole().triples
    count = len(desks.relations)
    asked, known = FactQueries(whole.take(np.arange(5)), count), Queries.of(whole, count)
    facts = set(zip(whole.head.tolist(), whole.relation.tolist(), whole.tail.tolist(), strict=True))
    assert len(asked) == 10
    place, answer = known.known(asked.batch(np.arange(10)))
    for row in range(10):
        entity, relation = int(asked.entity[row]), int(asked.relation[row])
        right = set(answer[place == row].tolist())
        if relation < count:
            assert right == {t for h, r, t in facts if (h, r) == (entity, relation)}
        else:
            assert right == {h for h, r, t in facts if (t, r) == (entity, relation - count)}
        assert int(asked.answer[row]) in right


@pytest.mark.slow
def test_it_learns(trainee):
    before = trainee.validate()["mrr"]
    place = 0
    for epoch in range(10):
        for batch in trainee.batches(epoch):
            trainee.step(batch, place)
            place += 1
    assert trainee.validate()["mrr"] > before + 0.1


def test_ranks_are_filtered(trainee, desks):
    ranks = trainee.rank(trainee.test).rank
    assert len(ranks) == 2 * desks.manifest.splits["test"]
    vectors = trainee.module["reader"](np.arange(trainee.count), seed=0)
    row = 0
    with torch.no_grad():
        relation = torch.from_numpy(trainee.test.relation[:1])
        head = vectors[trainee.test.entity[row]][None]
        wanted = trainee.module["predictor"](head, relation, trainee.relations)
        scores = (wanted @ trainee.module["predictor"].entity(vectors).T)[0]
    known = set(trainee.known.known(trainee.test.batch(np.array([0])))[1].tolist())
    own = scores[trainee.test.answer[0]]
    rivals = [n for n in range(trainee.count) if n not in known]
    higher = sum(float(scores[n] > own) for n in rivals)
    equal = sum(float(scores[n] == own) for n in rivals)
    assert ranks[0] == pytest.approx(1 + higher + equal / 2)


def test_a_graph_without_facts(tmp_path, trainee):
    build(tmp_path / "bare", [], [{"id": "a"}])
    with pytest.raises(BadInput, match="no facts to learn from"):
        PredictionTrainee(
            trainee.module["reader"], trainee.relations, Graph.open(tmp_path / "bare"), QUICK
        )


def test_who_asks_for_a_candidate():
    found = _askers(np.array([2, 0, 2]), np.array([7, 8, 9]), 4)
    assert found.tolist() == [[8, -1], [-1, -1], [7, 9], [-1, -1]]
    assert _askers(np.zeros(0, int), np.zeros(0, int), 2).tolist() == [[-1], [-1]]


def test_nothing_of_the_test_facts_is_seen(desks, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    seen = []

    def sampled(graph, *rest, **options):
        seen.append(graph.only)
        return neighbourhoods(graph, *rest, **options)

    monkeypatch.setattr(joint_model, "neighbourhoods", sampled)
    model = JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)
    predict_links(FineTuning(model, desks), settings=replace(QUICK, epochs=1))
    assert set(seen) == {"train"}
