"""What a linker knows: vectors from the cache, and entities that come and go."""

import numpy as np
import pytest
import torch
from tests.link.tiny import build, link_model

from kgraft.errors import BadInput, NotFound
from kgraft.link.knowledge import Knowledge
from kgraft.vectors.store import cache_folder

NEW = {"id": "x", "label": "Zorblax", "description": "an invented place", "types": ["city"]}


@pytest.fixture
def own(graph, model):
    """Knowledge of one's own, that may be changed."""
    return Knowledge.of(graph, model)


def candidates(knowledge, text):
    named = knowledge.names.find([text])
    rows = np.arange(len(named))
    return knowledge.candidates(
        named, rows, torch.ones(len(rows), knowledge.index.dimension), np.ones(len(rows), bool)
    )


def named_ids(knowledge, text):
    """Return the ids of those whose names are in a text."""
    found = candidates(knowledge, text)
    numbers = found.entity[found.prior > 0]
    return [knowledge.entities(numbers)[number].id for number in numbers.tolist()]


def indexes():
    return list((cache_folder().parent / "indexes").iterdir())


def test_the_index_is_made_once_and_kept(graph, model, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    first = Knowledge.of(graph, model)
    [file] = indexes()
    assert file.name == f"{graph.manifest.version}-{model.entity_encoder}.safetensors"
    monkeypatch.setattr("kgraft.link.knowledge.EntityIndex.build", None)
    again = Knowledge.of(graph, model)
    everything = np.arange(len(graph.entities))
    assert torch.equal(again.index.take(everything), first.index.take(everything))


def test_models_of_one_encoder_share_the_index(graph, encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    for seed in (1, 2):
        Knowledge.of(graph, link_model(encoder_folder, seed=seed))
    assert len(indexes()) == 1


def test_a_cache_that_cannot_be_written_is_done_without(
    graph, model, knowledge, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "file"))
    everything = np.arange(len(graph.entities))
    found = Knowledge.of(graph, model).index.take(everything)
    torch.testing.assert_close(found, knowledge.index.take(everything))


def test_a_damaged_index_is_made_anew(graph, model, knowledge, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path))
    Knowledge.of(graph, model)
    [file] = indexes()
    file.write_bytes(b"half")
    everything = np.arange(len(graph.entities))
    found = Knowledge.of(graph, model).index.take(everything)
    torch.testing.assert_close(found, knowledge.index.take(everything))
    assert indexes() == [file]


def test_vectors_are_those_of_the_candidates_and_zeros_where_padded(knowledge):
    found = candidates(knowledge, "Paris in euro")
    vectors = knowledge.vectors(found)
    assert vectors.shape == (*found.entity.shape, knowledge.index.dimension)
    assert not vectors[found.padding].any()
    expected = knowledge.index.take(found.entity[found.entity >= 0])
    assert torch.equal(vectors[~found.padding], expected)


def test_an_added_entity_has_name_vector_facts_and_text(own, graph):
    count = len(graph.entities)
    own.add([NEW])
    assert named_ids(own, "Zorblax and Texas") == ["x", "texas"]
    entity = own.entities(np.array([count]))[count]
    assert (entity.id, entity.label, entity.types, entity.index) == (
        "x",
        "Zorblax",
        ("city",),
        count,
    )
    assert own.facts[count].tolist() == [1, 0, 1]
    vector = own.index.take(np.array([count]))
    assert own.index.search(vector, 1)[0].tolist() == [[count]]


def test_entities_are_added_one_after_the_other(own, graph):
    own.add([NEW])
    own.add(NEW | {"id": f"y{n}", "label": f"Quux {n}"} for n in range(2))
    own.add([])
    assert named_ids(own, "Quux 1, Zorblax, Quux 0, Texas") == ["y1", "x", "y0", "texas"]
    assert len(own.facts) == len(graph.entities) + 3


def test_what_is_given_of_an_entity_of_the_graph_changes(own, graph):
    [number] = graph.numbers_of(["texas"])
    own.add([{"id": "texas", "label": "Tejas", "description": "in Spanish"}])
    assert named_ids(own, "Texas") == []
    assert named_ids(own, "Tejas, the Lone Star State") == ["texas", "texas"]
    entity = own.entities(np.array([number]))[number]
    assert (entity.label, entity.description, entity.types) == ("Tejas", "in Spanish", ("state",))
    assert len(own.facts) == len(graph.entities)
    own.add([{"id": "texas", "aliases": ["Teksas"]}])
    assert named_ids(own, "Tejas, Lone Star State, Teksas, Texas") == ["texas", "texas"]


