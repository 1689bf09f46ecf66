"""Predicted facts are read from JSON Lines and from tables; what is wrong is told with its line."""

import gzip
import json

import numpy as np
import pytest

from kgraft.errors import BadInput, NotFound
from kgraft.graft.predicted_facts import PredictedFacts

FACTS = [
    {"head": "fr-paris", "relation": "lies in", "tail": "france", "confidence": 0.5, "rule": "a b"},
    {"head": "berlin", "relation": "lies in", "tail": "germany", "confidence": 1, "rule": ""},
    {"head": "fr-paris", "relation": "lies in", "tail": "france", "confidence": 0.8, "rule": "c"},
    {"head": "berlin", "relation": "capital", "tail": "germany", "confidence": 0.9, "rule": "d"},
    {"head": "ny", "relation": "borders", "tail": "ny", "confidence": 0.9, "rule": "e"},
]


def write(path, facts=FACTS):
    """Write facts by the name of a file."""
    if path.suffix == ".tsv":
        rows = [facts[0], *(fact.values() for fact in facts)]
        path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    else:
        text = "".join(json.dumps(fact) + "\n" for fact in facts)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def between(facts, graph, source, target):
    key = graph.index(source) * len(graph.entities) + graph.index(target)
    _, row = facts.between(np.array([key]))
    return list(zip(facts.step[row].tolist(), facts.confidence[row].tolist(), strict=True))


@pytest.mark.parametrize("name", ["facts.jsonl", "facts.jsonl.gz", "facts.tsv"])
def test_facts_in_both_directions(graph, tmp_path, name):
    facts = PredictedFacts.read(write(tmp_path / name), graph)
    lies, relations = graph.relation("lies in").index, len(graph.relations)
    assert len(facts.key) == 4  # neither what the graph states, nor a fact of an entity with itself
    assert between(facts, graph, "fr-paris", "france") == [(lies, pytest.approx(0.8))]
    assert between(facts, graph, "france", "fr-paris") == [(lies + relations, pytest.approx(0.8))]
    assert between(facts, graph, "berlin", "germany") == [(lies, 1)]
    assert between(facts, graph, "berlin", "france") == []


def test_no_facts(graph, tmp_path):
    (tmp_path / "facts.jsonl").write_text("")
    facts = PredictedFacts.read(tmp_path / "facts.jsonl", graph)
    assert between(facts, graph, "fr-paris", "france") == []


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"head": "atlantis"}, "'atlantis'"),
        ({"relation": "swims"}, "'swims'"),
        ({"tail": "atlantis"}, "'atlantis'"),
        ({"confidence": 0}, "confidence 0 "),
        ({"confidence": 1.5}, "confidence 1.5 "),
        ({"confidence": "much"}, "'much'"),
        ({"confidence": None}, "NoneType"),
    ],
)
def test_a_bad_fact_is_refused_with_its_line(graph, tmp_path, change, value):
    for name in ("facts.jsonl", "facts.tsv"):
        path = write(tmp_path / name, [FACTS[0], FACTS[1] | change])
        with pytest.raises(BadInput) as raised:
            PredictedFacts.read(path, graph)
        assert raised.value.line == 2 + (path.suffix == ".tsv")
        assert value in str(raised.value) or path.suffix == ".tsv"


def test_other_files_are_refused(graph, tmp_path):
    path = tmp_path / "facts.tsv"
    for text, line in (("head\trelation\ttail\n", 1), ("[1]\n", 1), ('{"head": "ny"}\n', 1)):
        path.write_text(text)
        with pytest.raises(BadInput) as raised:
            PredictedFacts.read(path, graph)
        assert raised.value.line == line
    path.write_text("head\trelation\ttail\tconfidence\nberlin\tcapital\n")
    with pytest.raises(BadInput, match=":2: "):
        PredictedFacts.read(path, graph)
    with pytest.raises(NotFound):
        PredictedFacts.read(tmp_path / "nowhere.tsv", graph)
