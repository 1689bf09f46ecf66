"""What a linker knows: vectors made when they are needed, and entities that come and go."""

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Match
from kgraft.link.knowledge import Knowledge
from kgraft.text import Encoder
from kgraft.vectors.entity_text import ENTITY_FIELDS, entity_texts

NEW = {"id": "x", "label": "Zorblax", "description": "an invented place", "types": ["city"]}


@pytest.fixture
def own(graph, model):
    """Knowledge of one's own, that may be changed."""
    return Knowledge(graph, model.entity_encoder)


@pytest.fixture
def searching(graph, model, own_cache):
    """Knowledge of one's own with an index."""
    knowledge = Knowledge(graph, model.entity_encoder)
    knowledge.build_index()
    return knowledge


@pytest.fixture
def encoded(monkeypatch):
    """The texts that the encoder is given from now on."""
    texts, encode = [], Encoder.encode
    noted = lambda self, some_texts, **o: texts.extend(some_texts) or encode(self, some_texts, **o)  # noqa: E731
    monkeypatch.setattr(Encoder, "encode", noted)
    return texts


def named(knowledge, text):
    """Return the ids of all whose names are in a text."""
    mentions = knowledge.matcher.find([text])
    entities = knowledge.entities(mentions.entity)
    return [entities[index].id for index in mentions.entity.tolist()]


def everything(knowledge):
    """Return the ids of all that the index finds."""
    entity, _ = knowledge.index.search(["any"], torch.ones(1, 48), 60)
    return [e.id for e in knowledge.entities(entity[entity >= 0]).values()]


def test_nothing_is_encoded_until_vectors_are_asked_for(graph, model, own_cache, encoded):
    knowledge = Knowledge(graph, model.entity_encoder)
    assert encoded == []
    vectors = knowledge.vectors(np.array([3, 0, 3]))
    assert len(encoded) == 2
    assert torch.equal(vectors[0], vectors[2])
    Knowledge(graph, model.entity_encoder).vectors(np.array([0, 3]))
    assert len(encoded) == 2  # they were kept


def test_vectors_are_those_of_the_texts_of_entities(knowledge, graph):
    rows = graph.indices_of(["fr-paris", "berlin"])
    texts = entity_texts(graph, rows, ENTITY_FIELDS).to_pylist()
    expected = torch.from_numpy(knowledge.encoder.encode(texts))
    torch.testing.assert_close(knowledge.vectors(rows), expected, atol=1e-5, rtol=1e-4)


def test_an_added_entity_has_a_name_a_vector_and_a_text(own, graph):
    count = len(graph.entities)
    own.add([NEW])
    assert named(own, "Zorblax and Texas") == ["x", "texas"]
    entity = own.entities(np.array([count]))[count]
    assert (entity.id, entity.label, entity.types, entity.index) == (
        "x", "Zorblax", ("city",), count,
    )  # fmt: skip
    vectors = own.vectors(np.array([count, 0, count]))
    assert torch.equal(vectors[0], vectors[2])
    assert vectors[0].norm() == pytest.approx(1, abs=1e-5)
    assert torch.equal(vectors[1], Knowledge(graph, own.encoder).vectors(np.array([0]))[0])


def test_entities_are_added_one_after_the_other(own, graph):
    own.add([NEW])
    own.add(NEW | {"id": f"y{n}", "label": f"Quux {n}"} for n in range(2))
    own.add([])
    assert named(own, "Quux 1, Zorblax, Quux 0, Texas") == ["y1", "x", "y0", "texas"]


def test_an_index_is_never_given_to_another_entity(own, graph):
    own.add([NEW])
    own.remove(["x"])
    own.add([NEW | {"id": "y", "label": "Quux"}])
    [mention] = own.matcher.find(["Zorblax Quux"]).entity.tolist()
    assert mention == len(graph.entities) + 1
    assert own.entities(np.array([mention]))[mention].id == "y"


def test_what_is_given_of_an_entity_of_the_graph_changes(own, graph):
    [index] = graph.indices_of(["texas"])
    before = own.vectors(np.array([index]))
    own.add([{"id": "texas", "label": "Tejas", "description": "in Spanish"}])
    assert named(own, "Texas") == []
    assert named(own, "Tejas, the Lone Star State") == ["texas", "texas"]
    entity = own.entities(np.array([index]))[index]
    assert (entity.label, entity.description, entity.types) == ("Tejas", "in Spanish", ("state",))
    assert not torch.equal(own.vectors(np.array([index])), before)
    own.add([{"id": "texas", "aliases": ["Teksas"]}])
    assert named(own, "Tejas, Lone Star State, Teksas, Texas") == ["texas", "texas"]


