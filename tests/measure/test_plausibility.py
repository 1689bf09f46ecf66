"""Rules of relations, each against a slow version; and what the world's facts rule out."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embed.tiny import build, few
from tests.threads import results_of_threads

from kgraft.graph import Graph
from kgraft.measure import Plausibility, QueryBatch, plausibility

NAMES = "abcdefg"


@st.composite
def graphs(draw):
    """Draw triples with types of the entities; many follow rules, so that some are respected."""
    names = st.sampled_from(NAMES)
    free = draw(st.lists(st.tuples(names, st.sampled_from("rs"), names), min_size=1, max_size=10))
    pairs = draw(st.lists(st.tuples(names, names), max_size=5))
    both_ways = [triple for a, b in pairs for triple in ((a, "m", b), (b, "m", a))]
    one_to_one = [(n, "o", n.upper()) for n in draw(st.lists(names, min_size=1, unique=True))]
    kinds = st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True)
    triples = [*free, *both_ways, *one_to_one]
    ids = sorted({end for h, _, t in triples for end in (h, t)})
    return triples, [{"id": name, "types": draw(kinds)} for name in ids]


class Naive:
    """The rules as the table has them, over sets of facts."""

    def __init__(self, graph, types):
        self.count, self.size = graph.manifest.relations, len(graph)
        triples = graph.split("train").triples
        columns = (triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist())
        own = set(zip(*columns, strict=True))
        self.facts = own | {(t, r + self.count, h) for h, r, t in own}
        self.types = {graph.index(name): set(kinds) for name, kinds in types.items()}

    def answers(self, entity, relation):
        return {a for e, r, a in self.facts if (e, r) == (entity, relation)}

    def asked(self, relation, answer):
        return {e for e, r, a in self.facts if (r, a) == (relation, answer)}

    def mistyped(self, answer, others):
        """Tell whether an answer has types, but none of some other answers'."""
        return bool(self.types[answer]) and not any(
            self.types[answer] & self.types[o] for o in others
        )

    def all_answers(self, relation):
        return {a for _, r, a in self.facts if r == relation}

    def breaks(self, rule, fact):
        """Tell whether a fact, as seen from all others, breaks a rule."""
        entity, relation, answer = fact
        return {
            "irreflexive": entity == answer,
            "asymmetric": entity != answer and (answer, relation, entity) in self.facts,
            "exclusive": bool(self.asked(relation, answer) - {entity}),
            "typed": self.mistyped(answer, self.all_answers(relation) - {answer}),
            "functional": bool(self.answers(entity, relation) - {answer}),
        }[rule]

    def respected(self, rule, relation):
        own = [fact for fact in self.facts if fact[1] == relation]
        count, total = sum(self.breaks(rule, fact) for fact in own), len(own)
        if rule != "irreflexive":
            return (count + 1) / (total + 2) < plausibility.RARE
        loops = sum(self.breaks(rule, fact) for fact in self.facts)
        prior = (loops + 1) / (len(self.facts) + 2)
        rate = (count + plausibility.PRIOR * prior) / (total + plausibility.PRIOR)
        return rate < plausibility.RARE

    def against(self, entity, relation, answer):
        known = answer in self.answers(entity, relation)
        broken = {
            "irreflexive": entity == answer,
            "asymmetric": entity != answer and (answer, relation, entity) in self.facts,
            "exclusive": not known and bool(self.asked(relation, answer)),
            "typed": self.mistyped(answer, self.all_answers(relation)),
            "functional": not known and bool(self.answers(entity, relation)),
        }
        return [rule for rule in broken if broken[rule] and self.respected(rule, relation)]

    def implausible(self, entity, relation):
        new = set(range(self.size)) - self.answers(entity, relation)
        return {v for v in new if set(self.against(entity, relation, v)) - {"functional"}}


