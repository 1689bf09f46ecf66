"""All slots by vectors: searched as by comparing all, extended by what is new."""

import numpy as np
import pyarrow as pa
import pytest
from tests.reason.memory.conftest import ENTITIES, RELATIONS, TRIPLES, build

from kgraft.reason import FactMemory
from kgraft.reason.memory import index as module


def said(memory, rows):
    slots = memory.index.slots
    return memory.words(slots.entity[rows], slots.relation[rows]).to_pylist()


def every_text(memory):
    return sorted(set(said(memory, np.arange(len(memory.index.slots)))))


def test_the_nearest_slots(memory, encoder):
    memory.fill()
    query = encoder.encode(["the capital of France"])[0]
    rows, dots = memory.index.search(query, 5)
    texts = said(memory, np.arange(len(memory.index.slots)))
    expected = np.sort(encoder.encode(texts) @ query)[::-1][:5]
    assert dots == pytest.approx(expected, abs=0.02)
    assert said(memory, rows)[0] == "is the capital of France"
    assert encoder.encode(said(memory, rows)) @ query == pytest.approx(dots, abs=0.02)


def test_each_text_is_encoded_once(memory, graph, encoder, tmp_path):
    texts = every_text(memory)
    assert memory.fill() == len(texts)
    assert sorted(encoder.read) == texts
    encoder.read.clear()
    again = FactMemory(graph, encoder, cache=tmp_path / "cache")
    assert (memory.fill(), again.fill()) == (0, 0)
    assert encoder.read == []
    every = np.arange(len(memory.index.slots))
    assert np.array_equal(memory.index.vectors(every), again.index.vectors(every))


def test_before_it_is_filled_only_what_is_asked_for_is_encoded(memory, encoder):
    assert len(memory.index.search(np.ones(encoder.dimension, np.float32), 3)[0]) == 0
    rows = np.array([2, 5])
    assert np.array_equal(memory.index.vectors(rows), encoder.encode(said(memory, rows)))


@pytest.fixture
def grown(tmp_path):
    """The graph with a new fact, and without another."""
    triples = [*TRIPLES[1:], ("anna", "likes", "york")]
    return build(tmp_path / "grown", triples, ENTITIES, RELATIONS)


@pytest.mark.parametrize("added", [0, 1000])
def test_a_graph_that_changed_costs_what_is_new(
    memory, grown, encoder, tmp_path, monkeypatch, added
):
    """Whether the table is written again or used as it is."""
    monkeypatch.setattr(module, "ADDED", added)
    memory.fill()
    encoder.read.clear()
    later = FactMemory(grown, encoder, cache=tmp_path / "cache")
    assert later.fill() == 2
    assert sorted(encoder.read) == ["Anna likes", "likes York"]
    every = np.arange(len(later.index.slots))
    exact = encoder.encode(said(later, every))
    assert np.abs(later.index.vectors(every) - exact).max() < 0.01
    rows, _ = later.index.search(encoder.encode(["the capital of France"])[0], 100)
    assert sorted(rows.tolist()) == every.tolist()
    assert "is the capital of France" not in said(later, rows)
    (best, *_), _ = later.index.search(encoder.encode(["likes York"])[0], 1)
    assert said(later, np.array([best])) == ["likes York"]


def test_a_damaged_table_is_made_again(memory, graph, encoder, tmp_path, caplog):
    memory.fill()
    (file,) = (tmp_path / "cache").rglob("index.faiss")
    file.write_bytes(b"damaged")
    again = FactMemory(graph, encoder, cache=tmp_path / "cache")
    assert again.fill() == len(every_text(memory))
    assert "index.faiss" in caplog.text


def test_without_a_cache(graph, encoder):
    memory = FactMemory(graph, encoder, cache=False)
    assert memory.fill() > 0
    assert len(memory.index.search(encoder.encode(["France"])[0], 3)[0]) == 3


def test_equal_words_share_a_vector_but_not_a_slot(tmp_path, encoder):
    triples = [("a", "r", "x"), ("b", "r", "y")]
    entities = [{"id": name, "label": "Same"} for name in "ab"]
    memory = FactMemory(build(tmp_path / "g", triples, entities, ()), encoder, cache=False)
    memory.fill()
    rows, _ = memory.index.search(encoder.encode(["Same r"])[0], 2)
    assert said(memory, rows) == ["Same r", "Same r"]
    assert len(set(rows.tolist())) == 2


def test_texts_of_slots_come_from_the_table(memory, encoder):
    memory.fill()
    encoder.read.clear()
    texts = pa.array(["Anna born in", "nowhere in the graph"], pa.large_string())
    vectors = memory.index.take(texts)
    assert encoder.read == ["nowhere in the graph"]
    assert np.abs(vectors - encoder.encode(texts.to_pylist())).max() < 0.01
