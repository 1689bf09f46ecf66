"""Scores against the formula; facts that are hidden; what does not depend on names and order."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reason.paths.naive import naive_states, without_fact
from tests.reason.paths.tiny import TINY, edge_list, few, path_graphs, random_graph, tiny_reasoner

from kgraft.errors import BadInput, NotFound
from kgraft.reason import Reasoner
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import WEIGHTS, AskedFacts


@pytest.fixture(scope="module")
def reasoner():
    return tiny_reasoner()


def ask(facts, *, hidden=False):
    entity, relation, answer = np.array(facts).T
    return AskedFacts(entity, relation, answer if hidden else None)


@torch.no_grad()
def scores_of(reasoner, graph, asked):
    return reasoner(graph, asked)


def assert_close(one, other):
    torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@torch.no_grad()
def naive_scores(reasoner, graph, fact, *, hidden):
    """Score all entities by the formulas, for one query (entity, relation, answer)."""
    entity, relation, answer = fact
    edges = edge_list(graph.triples, graph.relations)
    kept = without_fact(edges, graph.relations, fact) if hidden else edges
    vectors = reasoner.relation_vectors(graph, torch.tensor([relation % graph.relations]))[0]
    query = vectors[relation]
    states = naive_states(reasoner.entities.layers, query, vectors, kept, entity, graph.entities)
    scores = []
    for v in range(graph.entities):
        own = kept if v == answer else edges
        kinds = [kind for node, kind, _ in own if node == v]
        z = sum(
            (np.log1p(kinds.count(kind)) * vectors[kind] for kind in set(kinds)),
            torch.zeros_like(query),
        )
        degree = torch.tensor([np.log1p(len(kinds))], dtype=torch.float32)
        by_path = reasoner.path_score(torch.cat([states[v], query]))
        by_ends = reasoner.end_score(torch.cat([reasoner.end_norm(z), query, degree]))
        scores.append(by_path + by_ends)
    return torch.cat(scores)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_formulas(reasoner, seed, hidden):
    graph = random_graph(seed, entities=14, triples=20)
    edges = edge_list(graph.triples, graph.relations)
    facts = [edges[0], edges[3], edges[-2]]
    scores = scores_of(reasoner, graph, ask(facts, hidden=hidden))
    for own, fact in zip(scores, facts, strict=True):
        assert_close(own, naive_scores(reasoner, graph, fact, hidden=hidden))


@st.composite
def asked_facts(draw):
    """Draw a graph, loops included, and a fact of it in one direction or the other."""
    graph = draw(path_graphs(entities=8))
    return graph, draw(st.sampled_from(edge_list(graph.triples, graph.relations)))


@few
@given(asked_facts())
@torch.no_grad()
def test_a_hidden_fact_is_as_if_it_were_not_there(case):
    """But for how relations meet, and for what other answers are asked of by this relation."""
    graph, (entity, relation, answer) = case
    reasoner = tiny_reasoner()
    head, tail = (entity, answer) if relation < graph.relations else (answer, entity)
    kept = (graph.triples != [head, relation % graph.relations, tail]).any(1)
    smaller = PathGraph.of(graph.triples[kept], graph.entities, graph.relations)
    smaller = replace(smaller, relation_edges=graph.relation_edges)
    vectors = reasoner.relation_vectors(graph, torch.tensor([relation % graph.relations]))
    query = torch.zeros(1, dtype=torch.int64), torch.tensor([relation])
    ends, less = (reasoner.end_scores(g, vectors, *query) for g in (graph, smaller))
    ends[0, answer] = less[0, answer]
    asked = ask([(entity, relation, answer)])
    expected = reasoner.add_paths(smaller, asked, vectors, vectors[:, relation], ends)
    assert_close(reasoner(graph, replace(asked, answer=np.array([answer]))), expected)


def test_a_fact_that_is_not_there_can_be_hidden(reasoner):
    graph = PathGraph.of(np.array([(0, 0, 1), (1, 0, 2)]), 4, 1)
    facts = [(0, 0, 3), (2, 1, 0)]
    hidden, shown = (scores_of(reasoner, graph, ask(facts, hidden=h)) for h in (True, False))
    assert_close(hidden, shown)


def test_one_query_is_scored_as_many_are(reasoner):
    graph = random_graph(4)
    facts = edge_list(graph.triples, graph.relations)[::7]
    for hidden in (False, True):
        together = scores_of(reasoner, graph, ask(facts, hidden=hidden))
        for own, fact in zip(together, facts, strict=True):
            assert_close(own, scores_of(reasoner, graph, ask([fact], hidden=hidden))[0])


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_entities_does_not_matter(reasoner, seed):
    graph = random_graph(seed)
    new = np.random.default_rng(seed).permutation(graph.entities)
    triples = graph.triples.copy()
    triples[:, [0, 2]] = new[triples[:, [0, 2]]]
    turned = PathGraph.of(triples, graph.entities, graph.relations)
    asked = ask(edge_list(graph.triples, graph.relations)[::9], hidden=True)
    moved = AskedFacts(new[asked.entity], asked.relation, new[asked.answer])
    scores = scores_of(reasoner, graph, asked)
    assert_close(scores_of(reasoner, turned, moved)[:, torch.from_numpy(new)], scores)


@pytest.mark.parametrize("seed", range(2))
def test_relations_have_no_names(reasoner, seed):
    """What was learnt of no relation in particular holds for those of any graph."""
    graph = random_graph(seed, relations=4)
    new = np.random.default_rng(seed).permutation(4)
    triples = graph.triples.copy()
    triples[:, 1] = new[triples[:, 1]]
    renamed = PathGraph.of(triples, graph.entities, 4)
    asked = ask(edge_list(graph.triples, 4)[::9], hidden=True)
    direct = asked.relation < 4
    relation = np.where(direct, new[asked.relation % 4], new[asked.relation % 4] + 4)
    scores = scores_of(reasoner, graph, asked)
    assert_close(scores_of(reasoner, renamed, replace(asked, relation=relation)), scores)


def test_entities_out_of_reach_differ_by_their_ends_alone(reasoner):
    graph = PathGraph.of(np.array([(0, 0, 1), (2, 0, 3), (4, 0, 5)]), 7, 1)
    scores = scores_of(reasoner, graph, ask([(0, 0, 1)]))[0]
    assert_close(scores[2], scores[4])
    assert_close(scores[3], scores[5])
    assert abs(scores[2] - scores[3]) > 1e-6


def test_gradients_reach_all_parameters():
    reasoner, graph = tiny_reasoner(), random_graph(5)
    asked = ask(edge_list(graph.triples, graph.relations)[::11], hidden=True)
    reasoner(graph, asked).square().sum().backward()
    for name, parameter in reasoner.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_a_seed_gives_one_reasoner():
    weights = [tiny_reasoner(seed).state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


def test_what_is_saved_is_loaded(reasoner, tmp_path):
    calibration = {"weights": [1.0, -0.5], "bias": 0.25, "error": 0.01}
    reasoner.save_pretrained(tmp_path / "r", facts={"calibration": calibration})
    loaded = Reasoner.load(tmp_path / "r")
    assert loaded.config == TINY
    assert loaded.calibration == calibration
    assert not loaded.training
    graph = random_graph(6)
    asked = ask(edge_list(graph.triples, graph.relations)[::5])
    assert torch.equal(scores_of(loaded, graph, asked), scores_of(reasoner, graph, asked))
    reasoner.save_pretrained(tmp_path / "plain")
    assert Reasoner.from_pretrained(tmp_path / "plain").calibration is None


def test_a_folder_without_a_reasoner_is_refused(reasoner, tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        Reasoner.load(tmp_path / "nowhere")
    reasoner.save_pretrained(tmp_path / "r")
    (tmp_path / "r" / WEIGHTS).write_bytes(b"cut")
    with pytest.raises(BadInput, match=WEIGHTS):
        Reasoner.load(tmp_path / "r")