@pytest.fixture
def lenient():
    """Respect rules that a quarter of the facts breaks, so that small graphs have some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausibility, "RARE", 0.3)
        patch.setattr(plausibility, "PRIOR", 2.0)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("lenient")
@few
@given(graphs())
def test_rules_are_those_of_a_slow_version(case):
    triples, entities = case
    with tempfile.TemporaryDirectory() as folder:
        graph = build(Path(folder) / "graph", triples, entities)
        naive = Naive(graph, {row["id"]: row["types"] for row in entities})
        sense = Plausibility(graph)
        for relation in range(2 * naive.count):
            for rule in plausibility.RULES:
                assert sense.respected(rule)[relation] == naive.respected(rule, relation), rule
        queries = [(e, r) for e in range(naive.size) for r in range(2 * naive.count)]
        batch = QueryBatch(*(np.array(column) for column in zip(*queries, strict=True)))
        rows, answers = sense.implausible(batch)
        for row, (entity, relation) in enumerate(queries):
            own = answers[rows == row].tolist()
            assert sorted(own) == sorted(naive.implausible(entity, relation))
            settled = naive.respected("functional", relation) and naive.answers(entity, relation)
            assert sense.is_settled(entity, relation) == bool(settled)
            for answer in range(naive.size):
                broken = sense.against(entity, relation, answer)
                assert broken == naive.against(entity, relation, answer)


@pytest.fixture(scope="module")
def world():
    return Graph.open("world")


@pytest.fixture(scope="module")
def sense(world):
    return Plausibility(world)


@pytest.mark.parametrize(
    ("head", "relation", "tail", "broken"),
    [
        ("Peru", "borders", "Peru", ["irreflexive"]),
        ("Peru", "borders", "Chile", []),
        ("Peru", "borders", "Paris", ["typed"]),
        ("Paris", "capital of", "Austria", ["functional"]),
        ("Paris", "capital of", "France", []),
        ("France", "capital of", "Paris", ["asymmetric", "typed"]),
    ],
)
def test_the_world_speaks_against_nonsense(world, sense, head, relation, tail, broken):
    ends = [world.resolve(name).index for name in (head, tail)]
    assert sense.against(ends[0], world.relation(relation).index, ends[1]) == broken


def test_a_capital_is_settled(world, sense):
    capital, borders = (world.relation(name).index for name in ("capital of", "borders"))
    paris, lyon, peru = (world.resolve(name).index for name in ("Paris", "Lyon", "Peru"))
    assert sense.is_settled(paris, capital)
    assert not sense.is_settled(lyon, capital)
    assert not sense.is_settled(peru, borders)


def test_nothing_the_graph_says_is_implausible(world, sense):
    triples = world.split("train").triples
    rows = np.arange(0, len(triples), 97)
    row, answer = sense.implausible(QueryBatch(triples.head[rows], triples.relation[rows]))
    facts = set(zip(rows.tolist(), triples.tail[rows].tolist(), strict=True))
    assert not facts & set(zip(rows[row].tolist(), answer.tolist(), strict=True))
    assert len(row)


def test_no_query_has_no_answers(sense):
    empty = np.zeros(0, np.int64)
    assert [len(column) for column in sense.implausible(QueryBatch(empty, empty))] == [0, 0]


def test_a_graph_without_types_and_facts(tmp_path):
    graph = build(tmp_path / "graph", [("a", "r", "b", "test"), ("b", "r", "c", "test")])
    empty = Plausibility(graph)
    assert empty.against(0, 0, 0) == []
    assert not empty.is_settled(0, 0)
    assert len(empty.implausible(QueryBatch(np.array([0, 1]), np.array([0, 1])))[0]) == 0


def test_threads_get_what_one_gets(world, sense):
    batch = QueryBatch(np.arange(60), np.arange(60) % (2 * world.manifest.relations))
    expected = sense.implausible(batch)
    fresh = Plausibility(world)
    for columns in results_of_threads(lambda _: fresh.implausible(batch)):
        np.testing.assert_array_equal(columns, expected)
