"""The nearest facts as a source, against loops."""

import numpy as np
import pytest

from kgraft.measure import Queries, QueryBatch
from kgraft.reason import FactMemory, FactSource, RecallSettings


@pytest.fixture
def source(graph, encoder, tmp_path):
    settings = RecallSettings(slots=2, temperature=0.3)
    return FactSource(FactMemory(graph, encoder, settings=settings, cache=tmp_path / "cache"))


def naive(source, entity, relation):
    """Return the scores of all entities for one query."""
    memory, slots = source.memory, source.memory.index.slots
    query = memory.encoder.encode(
        memory.words(np.array([entity]), np.array([relation])).to_pylist()
    )[0]
    near = []
    for row in np.flatnonzero(slots.relation == relation).tolist():
        if slots.entity[row] != entity:
            text = memory.words(slots.entity[[row]], slots.relation[[row]]).to_pylist()
            near.append((float(memory.encoder.encode(text)[0] @ query), row))
    best = sorted(near, reverse=True)[: memory.settings.slots]
    total = sum(np.exp(dot / memory.settings.temperature) for dot, _ in best)
    scores = np.zeros(len(source.graph))
    for dot, row in best:
        for answer in slots.answer[slots.bounds[row] : slots.bounds[row + 1]]:
            scores[answer] += np.exp(dot / memory.settings.temperature) / total
    return scores


def test_scores_are_those_of_the_formula(source, graph):
    queries = Queries.of(graph.triples, graph.manifest.relations)
    batch = queries.batch(np.arange(len(queries)))
    scores = source.score(batch)
    assert scores.dtype == np.float32
    for row, (entity, relation) in enumerate(zip(batch.entity, batch.relation, strict=True)):
        assert scores[row] == pytest.approx(naive(source, entity, relation), abs=1e-5)
    source.memory.fill()
    assert source.score(batch) == pytest.approx(scores, abs=0.05)


def test_reasons_are_facts_of_the_graph(source, graph):
    paris, capital = graph.index("paris_tx"), graph.relation("capital_of").index
    germany = graph.index("germany")
    (reason,) = source.reasons(paris, capital, germany, limit=3)
    assert reason.source == "facts"
    assert [path.triples() for path in reason.paths] == [[("berlin", "capital_of", "germany")]]
    assert reason.score == pytest.approx(
        source.score(QueryBatch(np.array([paris]), np.array([capital])))[0, germany]
    )
    assert source.reasons(paris, capital, paris, limit=3) == []
    heads = source.reasons(graph.index("texas"), graph.manifest.relations + capital, paris, limit=1)
    assert heads == []


def test_reasons_of_inverse_relations(source, graph):
    inverse = graph.manifest.relations + graph.relation("capital_of").index
    texas, berlin = graph.index("texas"), graph.index("berlin")
    (reason,) = source.reasons(texas, inverse, berlin, limit=1)
    assert reason.paths[0].triples() == [("berlin", "capital_of", "germany")]


def test_a_relation_of_one_entity_says_nothing_about_it(source, graph):
    born = graph.relation("born_in").index
    scores = source.score(QueryBatch(np.array([graph.index("anna")]), np.array([born])))
    assert not scores.any()