def test_added_entities_are_found_by_meaning_and_removed_ones_are_not(searching):
    searching.add([NEW])
    assert "x" in everything(searching)
    searching.remove(["texas", "x"])
    assert not {"texas", "x"} & set(everything(searching))
    assert named(searching, "Zorblax, Texas, euro") == ["euro"]


def test_an_index_that_is_built_later_has_what_was_added_and_lacks_what_was_removed(own, own_cache):
    own.add([NEW, NEW | {"id": "y", "label": "Quux"}])
    own.remove(["texas", "y"])
    own.build_index()
    ids = set(everything(own))
    assert "x" in ids
    assert not {"texas", "y"} & ids


def test_what_was_removed_can_be_added_again(searching):
    searching.add([NEW])
    searching.remove(["x", "texas"])
    searching.add([NEW, {"id": "texas", "label": "Texas"}])
    assert named(searching, "Zorblax in Texas") == ["x", "texas"]
    assert {"x", "texas"} <= set(everything(searching))


def test_an_entity_that_is_not_there_cannot_be_removed(own):
    with pytest.raises(NotFound, match=r"^no entity has the id 'zorblax'$"):
        own.remove(["texas", "zorblax"])
    assert named(own, "Texas") == ["texas"]


def test_a_bad_entity_is_refused_and_changes_nothing(own):
    own.add([NEW])
    for bad in ({"label": "no id"}, {"id": ""}):
        with pytest.raises(
            BadInput, match=r'^an entity has no id; give {"id": "…", "label": "…"}$'
        ):
            own.add([NEW | {"id": "y"}, bad])
    with pytest.raises(BadInput, match="'aliases'"):
        own.add([{"id": "y", "aliases": 7}])
    assert named(own, "Zorblax") == ["x"]
    own.add([NEW | {"id": "z", "label": "Quux"}])
    assert named(own, "Quux, Zorblax") == ["z", "x"]


def test_a_pinned_name_means_one_entity(own, graph):
    own.add([NEW])
    own.pin({"Paris": "myth", "the Big X": "x"})
    mentions = own.matcher.find(["Paris and the Big X"])
    assert named(own, "Paris and the Big X") == ["myth", "x"]
    assert (mentions.match == Match.PINNED).all()
    assert own.matcher.find(["Paris"]).prior.tolist() == [1]


def test_a_name_is_not_pinned_to_an_entity_that_is_not_there(own):
    with pytest.raises(NotFound, match=r"^no entity has the id 'zorblax'$"):
        own.pin({"Paris": "zorblax"})
    assert len(named(own, "Paris")) == 3


def test_every_change_has_a_version_of_its_own(own, graph):
    versions = [own.version]
    own.pin({"Paris": "myth"})
    versions.append(own.version)
    own.add([NEW])
    versions.append(own.version)
    own.remove(["texas"])
    versions.append(own.version)
    assert versions[0] == graph.manifest.version
    assert len(set(versions)) == 4


def test_a_saved_graph_has_what_was_added_and_lacks_what_was_removed(own, tmp_path):
    own.add([NEW, {"id": "euro", "label": "euro", "aliases": ["EUR"]}, NEW | {"id": "gone"}])
    own.remove(["texas", "gone"])
    saved = own.save(tmp_path / "deep" / "new")
    assert saved.entity("x").label == "Zorblax"
    assert saved.entity("euro").aliases == ("EUR",)
    assert saved.indices_of(["texas", "gone"]).tolist() == [-1, -1]
    assert len(saved.entities) == len(own.graph.entities)
    assert saved.manifest.version != own.graph.manifest.version
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["new"]


def test_a_changed_entity_has_the_same_names_once_it_is_saved(own, tmp_path):
    own.add([{"id": "tokyo", "label": "Edo"}, {"id": "euro", "aliases": ["EUR"]}])
    saved = Knowledge(own.save(tmp_path / "new"), own.encoder)
    text = "Edo, 東京, euro, EUR"
    assert named(own, text) == named(saved, text) == ["tokyo", "tokyo", "euro", "euro"]


def test_a_graph_without_entities_can_be_begun_with(nothing, model, tmp_path, own_cache):
    knowledge = Knowledge(nothing, model.entity_encoder)
    assert named(knowledge, "Paris") == []
    knowledge.add([NEW])
    assert named(knowledge, "Zorblax") == ["x"]
    assert knowledge.vectors(np.array([0])).norm() == pytest.approx(1, abs=1e-5)
    assert knowledge.save(tmp_path / "begun").entity("x").label == "Zorblax"
    knowledge.build_index()
    assert everything(knowledge) == ["x"]
