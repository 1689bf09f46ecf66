"""Questions over a graph are read from files, or questions by people."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from kgraft.ask import Questions
from kgraft.errors import BadInput
from kgraft.link import Linker


def test_questions(questions, graph):
    assert len(questions) == 9  # the last is about nothing that the graph knows
    assert questions.topic[0] == graph.indices_of(["berlin"])[0]
    assert questions.answers[0].tolist() == graph.indices_of(["germany"]).tolist()
    assert questions.answers[8].tolist() == []


def test_a_bad_line(tmp_path, graph):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(BadInput, match=r"bad\.jsonl:1"):
        Questions.read(path, graph)
    path.write_text("")
    with pytest.raises(BadInput, match=r"bad\.jsonl"):
        Questions.read(path, graph)


def test_entities_by_id_in_a_zipped_file(tmp_path, graph):
    mention = {"start": 10, "end": 16, "entity": "fr-paris"}
    line = {"text": "what rules Paris", "mentions": [mention], "answers": ["france", "euro"]}
    with gzip.open(tmp_path / "train.jsonl.gz", "wt") as file:
        file.write(json.dumps(line))
    questions = Questions.read(tmp_path / "train.jsonl", graph)
    assert questions.topic.tolist() == graph.indices_of(["fr-paris"]).tolist()
    assert questions.answers[0].tolist() == graph.indices_of(["france", "euro"]).tolist()


def test_other_answers_have_another_name(questions):
    assert questions.digest() == questions.select(np.arange(len(questions))).digest()
    fewer = [part[:0] if n == 3 else part for n, part in enumerate(questions.answers)]
    assert questions.digest() != replace(questions, answers=fewer).digest()


@pytest.fixture(scope="module")
def linker(graph):
    return Linker(graph)


def test_what_people_ask_is_linked(linker, graph):
    linked = Questions.link(["what is Berlin the capital of"], linker)
    assert linked.topic.tolist() == graph.indices_of(["berlin"]).tolist()
    assert linked.texts[0][linked.start[0] : linked.end[0]] == "Berlin"


def test_what_it_is_about_can_be_given(linker, graph):
    texts = ["what is the capital of it", "does Germany pay with the euro"]
    linked = Questions.link(texts, linker, graph.entity("germany"))
    assert linked.topic.tolist() == graph.indices_of(["germany"] * 2).tolist()
    assert (linked.start[0], linked.end[0]) == (0, 0)
    assert texts[1][linked.start[1] : linked.end[1]] == "Germany"


def test_a_question_about_nothing(linker):
    with pytest.raises(BadInput, match="xyzzy"):
        Questions.link(["xyzzy"], linker)
