"""The linker that comes with the package; these tests need its weights."""

import pytest

from kgraft.graph import Graph
from kgraft.link.linker import Linker
from kgraft.link.model import LinkModel
from kgraft.link.shipped import SHIPPED, load_model


@pytest.fixture(scope="module")
def world():
    return Graph.open("world")


def test_a_folder_is_loaded_in_its_place(model, tmp_path):
    model.save_pretrained(tmp_path / "linker")
    assert load_model(tmp_path / "linker").digest() == model.digest()


def test_the_shipped_linker_is_for_the_default_encoder(shipped):
    assert isinstance(shipped, LinkModel)
    assert shipped.config.encoder is None
    assert 0 < shipped.config.threshold < 1
    assert (SHIPPED / "README.md").is_file()


def test_names_of_the_world_are_linked_out_of_the_box(shipped, world):
    links = Linker(world, shipped)("She flew from Berlin to Paris, the capital of France.")
    assert [link.surface for link in links] == ["Berlin", "Paris", "France"]
    assert all(link.score > 0.5 for link in links)


def test_ordinary_words_are_not_linked(shipped, world):
    assert Linker(world, shipped)("He said that it may be nice to read in the sun.") == []


def test_a_text_in_another_language_is_linked_by_its_names(shipped, world):
    links = Linker(world, shipped)("Wir fahren mit dem Zug von Berlin nach Warschau.")
    assert "Berlin" in [link.surface for link in links]
