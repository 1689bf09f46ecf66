"""A reasoner at work on one graph: its scores, and the facts that it shows."""

import numpy as np
import pytest
import torch
from tests.embed.tiny import build, desk_triples
from tests.reason.paths.tiny import tiny_reasoner
from tests.threads import results_of_threads

from kgraft.measure import QueryBatch
from kgraft.reason import PathSource
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import AskedFacts


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(tmp_path_factory.mktemp("desks") / "graph", desk_triples())


@pytest.fixture(scope="module")
def source(graph):
    return PathSource(graph, tiny_reasoner())


@pytest.fixture(scope="module")
def batch(graph):
    random = np.random.default_rng(0)
    relations = 2 * graph.manifest.relations
    return QueryBatch(random.integers(len(graph), size=21), random.integers(relations, size=21))


def train_graph(graph):
    size = graph.manifest
    return PathGraph.of_arrays(graph.split("train").triples, size.entities, size.relations)


def test_scores_are_those_of_the_reasoner_on_training_facts(graph, source, batch):
    with torch.no_grad():
        expected = source.reasoner(train_graph(graph), AskedFacts(batch.entity, batch.relation))
    scores = source.score(batch)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected.numpy(), rtol=1e-4, atol=1e-5)


def test_scores_may_be_written_over(source, batch):
    first = source.score(batch)
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(source.score(batch), kept)


def test_no_query_has_no_scores(source, graph):
    empty = QueryBatch(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert source.score(empty).shape == (0, len(graph))


def test_what_is_kept_of_relations_can_be_dropped(graph, batch):
    source = PathSource(graph, tiny_reasoner())
    before = source.score(batch)
    with torch.no_grad():
        source.reasoner.end_score[-1].bias += 1.0
    np.testing.assert_array_equal(source.score(batch), before)
    source.forget()
    np.testing.assert_allclose(source.score(batch), before + 1.0, atol=1e-5)


def test_threads_get_what_one_gets(graph, batch):
    expected = PathSource(graph, tiny_reasoner()).score(batch)
    fresh = PathSource(graph, tiny_reasoner())
    for scores in results_of_threads(lambda _: fresh.score(batch)):
        np.testing.assert_array_equal(scores, expected)


def test_reasons_are_paths_of_facts(graph, source):
    person, desk = graph.index("person3"), graph.index("desk3")
    relation = graph.relation("sits at").index
    reasons = source.reasons(person, relation, desk, limit=3)
    triples = {triple[:3] for triple in desk_triples() if triple[3] == "train"}
    assert 1 <= len(reasons) <= 3
    assert sum(reason.score for reason in reasons) == pytest.approx(1)
    assert [r.score for r in reasons] == sorted((r.score for r in reasons), reverse=True)
    for reason in reasons:
        (path,) = reason.paths
        assert reason.source == "paths"
        assert reason.words == path.verbalise()
        assert (path.entities[0].id, path.entities[-1].id) == ("person3", "desk3")
        assert set(path.triples()) <= triples - {("person3", "sits at", "desk3")}


@pytest.mark.parametrize("inverse", [False, True])
def test_where_no_path_leads_similar_facts_are_shown(tmp_path, inverse):
    triples = [("anna", "in", "rome"), ("bert", "in", "rome"), ("carl", "in", "oslo")]
    if inverse:
        triples = [(t, r, h) for h, r, t in triples]
    graph = build(tmp_path / "graph", triples)
    source = PathSource(graph, tiny_reasoner())
    relation = graph.manifest.relations if inverse else 0
    carl = graph.index("carl")
    (reason,) = source.reasons(carl, relation, graph.index("rome"), limit=3)
    assert "2" in reason.words
    shown = {triple for path in reason.paths for triple in path.triples()}
    assert shown == set(triples[:2])
    assert source.reasons(carl, relation, graph.index("anna"), limit=3) == []


def test_large_balls_are_cut(graph, batch):
    source = PathSource(graph, tiny_reasoner(), most=5)
    assert np.isfinite(source.score(batch)).all()
    assert not np.allclose(source.score(batch), PathSource(graph, tiny_reasoner()).score(batch))
