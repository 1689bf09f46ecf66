"""Profiles: figures as plain loops count them, advice where something is amiss, and the picture."""

import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph import profile_graph, profile_svg

TRIPLE = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6))


def naive_cardinality(pairs):
    """Average the tails of each head, and the heads of each tail."""
    tails = Counter(head for head, _ in pairs)
    heads = Counter(tail for _, tail in pairs)
    many_heads = sum(heads.values()) / len(heads) >= 1.5
    many_tails = sum(tails.values()) / len(tails) >= 1.5
    return f"{'n' if many_heads else '1'}-{'n' if many_tails else '1'}"


@pytest.mark.slow
@given(st.sets(TRIPLE, min_size=1, max_size=25))
def test_figures_are_those_of_plain_loops(make_graph, triples):
    rows = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in sorted(triples)]
    entities = [{"id": f"e{number}"} for number in range(7)]
    with tempfile.TemporaryDirectory() as folder:
        profile = profile_graph(make_graph(Path(folder), rows, entities))
    pairs = {}
    for head, relation, tail in triples:
        pairs.setdefault(f"r{relation}", set()).add((head, tail))
    for relation in profile.relations:
        joined = pairs[relation.id]
        assert relation.triples == len(joined)
        assert (relation.heads, relation.tails) == tuple(
            len({*end}) for end in zip(*joined, strict=True)
        )
        assert relation.cardinality == naive_cardinality(joined)
        mirrored = {(h, t) for h, t in joined if h != t and (t, h) in joined}
        assert relation.symmetric == (len(mirrored) >= max(len(joined) / 2, 1))
    degree = Counter(end for head, _, tail in triples for end in (head, tail))
    assert profile.degrees.highest == max(degree.values())
    assert profile.degrees.isolated == 7 - len(degree)
    assert profile.degrees.mean == pytest.approx(2 * len(triples) / 7)
    assert sum(profile.degrees.histogram.values()) == 7
    network = nx.Graph()
    network.add_nodes_from(range(7))
    network.add_edges_from((head, tail) for head, _, tail in triples)
    parts = [*nx.connected_components(network)]
    assert profile.components == len(parts)
    assert profile.largest_component == pytest.approx(max(map(len, parts)) / 7)


def test_a_small_graph_on_one_page(small):
    profile = profile_graph(small)
    assert profile.types == {"city": 6, "country": 3, "capital": 3, "person": 1, "state": 1}
    assert profile.shares["description"] == pytest.approx(11 / 12)
    assert profile.shares["label"] == 1
    assert (profile.names.shared_labels, profile.names.most_ambiguous) == (3, "paris")
    assert profile.names.most_entities == 3
    assert {r.label for r in profile.relations if r.symmetric} == {"borders"}
    assert profile.cardinalities() == {"1-1": 3, "1-n": 0, "n-1": 0, "n-n": 0}
    assert profile.to_dict()["cardinalities"]["1-1"] == 3
    assert profile.leaking == 1 / 2  # Austin, capital of Texas, is located there in train


def test_what_leaks_is_told(make_graph, tmp_path):
    triples = [("a", "over", "b"), ("b", "under", "a", "test"), ("c", "over", "d")]
    triples += [("d", "under", "c")]
    graph = make_graph(tmp_path, triples)
    profile = profile_graph(graph)
    assert profile.leaking == 1
    assert profile.leakage == "100.0% of the held-out triples"
    over = next(r for r in profile.relations if r.id == "over")
    assert over.inverse_of == ("under",)
    assert any("kgraft graph split" in line for line in profile.advice)


def test_advice_names_the_command_that_helps(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "b")], [{"id": name} for name in "abcdef"])
    advice = profile_graph(graph).advice
    words = ("no label", "description", "alias", "type", "no triple", "template", "held out")
    for word in words:
        assert sum(word in line for line in advice) == 1, word
    assert all(
        f"kgraft graph {'split' if 'held' in a else 'add'} {graph.folder}" in a for a in advice
    )
    apart = [(f"e{2 * n}", "r", f"e{2 * n + 1}") for n in range(3)]
    lines = profile_graph(make_graph(tmp_path, apart)).advice
    assert any("kgraft graph merge" in line for line in lines)


def test_the_picture_shows_it_all_and_is_well_formed(make_graph, tmp_path):
    label = "<b> & \x07 " + "long " * 20
    entities = [{"id": "a", "label": label, "types": ["<i>"]}, {"id": "b", "label": "Bee"}]
    graph = make_graph(tmp_path, [("a", "r&d", "b")], entities)
    root = ET.fromstring(profile_svg(profile_graph(graph)))
    text = " ".join(root.itertext())
    assert "2 entities, 1 relations, 1 triples" in text
    assert "r&d" in text
    assert "<i>" in text
    assert "1-1" in text
    height = float(root.get("height"))
    ends = [float(item.get("y")) for item in root.iter("{http://www.w3.org/2000/svg}text")]
    assert max(ends) < height


def test_a_graph_without_triples(make_graph, tmp_path):
    profile = profile_graph(make_graph(tmp_path, [], [{"id": "a"}]))
    assert (profile.relations, profile.components, profile.degrees.highest) == ((), 1, 0)
    ET.fromstring(profile_svg(profile))
