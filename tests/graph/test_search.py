import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.graph.names import aliases as aliases_module
from kgraft.graph.names.fold import fold_name
from kgraft.graph.search import search, search_descriptions, search_nearby, search_similar


def ids(found):
    return [item.entity.id for item in found]


def test_namesakes_come_by_weight(small):
    """Paris in France stands in two triples of the train split, the others in one."""
    found = search(small, "PARIS")
    assert [(item.entity.id, item.name, item.how) for item in found] == [
        ("Q1", "paris", "name"),
        ("Q2", "paris", "name"),
        ("Q3", "paris", "name"),
    ]


def test_exact_names_come_before_prefixes_and_these_before_words(small):
    found = search(small, "texas")
    assert [(item.entity.id, item.name, item.how) for item in found] == [
        ("Q7", "texas", "name"),
        ("Q2", "paris , texas", "words"),
    ]
    assert [(item.name, item.how) for item in search(small, "stra")] == [("strasbourg", "prefix")]


def test_words_are_found_in_any_order(small):
    assert [(item.entity.id, item.how) for item in search(small, "star lone")] == [("Q7", "words")]


def test_accents_and_case_make_no_difference(small):
    assert ids(search(small, "republique FRANCAISE")) == ["Q4"]
    assert ids(search(small, "STRASSBURG")) == ["Q11"]


@pytest.mark.parametrize("query", ["", " ", "\u00ad", "xyzzy", "paris xyzzy"])
def test_what_is_not_there_is_not_found(small, query):
    assert search(small, query) == []


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_no_more_than_the_limit(small, limit):
    assert ids(search(small, "paris", limit=limit)) == ["Q1", "Q2", "Q3"][:limit]


def test_of_very_many_names_the_heaviest_are_weighed(make_graph, tmp_path, monkeypatch):
    monkeypatch.setattr(aliases_module, "_ALIASES", 0)
    names = [f"a{number:03}" for number in range(200)]
    graph = make_graph(tmp_path, [("a150", "r", name) for name in names])
    assert [item.name for item in search(graph, "a", limit=1)] == ["a150"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Strasburg", ["Q11"]),
        ("Pariss", ["Q1", "Q2", "Q3"]),
        ("Deutschlandia", ["Q5"]),
        ("Gen", []),
        ("Ge", []),
        ("", []),
    ],
)
def test_a_name_like_another_is_nearby(small, name, found):
    """By the longest beginning that some name has, if that is three letters or more."""
    assert ids(search_nearby(small, name)) == found


NAME = st.text("abA ", min_size=1, max_size=5)
ENTITIES = st.lists(st.lists(NAME, min_size=1, max_size=3), min_size=1, max_size=6)


def naive_search(entities, degree, query, limit):
    """Compare the key of every name with the query's; of an entity the heaviest name counts."""
    wanted = fold_name(query)
    stages = (
        ("name", lambda name: name == wanted),
        ("prefix", lambda name: name.startswith(wanted)),
        ("words", lambda name: set(wanted.split()) <= set(name.split())),
    )
    found = {}
    for how, fits in stages:
        pairs = {
            (fold_name(n), e) for e, names in enumerate(entities) for n in names if fold_name(n)
        }
        hits = sorted((-degree[e], name, e) for name, e in pairs if wanted and fits(name))
        for _, name, entity in hits:
            found.setdefault(entity, (name, how))
    return [(entity, *how) for entity, how in found.items()][:limit]


@pytest.mark.slow
@given(ENTITIES, st.text("ab ", max_size=3), st.integers(1, 4), st.data())
@settings(max_examples=at_most(15))
def test_search_is_that_of_a_plain_loop(make_graph, entities, query, limit, data):
    rows = [
        {"id": str(number), "label": label, "aliases": aliases}
        for number, (label, *aliases) in enumerate(entities)
    ]
    number = st.integers(0, len(rows) - 1).map(str)
    triples = data.draw(st.lists(st.tuples(number, st.just("r"), number), max_size=5, unique=True))
    degree = [sum((t[0] == r["id"]) + (t[2] == r["id"]) for t in triples) for r in rows]
    with tempfile.TemporaryDirectory() as folder:
        graph = make_graph(Path(folder), triples, rows)
        found = search(graph, query, limit=limit)
    expected = naive_search(entities, degree, query, limit)
    assert [(item.entity.index, item.name, item.how) for item in found] == expected


def test_a_typo_or_two_still_find_the_name(small):
    assert [(hit.entity.id, hit.name, hit.how) for hit in small.search("Strasborg")] == [
        ("Q11", "strasbourg", "similar")
    ]
    assert ids(small.search("Untied Sttaes")) == ["Q8"]
    assert ids(small.search("Pariss")) == ["Q1", "Q2", "Q3"]


def test_where_the_name_is_exact_nothing_similar_is_shown(make_graph, tmp_path):
    graph = make_graph(tmp_path, [], [{"id": name} for name in ("berlin", "merlin", "berlin wall")])
    assert [hit.how for hit in graph.search("berlin")] == ["name", "prefix"]
    assert [hit.name for hit in search_similar(graph, "berlin")] == ["merlin"]


def test_words_of_descriptions_are_found_last(small):
    found = small.search("Texas")
    assert [(hit.entity.id, hit.how) for hit in found] == [
        ("Q7", "name"),
        ("Q2", "words"),
        ("Q9", "description"),
    ]
    assert ids(search_descriptions(small, "EUROPE country")) == ["Q4", "Q5"]
    assert ids(search_descriptions(small, "urope")) == []
    assert ids(search_descriptions(small, "(.*")) == []
    assert ids(search_descriptions(small, "city", limit=1)) == ["Q2"]


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_the_limit_holds_over_all_ways(small, limit):
    assert len(small.search("Texas", limit=limit)) == min(limit, 3)
