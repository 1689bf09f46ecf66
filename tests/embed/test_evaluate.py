"""Ranking against a naive filtered ranker, ties and all."""

from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.embed.tiny import build, mean_ends

from kgraft.embed.evaluate import rank_queries
from kgraft.embed.models import MODELS
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.tables import EmbeddingTables
from kgraft.graph import TripleArrays
from kgraft.measure import PROTOCOL, Queries, query_chunks, rank_figures, relation_categories
from kgraft.measure.ranking import CATEGORIES

ENTITIES, RELATIONS = 7, 3
thorough = settings(max_examples=20, deadline=None)
row = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6))
rows = st.lists(row, min_size=1, max_size=25, unique=True)


def queries_of(triples):
    columns = np.array(triples, np.int32).reshape(-1, 3).T
    return Queries.of(TripleArrays(*columns, np.zeros(len(triples), np.int8)), RELATIONS)


def answers_of(triples):
    answers = defaultdict(set)
    for h, r, t in triples:
        answers[h, r].add(t)
        answers[t, r + RELATIONS].add(h)
    return answers


def make(model="distmult", *, seed=0, high=2, entities=ENTITIES, reciprocal=True, **changes):
    """Draw vectors of small whole numbers: scores are exact, and many are equal."""
    usual = {"similarity": MODELS[model].similarities[-1], "loss": "margin", "dimension": 4}
    settings = EmbedSettings(model=model, reciprocal=reciprocal, **(usual | changes))
    random = np.random.default_rng(seed)
    width = MODELS[model].relation_width(4)
    tables = [
        torch.from_numpy(random.integers(-high, high + 1, shape)).float()
        for shape in ((entities, 4), (RELATIONS * (1 + reciprocal), width))
    ]
    return EmbeddingTables(settings, *tables)


def naive_ranks(embedding, batch, known):
    """Return the mean rank of each answer, by query, relation and answer."""
    found = []
    for (entity, relation), right in sorted(answers_of(batch).items()):
        scores = embedding.score_tails(torch.tensor([entity]), torch.tensor([relation]))[0].tolist()
        for answer in sorted(right):
            rivals = set(range(len(scores))) - known[entity, relation] - {answer}
            above = sum(scores[rival] > scores[answer] for rival in rivals)
            equal = sum(scores[rival] == scores[answer] for rival in rivals)
            found.append((relation, 1 + above + equal / 2))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("model", ["complex", "distmult", "transe"])
@pytest.mark.parametrize("reciprocal", [True, False])
@thorough
@given(batch=rows, others=rows, seed=st.integers(0, 10**6), high=st.integers(0, 2))
def test_ranks_are_those_of_a_naive_ranker(model, reciprocal, batch, others, seed, high):
    embedding = make(model, seed=seed, high=high, reciprocal=reciprocal)
    known = batch + others
    expected = naive_ranks(embedding, batch, answers_of(known))
    queries = queries_of(batch)
    for scores in (1, 2 * ENTITIES, 5 * ENTITIES + 3, 1 << 22):
        ranking = rank_queries(embedding, queries, queries_of(known), scores=scores)
        found = list(zip(ranking.relation.tolist(), ranking.rank.tolist(), strict=True))
        assert found == expected


@pytest.mark.parametrize(("model", "similarity"), [("rotate", "modulus"), ("transe", "l2")])
def test_ranks_of_other_vectors_do_not_depend_on_the_chunks(model, similarity):
    embedding = EmbeddingTables.draw(
        EmbedSettings(model=model, similarity=similarity, loss="margin", dimension=6, scale=1.0),
        40,
        3,
    )
    random = np.random.default_rng(0)
    triples = np.column_stack([random.integers(n, size=60) for n in (40, 3, 40)])
    queries = queries_of(triples)
    expected = rank_queries(embedding, queries, queries).rank
    for scores in (1, 80, 1000):
        found = rank_queries(embedding, queries, queries, scores=scores).rank
        np.testing.assert_array_equal(found, expected)


def test_equal_vectors_share_the_middle():
    embedding = make(high=0)
    ranking = rank_queries(embedding, queries_of([(0, 0, 1)]), queries_of([(0, 0, 1), (0, 0, 2)]))
    # Tails: 5 rivals of the same score are left beside entities 1 and 2; heads: 6.
    assert ranking.rank.tolist() == [1 + 5 / 2, 1 + 6 / 2]


def test_answers_of_one_query_are_no_rivals():
    embedding = make(entities=ENTITIES)
    embedding.entities[:] = torch.arange(7.0)[:, None]
    embedding.relations[:] = 1.0
    batch = [(1, 0, 6), (1, 0, 5), (1, 0, 0)]
    ranking = rank_queries(embedding, queries_of(batch), queries_of(batch))
    tails = ranking.rank[ranking.relation == 0]
    assert tails.tolist() == [5, 1, 1]  # of entities 0, 5, 6 among 1 to 4


