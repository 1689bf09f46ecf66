"""Questions over a graph are answered by walking along what they ask for."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ask.tiny_questions import CONFIG
from tests.graft.tiny import few

from kgraft.ask.answerer import Walker


def test_only_what_is_around_is_an_answer(answerer, questions, graph):
    batch = answerer().windows(questions).batch(np.array([0]))
    scores, _ = answerer()(batch, questions.topic[:1], seed=0)
    near = set(graph.indices_of(["germany", "france", "euro"]).tolist())
    rivers = {int(n) for n in graph.indices_of([f"r{n}" for n in range(16) if n % 3 == 1])}
    assert set(scores.entity.tolist()) == near | rivers
    scores, walk = answerer(use_knowledge=False)(batch, questions.topic[:1], seed=0)
    assert walk is None
    assert set(scores.entity.tolist()) == set(range(len(graph.entities))) - {
        int(questions.topic[0])
    }


def test_answers_come_with_the_path_that_leads_there(answerer, questions, graph):
    answering = answerer()
    answered = answering.answer(questions, limit=2)
    facts = set(zip(graph.triples.head, graph.triples.relation, graph.triples.tail, strict=True))
    assert [each.question for each in answered] == questions.texts
    assert [each.topic.index for each in answered] == questions.topic.tolist()
    for each in answered:
        assert len(each.answers) <= 2
        scores = [answer.score for answer in each.answers]
        assert scores == sorted(scores, reverse=True)
        for answer in each.answers:
            path = answer.path
            assert 1 <= len(path) <= CONFIG.hops
            assert path.entities[0] == each.topic
            assert path.entities[-1] == answer.entity
            ends = zip(path.entities[:-1], path.entities[1:], strict=True)
            steps = zip(ends, path.relations, path.forward, strict=True)
            for (one, other), relation, forward in steps:
                head, tail = (one, other) if forward else (other, one)
                assert (head.index, relation.index, tail.index) in facts
    best = [each.answers[0].entity.index if each.answers else -1 for each in answered]
    right = [e in answers for e, answers in zip(best, questions.answers, strict=True)]
    assert right == answering.right(questions).tolist()


def test_answers_as_json(answerer, questions, graph):
    (answered,) = answerer().answer(questions.select(np.array([0])), limit=1)
    (answer,) = answered.answers
    stored = answered.to_dict()
    assert stored["question"] == questions.texts[0]
    assert stored["about"] == {"id": "berlin", "label": "Berlin"}
    (only,) = stored["answers"]
    assert only["id"] == answer.entity.id
    assert only["score"] == answer.score
    labels = {e: e.label for e in answer.path.entities}
    assert {fact[0] for fact in only["path"]} | {fact[2] for fact in only["path"]} == set(
        labels.values()
    )


def test_without_knowledge_there_is_no_path(answerer, questions):
    answered = answerer(use_knowledge=False).answer(questions, limit=1)
    assert all(len(each.answers[0].path) == 0 for each in answered)
    assert answered[0].answers[0].to_dict()["path"] == []


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
