"""Facts and questions in words, with their mentions marked where they stand."""

import pytest
from tests.graph.tiny import build

from kgraft.corpus import Phrase, relation_phrases, relation_templates, verbalise
from kgraft.corpus.verbalise import plural, question_patterns
from kgraft.graph import placeholders

FILLED = {"x", "y", "xy", "c", "cs", "d", "ds", "n"}


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """Return a graph whose relations have a template, aliases, or an id alone."""
    relations = [
        {"id": "P36", "label": "capital", "template": "[X] is the capital of [Y] ."},
        {"id": "P190", "label": "twinned body", "aliases": ["sister town", "twin"]},
        {"id": "P131", "template": "[X] lies somewhere"},
    ]
    facts = [("a", relation["id"], "b") for relation in relations]
    entities = [{"id": name, "label": name} for name in "ab"]
    return build(tmp_path_factory.mktemp("towns") / "graph", facts, entities, relations)


def by_id(graph, values):
    """Return what the relations of a graph have, by their ids."""
    return dict(zip(graph.relations["id"].to_pylist(), values, strict=True))


def test_a_template_says_a_fact_if_it_has_both_ends(towns):
    assert by_id(towns, relation_templates(towns)) == {
        "P36": "[X] is the capital of [Y] .",
        "P190": "[X] twinned body [Y] .",
        "P131": "[X] P131 [Y] .",
    }


def test_phrases_of_relations(towns):
    assert by_id(towns, relation_phrases(towns)) == {
        "P36": ["is the capital of", "capital"],
        "P190": ["twinned body", "sister town", "twin"],
        "P131": ["P131"],
    }


def test_mentions_are_marked_and_other_phrases_are_not():
    phrases = {"x": Phrase("Paris", "p"), "r": Phrase("mayor"), "y": Phrase("Ann", "a")}
    text, mentions = verbalise("{y}: {r} of {x}, {x} {n}", phrases)
    assert text == "Ann: mayor of Paris, Paris {n}"
    assert [(text[m["start"] : m["end"]], m["entity"]) for m in mentions] == [
        ("Ann", "a"),
        ("Paris", "p"),
        ("Paris", "p"),
    ]


def test_words_that_look_like_placeholders_stay():
    text, mentions = verbalise("[X] has [Y] .", {"x": Phrase("{y}", "x"), "y": Phrase("[X]", "y")})
    assert text == "{y} has [X] ."
    assert [(m["start"], m["end"], m["entity"]) for m in mentions] == [(0, 3, "x"), (8, 11, "y")]


def test_every_question_speaks_of_head_or_tail():
    assert question_patterns()
    for label, patterns in question_patterns().items():
        assert label == label.lower().replace("_", " ")
        for pattern in patterns:
            assert {"x", "y", "xy"} & placeholders(pattern), pattern
            assert placeholders(pattern) <= FILLED, pattern
            assert pattern.count("{") == pattern.count("}") == len(pattern.split("{")) - 1


def test_plurals_are_those_of_most_words():
    words = {"box": "boxes", "city": "cities", "day": "days", "dish": "dishes", "lake": "lakes"}
    assert {word: plural(word) for word in words} == words
