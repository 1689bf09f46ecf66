"""Questions over a graph are read from files, or asked by people."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from kgraft.errors import BadInput
from kgraft.link import Linker
from kgraft.tasks.graph_questions import Questions


def test_questions(asked, graph):
    assert len(asked) == 9  # the last is about nothing that the graph knows
    assert asked.topic[0] == graph.numbers_of(["berlin"])[0]
    assert asked.answers[0].tolist() == graph.numbers_of(["germany"]).tolist()
    assert asked.answers[8].tolist() == []


def test_a_bad_line(tmp_path, graph):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(BadInput, match="no question"):
        Questions.read(path, graph)
    path.write_text("")
    with pytest.raises(BadInput, match="holds no question about the graph"):
        Questions.read(path, graph)


def test_entities_by_id_in_a_zipped_file(tmp_path, graph):
    mention = {"start": 10, "end": 16, "entity": "fr-paris"}
    line = {"text": "what rules Paris", "mentions": [mention], "answers": ["france", "euro"]}
    with gzip.open(tmp_path / "train.jsonl.gz", "wt") as file:
        file.write(json.dumps(line))
    found = Questions.read(tmp_path / "train.jsonl", graph)
    assert found.topic.tolist() == graph.numbers_of(["fr-paris"]).tolist()
    assert found.answers[0].tolist() == graph.numbers_of(["france", "euro"]).tolist()


def test_other_answers_have_another_name(asked):
    assert asked.digest() == asked.part(np.arange(len(asked))).digest()
    fewer = [held[:0] if n == 3 else held for n, held in enumerate(asked.answers)]
    assert asked.digest() != replace(asked, answers=fewer).digest()


@pytest.fixture(scope="module")
def linker(graph):
    return Linker(graph)


def test_what_people_ask_is_linked(linker, graph):
    found = Questions.asked(["what is Berlin the capital of"], linker)
    assert found.topic.tolist() == graph.numbers_of(["berlin"]).tolist()
    assert found.texts[0][found.start[0] : found.end[0]] == "Berlin"


def test_what_it_is_about_can_be_told(linker, graph):
    texts = ["what is the capital of it", "does Germany pay with the euro"]
    found = Questions.asked(texts, linker, graph.entity("germany"))
    assert found.topic.tolist() == graph.numbers_of(["germany"] * 2).tolist()
    assert (found.start[0], found.end[0]) == (0, 0)
    assert texts[1][found.start[1] : found.end[1]] == "Germany"


def test_a_question_about_nothing(linker):
    with pytest.raises(BadInput, match="no entity of the graph is found in 'xyzzy'"):
        Questions.asked(["xyzzy"], linker)
