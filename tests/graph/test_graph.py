"""Look-ups in an open graph: entities, relations, names, neighbours, cards, paths, splits."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from kgraft.errors import NotFound
from kgraft.graph import Entity, Graph


def around(graph, entity, **how):
    """Neighbours in short: direction, relation, entity."""
    return [(n.direction, n.relation.id, n.entity.id) for n in graph.neighbours(entity, **how)]


def candidate_ids(graph, name):
    return [c.entity.id for c in graph.candidates(name)]


# Opening


def test_open_takes_a_path_or_a_text(small):
    for name in (small.folder, str(small.folder)):
        assert Graph.open(name).manifest == small.manifest


def test_open_names_what_is_not_there(tmp_path):
    with pytest.raises(NotFound, match=r"no graph at .*nope; import one with: kgraft graph import"):
        Graph.open(tmp_path / "nope")


def test_a_folder_goes_before_a_built_in_graph_of_its_name(small, monkeypatch):
    monkeypatch.chdir(small.folder.parent)
    small.folder.rename("world")
    assert Graph.open("world").manifest.version == small.manifest.version


def test_the_representation_says_name_and_size(small):
    assert repr(small) == f"<Graph {small.folder.name}: 12 entities, 12 triples>"
    assert repr(small.split("test")) == f"<Graph {small.folder.name}: 12 entities, 1 triples>"


# Entities


def test_an_entity_by_id_and_by_number(small):
    paris = Entity(
        0,
        "Q1",
        "Paris",
        "capital of France",
        ("Lutetia", "City of Light"),
        ("city", "capital"),
    )
    assert small.entity("Q1") == small.entity(0) == small.entity(np.int64(0)) == paris
    assert small.entity("Q12") == Entity(11, "Q12", "Nowhere")


def test_an_unknown_id_says_how_to_search(small):
    with pytest.raises(NotFound, match=r"'Lutetia'; try: kgraft graph search 'Lutetia'"):
        small.entity("Lutetia")
    with pytest.raises(NotFound, match="no entity has the id or label ''"):
        small.entity("")


@pytest.mark.parametrize("number", [-1, 12, 10**6])
def test_a_number_that_no_entity_has(small, number):
    with pytest.raises(NotFound, match=rf"no entity has the index {number}; .* 0 to 11"):
        small.entity(number)


def test_indices_of_many_ids(small):
    wanted = ["Q12", "Q1", "nobody", "Q1", "", "q1", "Q\ud800"]
    found = small.indices_of(wanted)
    assert found.tolist() == [11, 0, -1, 0, -1, -1, -1]
    assert found.dtype == np.int64
    assert small.indices_of([]).tolist() == []
    assert small.indices_of(small.entities["id"].chunk(0)).tolist() == list(range(12))


def test_entities_by_number_in_the_order_asked(small):
    assert [e.id for e in small.entities_at([4, 0, 4])] == ["Q5", "Q1", "Q5"]
    assert small.entities_at([]) == []
    assert [e.id for e in small.entities_at(np.array([2], np.int32))] == ["Q3"]


def test_entities_of_a_type(small):
    assert [e.id for e in small.entities_of_type("capital")] == ["Q1", "Q6", "Q9"]
    assert small.entities_of_type("planet") == []


# A container of its entities


def test_an_entity_by_its_exact_label(small):
    assert small["Germany"].id == "Q5"
    assert small.entity("Paris").id == "Q1"  # the likeliest of three
    assert small.index("Paris") == 0
    for name in ("germany", "Deutschland", "Nobody"):
        assert name not in small
        with pytest.raises(KeyError, match=name):
            small[name]


def test_an_id_comes_before_a_label(make_graph, tmp_path):
    graph = make_graph(tmp_path, [], [{"id": "x", "label": "y"}, {"id": "y", "label": "x"}])
    assert graph["x"].label == "y"


def test_length_membership_and_iteration_agree(small):
    listed = list(small)
    assert len(small) == len(listed) == 12
    assert [entity.index for entity in listed] == list(range(12))
    assert all(e in small and e.id in small and small[e] == e for e in listed)
    assert all(index in small for index in range(12))
    for stranger in (12, -1, "Q13", None, 1.5, [], replace(listed[0], id="Q99")):
        assert stranger not in small


def test_iteration_reads_many_entities_at_once(small, monkeypatch):
    monkeypatch.setattr("kgraft.graph.graph.ENTITIES_AT_ONCE", 5)
    calls = []
    entities_at = small.entities_at
    monkeypatch.setattr(small, "entities_at", lambda r: calls.append(len(r)) or entities_at(r))
    assert [entity.id for entity in small] == [f"Q{number}" for number in range(1, 13)]
    assert calls == [5, 5, 2]


def test_an_entity_of_an_older_version_is_found_by_its_id(small, tmp_path):
    newer = small.without(tmp_path / "newer", entities=[small["Q1"]])
    berlin = small["Berlin"]
    assert newer[berlin].id == "Q6"
    assert newer[berlin].index != berlin.index
    assert around(newer, berlin) == around(newer, "Q6") != []
    with pytest.raises(NotFound, match="has no entity 'Q1'"):
        newer.card(small["Q1"])


@pytest.mark.parametrize("which", [None, 1.5, True, ["a"], b"a"])
def test_what_names_no_entity_is_a_type_error(small, which):
    assert which not in small
    with pytest.raises(TypeError, match="is not an entity"):
        small[which]


def test_methods_take_an_entity_its_id_its_label_or_its_index(small):
    germany = small["Q5"]
    forms = (germany, "Q5", "Germany", 4, np.int64(4))
    for ask in (
        small.entity,
        small.neighbours,
        small.card,
        lambda which: small.paths(which, "France"),
        lambda which: small.subgraph([which]).entities.tolist(),
    ):
        assert all(ask(form) == ask("Q5") for form in forms)


def test_threads_may_read_one_graph(small):
    def read(_):
        graph_names = [entity.label for entity in opened]
        cards = [opened.card(entity).facts for entity in opened]
        found = [e.id for e in opened.find("Paris")]
        return graph_names, cards, found, [m.surface for m in opened.mentions("Paris, Texas")]

    opened = Graph.open(small.folder)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(read, range(32)))
    assert all(result == results[0] for result in results)
    assert results[0][2] == ["Q1", "Q2", "Q3"]


# Shown in a notebook


def test_entities_and_cards_show_themselves_in_short(small):
    assert repr(small["Q1"]) == "<Entity Q1 'Paris': capital of France>"
    assert repr(small["Q12"]) == "<Entity Q12 'Nowhere'>"
    assert repr(small.card("Q5", limit=2)) == "<Card Q5 'Germany': 2 of 4 facts>"


def test_html_is_escaped_and_small(make_graph, tmp_path):
    rows = [
        {"id": "<a>", "label": "R&D <b>", "description": "x" * 5000, "aliases": ["'\""]},
        {"id": "b"},
    ]
    graph = make_graph(tmp_path, [("<a>", "<r>", "b")], rows)
    for shown in (graph, graph["<a>"], graph.card("<a>")):
        html = shown._repr_html_()
        assert len(html) < 4000
        assert "<a>" not in html
        assert "<b>" not in html.replace(f"<b>{graph.manifest.name}", "").replace("<b>R&amp;D", "")
    assert "R&amp;D &lt;b&gt;" in graph.card("<a>")._repr_html_()
    assert "&lt;r&gt;" in graph.card("<a>")._repr_html_()
    assert "<td" in graph.split("test")._repr_html_()


# Relations


def test_a_relation_by_id_label_and_number(small):
    borders = small.relation("P47")
    assert borders == small.relation("borders") == small.relation(2)
    assert borders.verbalise("France", "Germany") == "France borders Germany."
    assert small.relation("P131").verbalise("Paris", "France") == "Paris — located in → France"


def test_an_unknown_relation_lists_some(small):
    with pytest.raises(NotFound, match=r"no relation is named 'likes'; the graph has P36, P131"):
        small.relation("likes")


# Names


def test_candidates_have_priors_by_degree(small):
    found = small.candidates("paris")
    assert [(c.entity.id, round(c.prior, 4)) for c in found] == [
        ("Q1", round(3 / 7, 4)),
        ("Q2", round(2 / 7, 4)),
        ("Q3", round(2 / 7, 4)),
    ]
    assert sum(c.prior for c in found) == pytest.approx(1)


def test_candidates_have_priors_by_counts_where_there_are_counts(make_graph, tmp_path):
    rows = [
        {"id": "a", "label": "bank", "aliases": ["shore"], "name_counts": [8, 5]},
        {"id": "b", "label": "credit union", "aliases": ["Bank"], "name_counts": [3, 0]},
        {"id": "c", "label": "bank", "aliases": []},
    ]
    graph = make_graph(tmp_path, [("b", "r", "b")], rows)
    assert graph.manifest.priors == "counts"
    expected = {"a": 9 / 11, "b": 1 / 11, "c": 1 / 11}
    assert {c.entity.id: c.prior for c in graph.candidates("BANK")} == pytest.approx(expected)


def test_names_are_compared_folded(small):
    for name in ("Straßburg", "strassburg", "STRASSBURG", " strasbourg ", "Strasbourg"):
        assert [e.id for e in small.find(name)] == ["Q11"]
    assert [e.id for e in small.find("republique FRANCAISE")] == ["Q4"]


@pytest.mark.parametrize("name", ["", "  ", "Par", "Q1", "\ud800", "\x00"])
def test_what_is_no_name_has_no_candidates(small, name):
    assert small.candidates(name) == []
    assert small.find(name) == []


def test_resolve_takes_an_id_before_a_name(make_graph, tmp_path):
    rows = [{"id": "x", "label": "y"}, {"id": "y", "label": "x"}]
    graph = make_graph(tmp_path, [], rows)
    assert graph.resolve("x").label == "y"
    assert graph.resolve("Y").id == "x"


def test_resolve_takes_the_likeliest_of_a_name(small):
    assert small.resolve("Paris").id == "Q1"
    assert small.resolve("Allemagne").id == "Q5"


def test_resolve_offers_what_is_near(small):
    with pytest.raises(NotFound) as error:
        small.resolve("Deutsch")
    assert str(error.value) == (
        "nothing in the graph is named 'Deutsch'; did you mean Germany (Q5)?"
    )
    with pytest.raises(NotFound, match=r"named 'Atlantis'; try: kgraft graph search WORDS"):
        small.resolve("Atlantis")
    with pytest.raises(NotFound, match="nothing in the graph is named"):
        small.resolve("\udcff")


# Mentions


def test_mentions_are_leftmost_longest_with_candidates(small):
    text = "From Paris, Texas, to the République française and Paris."
    found = small.mentions(text)
    assert [m.surface for m in found] == ["Paris, Texas", "République française", "Paris"]
    assert [text[m.start : m.end] for m in found] == [m.surface for m in found]
    assert [c.entity.id for c in found[0].candidates] == ["Q2"]
    assert [c.entity.id for c in found[2].candidates] == ["Q1", "Q2", "Q3"]


def test_all_mentions(small):
    found = small.mentions("Paris, Texas", overlapping=True)
    assert [(m.start, m.end) for m in found] == [(0, 5), (0, 12), (7, 12)]


def test_candidates_of_a_mention_can_be_limited_and_keep_their_priors(small):
    (mention,) = small.mentions("paris", candidates=1)
    assert [(c.entity.id, round(c.prior, 4)) for c in mention.candidates] == [("Q1", 0.4286)]
    assert len(small.mentions("paris", candidates=None)[0].candidates) == 3


def test_no_mentions(small):
    assert small.mentions("") == small.mentions("Parisians germanic") == []


# Neighbours and cards


def test_neighbours_by_direction(small):
    assert around(small, "Q4", direction="out") == [("out", "P47", "Q5")]
    incoming = [("in", "P36", "Q1"), ("in", "P131", "Q1"), ("in", "P131", "Q11")]
    assert around(small, "Q4", direction="in") == [*incoming, ("in", "P47", "Q5")]
    assert around(small, "Q4") == [("out", "P47", "Q5"), *incoming, ("in", "P47", "Q5")]


def test_neighbours_by_relation_and_limit(small):
    assert around(small, "Q4", relation="P131") == [("in", "P131", "Q1"), ("in", "P131", "Q11")]
    assert around(small, "Q4", relation="borders", direction="in") == [("in", "P47", "Q5")]
    assert around(small, "Q4", relation="P131", limit=1) == [("in", "P131", "Q1")]
    assert around(small, "Q12") == []
    with pytest.raises(NotFound, match="no relation is named"):
        small.neighbours("Q4", relation="P0")


def test_neighbours_of_an_entity_an_id_or_a_number(small):
    assert around(small, small.entity("Q6")) == around(small, "Q6") == around(small, 5)


def test_a_loop_goes_out_and_in(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "a")])
    assert around(graph, "a") == [("out", "r", "a"), ("in", "r", "a")]


def test_a_card_holds_texts_and_facts_in_words(small):
    card = small.card("Q6")
    assert card.entity == small.entity("Q6")
    assert card.sentences() == [
        "Berlin is the capital of Germany.",
        "Berlin — located in → Germany",
    ]
    assert (card.facts, small.card("Q12").facts) == (2, 0)
    assert len(small.card("Q6", limit=1).neighbours) == 1


def test_facts_are_said_from_head_to_tail_whoever_is_asked(small):
    assert "Berlin is the capital of Germany." in small.card("Q5").sentences()


# Subgraphs and paths


def test_a_subgraph_holds_all_triples_between_its_entities(small):
    around_berlin = small.subgraph(["Q6"], hops=1)
    assert around_berlin.entities.tolist() == [4, 5]
    assert len(around_berlin.triples) == 2
    wider = small.subgraph([small.entity("Q6"), 1], hops=2)
    assert wider.entities.tolist() == [1, 3, 4, 5, 6, 7, 8]
    assert small.subgraph(["Q12"], hops=3).entities.tolist() == [11]
    assert len(small.subgraph(["Q4"], hops=2, most=3).entities) == 3


def test_paths_between_two_entities(small):
    paths = small.paths("Q1", "Q6")
    assert {len(path) for path in paths} == {3}
    assert {tuple(e.index for e in path.entities) for path in paths} == {(0, 3, 4, 5)}
    assert len(paths) == 8  # capital of or located in, twice, and borders in both directions
    direct = small.paths("Q1", "Q4")[0]
    assert (direct.relations, direct.forward) == ((small.relation("P36"),), (True,))
    assert direct.verbalise() == "Paris — capital of → France"
    assert repr(small.paths("Q4", "Q1")[0]) == "<GraphPath France ← capital of — Paris>"
    assert small.paths("Q1", "Q6", longest=2) == small.paths("Q1", "Q12") == []
    assert len(small.paths("Q1", "Q6", limit=3)) == 3


# Splits


def test_a_split_sees_its_own_triples_only(small):
    train, valid, test = (small.split(name) for name in ("train", "valid", "test"))
    assert [len(g.triples) for g in (train, valid, test)] == [10, 1, 1]
    assert around(test, "Q4") == [("in", "P131", "Q11")]
    assert around(valid, "Q9") == [("out", "P36", "Q7")]
    assert ("in", "P131", "Q11") not in around(train, "Q4")
    assert train.card("Q11").facts == 0
    assert train.paths("Q11", "Q4") == []
    assert train.subgraph(["Q11"], hops=2).entities.tolist() == [10]


def test_a_split_has_all_entities_and_names(small):
    test = small.split("test")
    assert len(test.entities) == 12
    assert test.entity("Q6").label == "Berlin"
    assert candidate_ids(test, "Paris") == candidate_ids(small, "Paris")


def test_a_graph_of_one_split_is_its_own_split(make_graph, tmp_path):
    graph = make_graph(tmp_path, [("a", "r", "b")])
    assert graph.split("train") is graph
    assert len(graph.split("test").triples) == 0
    assert graph.split("test").neighbours("a") == []


def test_priors_come_from_the_train_triples(make_graph, tmp_path):
    rows = [{"id": "a", "label": "x"}, {"id": "b", "label": "x"}, {"id": "c"}]
    held_out = [("b", f"r{i}", "c", split) for i in range(9) for split in ("valid", "test")]
    graph = make_graph(tmp_path, [("a", "r0", "c", "train"), *held_out], rows)
    assert {c.entity.id: c.prior for c in graph.candidates("x")} == pytest.approx(
        {"a": 2 / 3, "b": 1 / 3}
    )


def test_looking_things_up_loads_no_pandas(small):
    look = (
        "import sys; from kgraft.graph import Graph; graph = Graph.open(sys.argv[1]);"
        "graph.card('Q1'); graph.mentions('From Paris'); graph.find('Texas');"
        "print('pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", look, str(small.folder)]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "False\n"
