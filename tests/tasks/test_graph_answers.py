"""Questions over a graph are answered by walking along what they ask for."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import few
from tests.tasks.asked import QUICK

from kgraft.tasks.graph_answers import Walker


def test_only_what_is_around_is_an_answer(answerer, asked, graph):
    batch = answerer().windows(asked).batch(np.array([0]))
    scores, _ = answerer()(batch, asked.topic[:1], seed=0)
    near = set(graph.numbers_of(["germany", "france", "euro"]).tolist())
    rivers = {int(n) for n in graph.numbers_of([f"r{n}" for n in range(16) if n % 3 == 1])}
    assert set(scores.entity.tolist()) == near | rivers
    scores, walk = answerer(knowing=False)(batch, asked.topic[:1], seed=0)
    assert walk is None
    assert set(scores.entity.tolist()) == set(range(len(graph.entities))) - {int(asked.topic[0])}


def test_answers_come_with_the_path_that_leads_there(answerer, asked, graph):
    answering = answerer()
    found = answering.answers(asked, most=2)
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
    assert right == answering.right(asked).tolist()


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
