"""Questions over a graph are answered by walking along what they ask for."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import few
from tests.joint.conftest import CONFIG

from kgraft.errors import BadInput
from kgraft.joint import JointModel, open_memory
from kgraft.tasks.graph_questions import (
    Answerer,
    Questions,
    QuestionSettings,
    QuestionTrainee,
    Walker,
    answer_loss,
)
from kgraft.tasks.graph_walks import Reached
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


def test_the_loss_by_hand():
    scores = torch.tensor([0.0, 2.0, 1.0, 1.0, 0.0, 3.0])
    reached = Reached(np.array([0, 0, 0, 1, 1, 2]), np.array([4, 5, 6, 4, 5, 4]), scores)
    first, second = scores[:3].softmax(0), scores[3:5].softmax(0)
    expected = -(torch.log(first[1] + first[2]) + torch.log(second[0])) / 2
    found = answer_loss(reached, [np.array([5, 6]), np.array([4]), np.array([9])])
    assert found.item() == pytest.approx(expected.item())  # the last reaches no answer
    assert answer_loss(reached, [np.array([9])] * 3).item() == 0.0


def test_only_what_is_around_is_an_answer(answerer, asked, graph):
    batch = answerer().windows(asked).batch(np.array([0]))
    scores, _ = answerer()(batch, asked.topic[:1], seed=0)
    near = set(graph.numbers_of(["germany", "france", "euro"]).tolist())
    rivers = {int(n) for n in graph.numbers_of([f"r{n}" for n in range(16) if n % 3 == 1])}
    assert set(scores.entity.tolist()) == near | rivers
    scores, walk = answerer(knowing=False)(batch, asked.topic[:1], seed=0)
    assert walk is None
    assert set(scores.entity.tolist()) == set(range(len(graph.entities))) - {int(asked.topic[0])}


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


def test_answers_come_with_the_path_that_leads_there(answerer, asked, graph):
    trainee = QuestionTrainee(answerer(), asked, asked, QUICK)
    found = trainee.answers(asked, most=2)
    facts = set(zip(graph.triples.head, graph.triples.relation, graph.triples.tail, strict=True))
    assert len(found) == len(asked)
    for number, answers in enumerate(found):
        assert len(answers) <= 2
        assert [a.likely for a in answers] == sorted((a.likely for a in answers), reverse=True)
        for answer in answers:
            assert 1 <= len(answer.path) <= QUICK.hops
            at = asked.topic[number]
            for head, relation, tail in answer.path:
                assert (head, relation, tail) in facts
                assert at in (head, tail)
                at = tail if at == head else head
            assert at == answer.entity
    best = [answers[0].entity if answers else -1 for answers in found]
    right = [e in held for e, held in zip(best, asked.answers, strict=True)]
    assert right == trainee.right(asked).tolist()


def test_a_bad_line(tmp_path, graph):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(BadInput, match="no question"):
        Questions.read(path, graph)
    path.write_text("")
    with pytest.raises(BadInput, match="holds no question about the graph"):
        Questions.read(path, graph)


@pytest.mark.parametrize("lower", [False, True])
def test_the_lower_half_learns_only_if_it_may(answerer, asked, lower):
    """LM1 that stays is what the memory was read with."""
    settings = replace(QUICK, lower=lower)
    trainee = QuestionTrainee(answerer(), asked, asked, settings)
    host = trainee.answerer.model.encoder.model
    before = {name: p.detach().clone() for name, p in host.named_parameters()}
    trainee.step(trainee.batches(0)[0], 0)
    moved = {name for name, p in host.named_parameters() if not torch.equal(p, before[name])}
    assert any(".layer.1." in name for name in moved)
    assert any(".layer.0." in name for name in moved) == lower
    assert any("word_embeddings" in name for name in moved) == lower


@given(seed=st.integers(0, 1000))
@few
@torch.no_grad()
def test_how_entities_fit_by_the_formula(seed):
    torch.manual_seed(seed)
    walker, read, entities = Walker(8, 2), torch.randn(3, 5, 8), torch.randn(4, 8)
    expected = [
        [float(walker.fit(q[0]) @ walker.entity(e)) / 8**0.5 for q in read] for e in entities
    ]
    torch.testing.assert_close(walker.fits(read, entities), torch.tensor(expected))
