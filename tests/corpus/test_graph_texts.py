"""Texts made from a graph: every mark is a name of its entity, and all comes from the seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import build, quick

from kgraft.corpus import graph_texts, verbalise_graph
from kgraft.corpus.graph_texts import fact_texts
from kgraft.corpus.verbalise import plural
from kgraft.errors import BadInput
from kgraft.graph import placeholders

KINDS = ["Person", "University", "City", "country"]


def names(entity):
    """Return all that an entity may be called: its names, the last word, and the plural."""
    forms = {entity.label, *entity.aliases, entity.label.split()[-1], plural(entity.label)}
    bare = {name.replace(".", "").replace(",", "") for name in forms}
    return {name.lower() for name in forms | bare}


def marked(made):
    """Return the marked words of texts, each with the index of its entity."""
    mentions = made.mentions
    spans = zip(mentions.text, mentions.start, mentions.end, strict=True)
    surfaces = [made.texts[text][start:end] for text, start, end in spans]
    return list(zip(surfaces, made.gold.tolist(), strict=True))


def check(graph, made):
    for surface, entity in marked(made):
        assert surface.lower() in names(graph.entity(entity))


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@quick
def test_marks_are_names_of_their_entities(graph, seed):
    made = graph_texts(graph, 20, seed=seed)
    assert len(made) == 20
    assert (made.gold >= 0).all()
    assert set(made.mentions.text.tolist()) == set(range(20))
    check(graph, made)


def test_marks_hold_whatever_the_labels(tmp_path):
    """Signs of the patterns themselves, letters that grow when small, and scripts of all kinds."""
    labels = ["{x}", "{y} {r}", "İİ", "ẞ", "a {d} b", "東京", "😀 e\u0301", "x" * 300]
    entities = [
        {"id": f"e{n}", "label": label, "description": "{x} and {y}", "aliases": ["{r}", label]}
        for n, label in enumerate(labels)
    ]
    relations = [{"id": "r", "label": "of_{x}_and_{y}", "template": "[X] {r} [Y] ."}]
    triples = [(f"e{n}", "r", f"e{(n + 1) % 8}") for n in range(8)]
    graph = build(tmp_path / "odd", triples, entities, relations)
    check(graph, graph_texts(graph, 300))


def test_the_texts_come_from_the_seed(graph):
    one, two, other = (graph_texts(graph, 30, seed=seed) for seed in (1, 1, 2))
    assert one.texts == two.texts
    assert one.gold.tolist() == two.gold.tolist()
    assert one.texts != other.texts


def test_facts_descriptions_aliases_and_small_letters_all_occur(graph):
    made = graph_texts(graph, 1000)
    surfaces = {surface for surface, _ in marked(made)}
    assert {"Paris", "paris", "Lone Star State"} <= surfaces
    joined = "\n".join(made.texts)
    for words in ("is the capital of", "city on the seine", "flows in", "what is the"):
        assert words in joined.lower()
    assert "capital_of" not in joined


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Return a graph with relations that people ask about, and kinds of things."""
    entities = [
        {"id": "u", "label": "Ulla Berg"},
        {"id": "s", "label": "Sealand College"},
        {"id": "o", "label": "Oldport"},
        *({"id": kind, "label": kind} for kind in KINDS),
        {"id": "k", "label": "governor"},
    ]
    relations = [{"id": n, "label": n} for n in ("educated at", "head of government", "is_a")]
    triples = [("u", "educated at", "s"), ("o", "head of government", "u"), ("u", "is_a", "Person")]
    triples += [("s", "is_a", "University"), ("o", "is_a", "City")]
    return build(tmp_path_factory.mktemp("people") / "g", triples, entities, relations)


def test_questions_fit_the_relation_and_mark_kinds(people):
    made = graph_texts(people, 600)
    check(people, made)
    pairs = {(surface.lower(), people.entity(entity).id) for surface, entity in marked(made)}
    assert {("university", "University"), ("governor", "k"), ("berg", "u")} <= pairs
    joined = "\n".join(made.texts).lower()
    assert "where did ulla berg go to school?" in joined
    assert "what universities did ulla berg attend?" in joined
    assert "who runs oldport?" in joined
    assert not placeholders(joined)


def test_a_graph_without_triples_has_texts_too(tmp_path):
    graph = build(tmp_path / "alone", [], [{"id": "a", "label": "Alone"}], None)
    made = graph_texts(graph, 10)
    assert len(made) == len(made.mentions) == 10
    check(graph, made)


def test_a_graph_without_entities_has_none(graph, tmp_path):
    nothing = graph.without(tmp_path / "nothing", entities=graph.entities["id"].to_pylist())
    with pytest.raises(BadInput, match="no entities"):
        graph_texts(nothing, 10)


@pytest.fixture(scope="module")
def rivers(tmp_path_factory):
    entities = [
        {"id": "p", "label": "Paris"},
        {"id": "f", "label": "France"},
        {"id": "s", "label": "the long river Seine"},
    ]
    relations = [
        {"id": "capital", "label": "capital of", "template": "[X] rules [Y] ."},
        {"id": "has", "label": "has", "template": "of [Y] some lies in [X] ."},
        {"id": "flows through", "label": "flows through", "template": "no end"},
    ]
    triples = [("p", "capital", "f"), ("s", "flows through", "p"), ("f", "has", "s")]
    return build(tmp_path_factory.mktemp("rivers") / "g", triples, entities, relations)


def test_facts_are_stated_with_both_ends_marked(rivers):
    made = fact_texts(rivers, 10)
    assert sorted(made.texts) == [
        "Paris rules France .",
        "of the long river Seine some lies in France .",
        "the long river Seine flows through Paris .",
    ]
    labels = rivers.entities["label"].to_pylist()
    assert len(made.mentions) == 6
    assert all(surface == labels[entity] for surface, entity in marked(made))


def test_facts_are_drawn_by_the_seed(rivers):
    assert len(fact_texts(rivers, 2)) == 2
    assert fact_texts(rivers, 2, seed=5).texts == fact_texts(rivers, 2, seed=5).texts


def test_a_graph_without_facts_states_none(tmp_path):
    alone = build(tmp_path / "alone", [], [{"id": "a", "label": "Alone"}], None)
    with pytest.raises(BadInput, match="no facts"):
        fact_texts(alone, 3)
    assert len(verbalise_graph(alone, count=10)) == 5


def test_a_graph_is_said_half_in_statements(graph):
    made = verbalise_graph(graph, count=20, seed=2)
    halves = graph_texts(graph, 10, seed=2), fact_texts(graph, 10, seed=2)
    assert made.texts == [text for half in halves for text in half.texts]
    check(graph, made)
