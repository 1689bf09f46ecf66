"""Texts made from a graph: every mark is a name of its entity, and all comes from the seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import build, quick

from kgraft.errors import BadInput
from kgraft.link.questions import PLACES, plural
from kgraft.link.sentences import graph_texts

KINDS = ["Person", "University", "City", "country"]


def names(entity):
    """Return all that an entity may be called: its names, the last word, and the plural."""
    forms = {entity.label, *entity.aliases, entity.label.split()[-1], plural(entity.label)}
    bare = {name.replace(".", "").replace(",", "") for name in forms}
    return {name.lower() for name in forms | bare}


def check(graph, made):
    for text, start, end, number in zip(made.text, made.start, made.end, made.entity, strict=True):
        assert made.texts[text][start:end].lower() in names(graph.entity(int(number)))


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@quick
def test_marks_are_names_of_their_entities(graph, seed):
    made = graph_texts(graph, 20, seed=seed)
    assert len(made) == 20
    assert (made.entity >= 0).all()
    assert set(made.text.tolist()) == set(range(20))
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
    assert one.entity.tolist() == two.entity.tolist()
    assert one.texts != other.texts


def test_facts_descriptions_aliases_and_small_letters_all_occur(graph):
    made = graph_texts(graph, 1000)
    surfaces = {made.texts[t][a:b] for t, a, b in zip(made.text, made.start, made.end, strict=True)}
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
    pairs = {
        (made.texts[text][start:end].lower(), people.entity(int(number)).id)
        for text, start, end, number in zip(
            made.text, made.start, made.end, made.entity, strict=True
        )
    }
    assert {("university", "University"), ("governor", "k"), ("berg", "u")} <= pairs
    joined = "\n".join(made.texts).lower()
    assert "where did ulla berg go to school?" in joined
    assert "what universities did ulla berg attend?" in joined
    assert "who runs oldport?" in joined
    assert not PLACES.search(joined)


def test_a_graph_without_triples_has_texts_too(tmp_path):
    graph = build(tmp_path / "alone", [], [{"id": "a", "label": "Alone"}], None)
    made = graph_texts(graph, 10)
    assert len(made) == len(made.text) == 10
    check(graph, made)


def test_a_graph_without_entities_has_none(nothing):
    with pytest.raises(BadInput, match="the graph has no entities to make texts of"):
        graph_texts(nothing, 10)
