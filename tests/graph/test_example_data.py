"""The example data: whole, consistent, and imported without a complaint."""

import json
import re
from itertools import pairwise

import pytest

from kgraft.corpus import read_annotated
from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph, Refusals, build_graph, open_source
from kgraft.graph.example_data import EXAMPLES, examples, write_example

NAMES = sorted(examples())


def lines(name, file):
    text = (EXAMPLES / name / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module", params=NAMES)
def example(request, tmp_path_factory):
    """The name of an example and its graph, imported from what is written for the user."""
    folder = tmp_path_factory.mktemp("example")
    write_example(request.param, folder / "sources")
    refusals = Refusals()
    manifest = build_graph(open_source(folder / "sources"), folder / "graph", refusals=refusals)
    assert not refusals.count
    assert not manifest.left_out
    return request.param, Graph.open(folder / "graph")


def test_every_entity_has_texts_and_facts(example):
    _, graph = example
    for entity in graph:
        assert entity.label != entity.id
        assert entity.description
        assert entity.types
        assert graph.card(entity).facts
    assert all(relation.template.count("[X]") == 1 for relation in graph.all_relations)
    assert {n.relation for e in graph for n in graph.neighbours(e)} == set(graph.all_relations)


def test_some_names_are_ambiguous(example):
    _, graph = example
    names = {name for entity in graph for name in (entity.label, *entity.aliases)}
    assert sum(len(graph.find(name)) > 1 for name in names) >= 5


def test_dates_are_kept_as_a_column(example):
    _, graph = example
    dates = [date for date in graph.entities["since"].to_pylist() if date]
    assert len(dates) > len(graph) / 2
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)


@pytest.mark.parametrize("file", ["documents.jsonl", "questions.jsonl"])
def test_marked_mentions_are_names_of_their_entities(example, file):
    name, graph = example
    data = read_annotated(EXAMPLES / name / file, graph)
    mentions = data.mentions
    assert (data.gold >= 0).all()
    for row in range(len(mentions)):
        text = data.texts[mentions.text[row]]
        surface = text[mentions.start[row] : mentions.end[row]]
        meant = graph.find(surface) + graph.find(surface.removesuffix("s"))
        assert graph.entity(int(data.gold[row])) in meant, surface


@pytest.mark.parametrize("file", ["documents.jsonl", "questions.jsonl"])
def test_mentions_stand_in_order_and_apart(example, file):
    for text in lines(example[0], file):
        spans = [(m["start"], m["end"]) for m in text["mentions"]]
        assert all(start < end <= len(text["text"]) for start, end in spans)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))


def test_answers_follow_from_the_triples(example):
    name, graph = example
    for question in lines(name, "questions.jsonl"):
        topic = question["mentions"][0]["entity"]
        walks = [(topic, ())]
        for step in question["path"]:
            walks = [
                (node, (*facts, fact))
                for reached, facts in walks
                for node, fact in step_from(graph, reached, step)
            ]
        walks = [walk for walk in walks if walk[0] != topic]
        assert sorted({node for node, _ in walks}) == question["answers"] != []
        used = {fact for _, facts in walks for fact in facts}
        assert used == {tuple(fact) for fact in question["facts"]}


def step_from(graph, entity, step):
    """Return the far ends of a step, `-` against the arrow, each with its fact."""
    relation, inverse = step.removeprefix("-"), step.startswith("-")
    for near in graph.neighbours(entity, relation=relation, direction="in" if inverse else "out"):
        ends = (near.entity.id, entity) if inverse else (entity, near.entity.id)
        yield near.entity.id, (ends[0], relation, ends[1])


def test_there_are_enough_of_each(example):
    name, graph = example
    assert len(graph) >= 60
    assert len(lines(name, "documents.jsonl")) >= 12
    questions = lines(name, "questions.jsonl")
    assert len(questions) >= 30
    assert {len(question["path"]) for question in questions} == {1, 2, 3}
    for one in (lines(name, "documents.jsonl"), questions):
        assert len({item["id"] for item in one}) == len({item["text"] for item in one}) == len(one)


def test_the_licence_is_beside_the_data(example):
    assert "CC0" in (EXAMPLES / example[0] / "README.md").read_text(encoding="utf-8")


def test_counts_in_the_readme_are_right(example):
    name, graph = example
    readme = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    counted = {
        "entities with": len(graph),
        "relations,": len(graph.relations),
        "facts": len(graph.triples),
        "texts": len(lines(name, "documents.jsonl")),
        "questions": len(lines(name, "questions.jsonl")),
    }
    for what, count in counted.items():
        assert f"| {count} {what}" in readme


def test_an_unknown_example_and_a_folder_that_is_there(tmp_path):
    with pytest.raises(NotFound, match="there is company"):
        write_example("companies", tmp_path / "new")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "triples.tsv").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(BadInput):
            write_example("company", tmp_path / "own", overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    assert (tmp_path / "own" / "triples.tsv").read_text() == "mine"


def test_an_example_may_be_written_again(tmp_path):
    first = write_example("company", tmp_path / "new")
    first[0].unlink()
    assert write_example("company", tmp_path / "new", overwrite=True) == first