@thorough
@given(batch=rows, seed=st.integers(0, 1000))
def test_figures_by_part_are_those_of_the_part(batch, seed):
    embedding, known = make(seed=seed, high=5), answers_of(batch)
    ranking = rank_queries(embedding, queries_of(batch), queries_of(batch))
    pairs = naive_ranks(embedding, batch, known)

    def part(chosen):
        return rank_figures(np.array([rank for relation, rank in pairs if chosen(relation)]))

    assert ranking.figures() == part(lambda relation: True)
    assert ranking.by_side() == {
        "tails": part(lambda relation: relation < RELATIONS),
        "heads": part(lambda relation: relation >= RELATIONS),
    }
    assert ranking.by_relation() == {
        r: part(lambda relation, r=r: relation % RELATIONS == r)
        for r in sorted({r for _, r, _ in batch})
    }
    kinds = relation_categories(queries_of(batch))
    occurring = {kinds[r] for _, r, _ in batch}
    assert ranking.by_category(kinds) == {
        name: part(lambda relation, name=name: kinds[relation % RELATIONS] == name)
        for name in CATEGORIES
        if name in occurring
    }
    assert ranking.protocol == PROTOCOL


def naive_category(triples, relation):
    many_tails, many_heads = (mean > 1.5 for mean in mean_ends(triples, relation))
    return f"{'N' if many_heads else '1'}-{'N' if many_tails else '1'}"


@thorough
@given(rows)
def test_categories_against_counting(triples):
    found = relation_categories(queries_of(triples)).tolist()
    assert found == [naive_category(triples, r) for r in range(RELATIONS)]


def test_categories_have_the_direction_of_the_triple():
    born_in = [(person, 0, 6) for person in range(6)]
    owns = [(6, 1, thing) for thing in range(6)]
    assert relation_categories(queries_of(born_in + owns)).tolist() == ["N-1", "1-N", "1-1"]


def test_nothing_asked_has_no_figures():
    ranking = rank_queries(make(), queries_of([]), queries_of([]))
    assert ranking.figures() == {}
    assert ranking.by_relation() == {}
    assert ranking.by_category(np.array(["1-1"] * 3)) == {}


def test_entities_of_test_alone_are_ranked(tmp_path):
    triples = [("a", "r", "b", "train"), ("b", "r", "c", "train"), ("a", "r", "new", "test")]
    graph = build(tmp_path / "graph", triples)
    settings = EmbedSettings(dimension=4, scale=1.0)
    embedding = EmbeddingTables.draw(settings, graph.manifest.entities, graph.manifest.relations)
    queries = Queries.of(graph.split("test").triples, 1)
    ranking = rank_queries(embedding, queries, Queries.of(graph.triples, 1))
    new, a = graph.entity("new").index, graph.entity("a").index
    assert sorted(zip(queries.entity.tolist(), queries.relation.tolist(), strict=True)) == sorted(
        [(a, 0), (new, 1)]
    )
    assert len(ranking.rank) == 2
    assert ranking.rank.max() <= 4


@thorough
@given(st.integers(0, 50), st.integers(1, 20), st.integers(1, 100))
def test_chunks_hold_few_scores_and_every_query_once(queries, entities, scores):
    chunks = list(query_chunks(queries, entities, scores))
    assert [n for chunk in chunks for n in chunk.tolist()] == list(range(queries))
    assert all(len(chunk) * entities <= max(scores, entities) for chunk in chunks)


def test_no_more_scores_are_held_than_allowed(monkeypatch):
    held, embedding = [], make(entities=50)
    score_tails = EmbeddingTables.score_tails

    def watched(self, *batch):
        scores = score_tails(self, *batch)
        held.append(scores.numel())
        return scores

    monkeypatch.setattr(EmbeddingTables, "score_tails", watched)
    random = np.random.default_rng(0)
    batch = queries_of(np.column_stack([random.integers(n, size=200) for n in (50, 3, 50)]))
    rank_queries(embedding, batch, batch, scores=170)
    assert max(held) == 150
    assert sum(held) == len(batch) * 50


def test_progress_counts_queries():
    class Counter:
        total, done = 0, 0

        def start(self, what, total=None):
            self.total = total

        def advance(self, amount=1):
            self.done += amount

    progress, batch = Counter(), queries_of([(0, 0, 1), (1, 1, 2), (0, 0, 3)])
    rank_queries(make(), batch, batch, scores=2 * ENTITIES, progress=progress)
    assert progress.total == progress.done == len(batch) == 5
