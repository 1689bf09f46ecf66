"""Questions over a graph are answered by walking along what they ask for."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.joint.conftest import CONFIG

from kgraft.errors import BadInput
from kgraft.joint import JointModel, open_memory
from kgraft.tasks.graph_questions import (
    NOWHERE,
    Answerer,
    Edges,
    Questions,
    QuestionSettings,
    QuestionTrainee,
    answer_loss,
    walk_on,
)
from kgraft.text import Encoder

ASKED = [
    ("what is Berlin the capital of", "Berlin", ["Germany"]),
    ("the neighbours of Germany", "Germany", ["France"]),
    ("the neighbours of France", "France", ["Germany"]),
    ("one pays in France with", "France", ["euro"]),
    ("one pays in Germany with", "Germany", ["euro"]),
    ("where lies New York City", "New York City", ["New York"]),
    ("what does one pay with where Berlin is the capital", "Berlin", ["euro"]),
    ("the neighbours of the country of Berlin", "Berlin", ["France"]),
    ("who knows River 3", "River 3", ["nobody"]),
    ("about nothing known", "nothing", ["France"]),
]
QUICK = QuestionSettings(hops=2, epochs=1, batch=4, language_rate=2e-3, walker_rate=1e-2)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("questions") / "asked.jsonl"
    with path.open("w") as file:
        for text, topic, answers in ASKED:
            start = text.index(topic)
            mention = {"start": start, "end": start + len(topic), "label": topic}
            file.write(json.dumps({"text": text, "mentions": [mention], "answers": answers}) + "\n")
    return path


@pytest.fixture
def asked(path, graph):
    return Questions.read(path, graph)


@pytest.fixture
def answerer(graph, host_folder, tmp_path):
    model = JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)
    memory = open_memory(model, graph, folder=tmp_path)
    return lambda **options: Answerer(model, graph, memory, QUICK, **options)


def test_questions(asked, graph):
    assert len(asked) == 9  # the last is about nothing that the graph knows
    assert asked.topic[0] == graph.numbers_of(["berlin"])[0]
    assert asked.answers[0].tolist() == graph.numbers_of(["germany"]).tolist()
    assert asked.answers[8].tolist() == []


@given(seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_a_step_follows_the_formula(graph, seed):
    torch.manual_seed(seed)
    edges, relations = Edges.of(graph), len(graph.relations)
    mass, p = torch.rand(len(graph.entities), 3), torch.rand(2 * relations, 3)
    found = walk_on(mass, p, edges)
    expected = torch.zeros_like(mass)
    facts = graph.triples
    rows = zip(facts.head.tolist(), facts.relation.tolist(), facts.tail.tolist(), strict=True)
    for head, relation, tail in rows:
        expected[tail] += mass[head] * p[relation]
        expected[head] += mass[tail] * p[relation + relations]
    assert torch.allclose(found, expected.clamp_max(1.0), atol=1e-5)


def test_the_loss_by_hand():
    scores = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
    likely = scores.softmax(0)
    expected = -(torch.log(likely[1, 0] + likely[2, 0]) + torch.log(likely[0, 1])) / 2
    found = answer_loss(scores, [np.array([1, 2]), np.array([0])])
    assert found.item() == pytest.approx(expected.item())


def test_only_what_is_around_is_an_answer(answerer, asked, graph):
    for knowing in (True, False):
        made = answerer(knowing=knowing).eval()
        windows = made.windows(asked)
        scores = made(windows.batch(np.array([0])), torch.from_numpy(asked.topic[:1]), seed=0)
        around = set(np.flatnonzero(scores[:, 0].detach().numpy() > NOWHERE).tolist())
        near = set(graph.numbers_of(["germany", "france", "euro"]).tolist())
        rivers = {int(n) for n in graph.numbers_of([f"r{n}" for n in range(16) if n % 3 == 1])}
        assert around == near | rivers


def test_it_learns_and_knowledge_helps(answerer, asked):
    right = {}
    for knowing in (True, False):
        trainee = QuestionTrainee(answerer(knowing=knowing), asked, asked, QUICK)
        trainee.steps = 120
        for place in range(120):
            batches = trainee.batches(place)
            trainee.step(batches[place % len(batches)], place)
        right[knowing] = trainee.right(asked)
        assert trainee.validate()["hits"] == pytest.approx(right[knowing].mean())
    assert right[True][:8].mean() > 0.8
    assert not right[True][8]


def test_a_bad_line(tmp_path, graph):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(BadInput, match="no question"):
        Questions.read(path, graph)
    path.write_text("")
    with pytest.raises(BadInput, match="holds no question about the graph"):
        Questions.read(path, graph)
