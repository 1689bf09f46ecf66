"""What is read of entities and queries."""

import numpy as np

from kgraft.reason.text.texts import CompletionTexts


def test_entities_with_their_descriptions(graph):
    rows = np.array([graph.index("t1"), graph.index("c0")])
    assert CompletionTexts(graph).entities(rows).to_pylist() == ["Town 1: a town", "Country 0"]


def test_queries_with_the_relation_before_the_description(graph):
    town, country = graph.index("t1"), graph.index("c0")
    lies_in, road = (graph.relation(name).index for name in ("lies_in", "road_to"))
    asked = [(town, lies_in), (country, 2 + lies_in), (town, 2 + road)]
    texts = CompletionTexts(graph).queries(*map(np.array, zip(*asked, strict=True)))
    assert texts.to_pylist() == [
        "Town 1 lies in: a town",
        "lies in Country 0",
        "road to Town 1: a town",
    ]


def test_an_entity_without_any_text_goes_by_its_id(tmp_path):
    from tests.reason.memory.conftest import build

    graph = build(tmp_path / "g", [("a", "r", "b")], [{"id": "a", "label": ""}], ())
    texts = CompletionTexts(graph).entities(np.arange(2)).to_pylist()
    assert all(texts)
