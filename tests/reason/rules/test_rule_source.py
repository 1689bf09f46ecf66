import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reason.rules.naive import both_ways, make_graph, naive_hits

from kgraft.measure import Queries, QueryBatch
from kgraft.reason import MiningSettings, RuleSource, mine_rules
from kgraft.reason.rules.fire import BY_CLUSTER
from kgraft.reason.rules.index import WITHOUT_BODY

ENTITIES, RELATIONS = 6, 2
TRIPLES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 5)), min_size=3, max_size=14
)
LOOSE = MiningSettings(
    rounds=2, min_support=1, constant_support=1, min_confidence=0.0, constant_confidence=0.0
)
SLOW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def every_query():
    entity, relation = np.divmod(np.arange(ENTITIES * 2 * RELATIONS), 2 * RELATIONS)
    return QueryBatch(entity, relation)


@pytest.fixture
def source(tmp_path):
    random = np.random.default_rng(3)
    triples = np.unique(random.integers(0, [6, 2, 6], (16, 3)), axis=0).tolist()
    graph = make_graph(tmp_path / "g", triples, relations=RELATIONS)
    return RuleSource(graph, mine_rules(graph, LOOSE).rules)


@SLOW
@given(triples=TRIPLES)
def test_scores_are_in_the_order_of_the_best_rules(tmp_path_factory, triples):
    graph = make_graph(tmp_path_factory.mktemp("g") / "g", triples, relations=RELATIONS)
    source = RuleSource(graph, mine_rules(graph, LOOSE).rules)
    batch = every_query()
    scores = source.score(batch)
    edges = both_ways(triples, RELATIONS)
    for row, (entity, relation) in enumerate(zip(batch.entity, batch.relation, strict=True)):
        hits = naive_hits(source.rules, edges, ENTITIES, RELATIONS, entity, relation)
        reached = np.flatnonzero(scores[row] > 2 * WITHOUT_BODY)
        strong = {a for a, found in hits.items() if found[0][0] > 2 * WITHOUT_BODY}
        assert set(reached.tolist()) == strong
        for answer in strong:
            best = hits[answer][0][0]
            assert scores[row, answer] == pytest.approx(best, abs=1e-5)
        lists = {a: [c for c, _ in found][:15] for a, found in hits.items()}
        for one in strong:
            for other in strong:
                if len(lists[one]) < 15 and lists[one][: len(lists[other])] > lists[other]:
                    assert scores[row, one] > scores[row, other]


@SLOW
@given(triples=TRIPLES)
def test_adding_up_is_noisy_or_over_clusters(tmp_path_factory, triples):
    graph = make_graph(tmp_path_factory.mktemp("g") / "g", triples, relations=RELATIONS)
    rules = mine_rules(graph, LOOSE.replace(constants=False)).rules
    cluster = np.arange(len(rules)) % 3
    every = np.full(2 * RELATIONS, BY_CLUSTER, np.int8)
    source = RuleSource(graph, rules, aggregation=every, cluster=cluster)
    batch = every_query()
    scores = source.score(batch)
    edges = both_ways(triples, RELATIONS)
    for row, (entity, relation) in enumerate(zip(batch.entity, batch.relation, strict=True)):
        hits = naive_hits(rules, edges, ENTITIES, RELATIONS, entity, relation)
        for answer in range(ENTITIES):
            best = {}
            for confidence, rule in hits.get(answer, ()):
                best[cluster[rule]] = max(best.get(cluster[rule], 0), confidence)
            expected = 1 - np.prod([1 - c for c in best.values()])
            assert scores[row, answer] == pytest.approx(expected, abs=1e-5)


def test_an_entity_without_a_reason_is_below_all_others(source):
    batch = every_query()
    scores = source.score(batch)
    assert np.isfinite(scores).all()
    assert scores.dtype == np.float32
    for row in range(len(batch)):
        for answer in range(ENTITIES):
            reasons = source.reasons(batch.entity[row], batch.relation[row], answer, limit=3)
            assert bool(reasons) == (scores[row, answer] > 0)


def test_reasons_rest_on_facts_of_the_graph_but_not_on_the_fact_itself(source):
    graph = source.graph
    queries = Queries.of(graph.triples, RELATIONS)
    facts = {
        (graph.id_column[h], f"r{r}", graph.id_column[t])
        for h, r, t in zip(
            graph.triples.head, graph.triples.relation, graph.triples.tail, strict=True
        )
    }
    count = 0
    rows, answers = queries.answers(np.arange(len(queries)))
    for row, answer in zip(rows, answers, strict=True):
        entity, relation = int(queries.entity[row]), int(queries.relation[row])
        if entity == answer:
            continue
        ends = (entity, int(answer)) if relation < RELATIONS else (int(answer), entity)
        asked = (graph.id_column[ends[0]], f"r{relation % RELATIONS}", graph.id_column[ends[1]])
        reasons = source.reasons(entity, relation, int(answer), limit=50)
        assert [r.score for r in reasons if r.paths] == sorted(
            (r.score for r in reasons if r.paths), reverse=True
        )
        for reason in reasons:
            for path in reason.paths:
                count += 1
                assert set(path.triples()) <= facts
                assert asked not in path.triples()
    assert count > 20


def test_limits_of_reasons_are_kept(source):
    reasons = source.reasons(0, 0, 1, limit=2)
    assert len(reasons) <= 2
    assert all(reason.source == "rules" for reason in reasons)


def test_threads_may_score_at_once(source):
    from concurrent.futures import ThreadPoolExecutor

    expected = source.score(every_query())
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: source.score(every_query()), range(8)))
    assert all((result == expected).all() for result in results)