def test_removed_entities_are_no_candidates_by_name_or_vector(own, graph):
    own.add([NEW])
    gone = [*graph.numbers_of(["texas", "euro"]), len(graph.entities)]
    own.remove(["texas", "euro", "x"])
    assert named_ids(own, "Zorblax, Texas, euro, Paris")[:1] != ["x"]
    found = candidates(own, "Zorblax, Texas, euro, Paris")
    assert not np.isin(found.entity, gone).any()


def test_what_was_removed_can_be_added_again(own):
    own.add([NEW])
    own.remove(["x", "texas"])
    own.add([NEW, {"id": "texas", "label": "Texas"}])
    assert named_ids(own, "Zorblax in Texas") == ["x", "texas"]


def test_an_entity_that_is_not_there_cannot_be_removed(own):
    with pytest.raises(NotFound, match="no entity has the id 'zorblax'"):
        own.remove(["texas", "zorblax"])
    assert named_ids(own, "Texas") == ["texas"]


def test_a_bad_entity_is_refused_and_changes_nothing(own):
    own.add([NEW])
    for bad in ({"label": "no id"}, {"id": ""}):
        with pytest.raises(BadInput, match="an entity has no id; give"):
            own.add([NEW | {"id": "y"}, bad])
    with pytest.raises(BadInput, match="column 'aliases' of the entities cannot be read"):
        own.add([{"id": "y", "aliases": 7}])
    assert named_ids(own, "Zorblax") == ["x"]
    own.add([NEW | {"id": "z", "label": "Quux"}])
    assert named_ids(own, "Quux, Zorblax") == ["z", "x"]


def test_a_saved_graph_holds_what_was_added_and_lacks_what_was_removed(own, tmp_path):
    own.add([NEW, {"id": "euro", "label": "euro", "aliases": ["EUR"]}, NEW | {"id": "gone"}])
    own.remove(["texas", "gone"])
    saved = own.save(tmp_path / "deep" / "new")
    assert saved.entity("x").label == "Zorblax"
    assert saved.entity("euro").aliases == ("EUR",)
    assert saved.numbers_of(["texas", "gone"]).tolist() == [-1, -1]
    assert len(saved.entities) == len(own.graph.entities)
    assert saved.manifest.version != own.graph.manifest.version
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["new"]


def test_a_changed_entity_has_the_same_names_once_it_is_saved(own, tmp_path):
    own.add([{"id": "tokyo", "label": "Edo"}, {"id": "euro", "aliases": ["EUR"]}])
    saved = own.save(tmp_path / "new")
    text = "Edo, 東京, euro, EUR"
    names = own.names.find([text])
    now = [text[a:b] for a, b in zip(names.start, names.end, strict=True)]
    assert now == [mention.surface for mention in saved.mentions(text)]
    assert now == ["Edo", "東京", "euro", "EUR"]
    assert (
        saved.entity("euro").label == own.entities(names.entity)[names.entity[-1]].label == "euro"
    )


def test_a_graph_without_entities_can_be_begun_with(nothing, model, tmp_path):
    knowledge = Knowledge.of(nothing, model)
    found = knowledge.candidates(
        knowledge.names.find(["Paris"]), np.array([-1]), torch.ones(1, 48), np.ones(1, bool)
    )
    assert (found.entity == -1).all()
    assert not knowledge.vectors(found).any()
    knowledge.add([NEW])
    assert named_ids(knowledge, "Zorblax") == ["x"]
    assert knowledge.save(tmp_path / "begun").entity("x").label == "Zorblax"
    knowledge.remove(["x"])
    assert not knowledge.vectors(found).any()


def test_graphs_keep_their_own_indexes(model, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    for name in ("one", "two"):
        graph = build(tmp_path / name, [], [{"id": name, "label": name}], None)
        assert len(Knowledge.of(graph, model).index) == 1
    assert len(indexes()) == 2
