"""Slots against a dictionary of sets, and their words."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reason.memory.conftest import build

from kgraft.measure import Queries
from kgraft.reason.memory.slots import (
    SlotWords,
    distinct_facts,
    entity_names,
    most_connected,
    slot_facts,
    slots_of,
)

triples = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=20
)


def rows_of(slots):
    """Return the values of slots by entity and relation."""
    bounds = zip(slots.bounds, slots.bounds[1:], strict=False)
    keys = zip(slots.entity.tolist(), slots.relation.tolist(), bounds, strict=True)
    return {(e, r): slots.answer[a:b].tolist() for e, r, (a, b) in keys}


@settings(max_examples=20, deadline=None)
@given(triples, st.sets(st.integers(0, 5)))
def test_the_slots_of_entities_hold_all_their_facts(tmp_path_factory, rows, asked):
    entities = [{"id": f"e{n}", "label": f"E{n}"} for n in range(6)]
    facts = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows]
    graph = build(tmp_path_factory.mktemp("drawn") / "g", facts, entities, ())
    index = {i: n for n, i in enumerate(graph.entities["id"].to_pylist())}
    relation, size = graph.relation_indices, graph.manifest.relations
    wanted = np.array([index[f"e{n}"] for n in asked], np.int64)
    expected = defaultdict(set)
    for head, name, tail in facts:
        expected[index[head], relation[name]].add(index[tail])
        expected[index[tail], size + relation[name]].add(index[head])
    slots = slots_of(graph, wanted)
    own = {key: sorted(values) for key, values in expected.items() if key[0] in wanted}
    assert rows_of(slots) == own
    for row in range(len(slots)):
        ids, labels = graph.id_column, graph.all_relations
        for h, r, t in slot_facts(slots, row):
            assert (ids[h], labels[r].id, ids[t]) in facts


def test_all_slots_are_those_of_all_entities(graph):
    every = slots_of(graph, np.arange(len(graph)))
    assert rows_of(every) == rows_of(Queries.of(graph.triples, graph.manifest.relations))


def test_slots_in_words(graph):
    words, size = SlotWords(graph), graph.manifest.relations
    capital, born = (graph.relation(name).index for name in ("capital_of", "born_in"))
    paris, france, anna = (graph.index(name) for name in ("paris", "france", "anna"))
    asked = [(paris, capital), (france, size + capital), (anna, born), (paris, size + born)]
    assert words(*map(np.array, zip(*asked, strict=True))).to_pylist() == [
        "Paris is the capital of",
        "is the capital of France",
        "Anna born in",
        "born in Paris",
    ]


def test_an_entity_without_label_goes_by_its_id(tmp_path):
    graph = build(tmp_path / "g", [("a", "r", "b")], [{"id": "a", "label": ""}, {"id": "b"}], ())
    names = entity_names(graph, np.array([graph.index("b"), graph.index("a")])).to_pylist()
    assert names == [graph["b"].label or "b", graph["a"].label or "a"]


def test_a_fact_is_listed_for_one_of_its_ends(graph):
    slots = Queries.of(graph.triples, graph.manifest.relations)
    kept = distinct_facts(slots, np.arange(len(slots)), 100)
    facts = [fact for row in kept.tolist() for fact in slot_facts(slots, row)]
    assert set(facts) == {fact for row in range(len(slots)) for fact in slot_facts(slots, row)}
    assert distinct_facts(slots, np.arange(len(slots)), 2).tolist() == kept[:2].tolist()


def test_of_many_the_best_connected_are_shown(tmp_path):
    facts = [("hub", "r", f"e{n}") for n in range(9)] + [("e7", "s", f"e{n}") for n in range(3)]
    entities = [{"id": "hub"}, *({"id": f"e{n}"} for n in range(9))]
    graph = build(tmp_path / "g", facts, entities, ())
    slots = slots_of(graph, np.array([graph.index("hub")]))
    (shown,) = most_connected(graph, slots, np.array([0]), 2)
    assert [graph.id_column[int(n)] for n in shown] == ["e7", "e0"]
