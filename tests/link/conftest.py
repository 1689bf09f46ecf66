"""One tiny graph, encoder, model and linker for all tests of this folder."""

import pytest
from tests.graph.tiny import build, examples
from tests.link.tiny import apart, disturbed, link_model, write_encoder

from kgraft.corpus import annotate
from kgraft.link.knowledge import Knowledge
from kgraft.link.linker import Linker


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Where vectors and indexes are kept."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, scope="module")
def _apart(cache):
    with apart(cache):
        yield


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of one's own, in which nothing was built."""
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "own-cache"))
    return tmp_path / "own-cache"


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    """Thirty entities, three of them called Paris."""
    return build(tmp_path_factory.mktemp("graph") / "tiny")


@pytest.fixture(scope="session")
def nothing(graph, tmp_path_factory):
    """A graph from which every entity was taken out."""
    everything = graph.entities["id"].to_pylist()
    return graph.without(tmp_path_factory.mktemp("nothing") / "graph", entities=everything)


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """An encoder of two layers and 48 dimensions."""
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def narrow_folder(tmp_path_factory):
    """An encoder that reads no more than 16 tokens at once."""
    return write_encoder(tmp_path_factory.mktemp("encoder") / "narrow", length=16)


@pytest.fixture(scope="session")
def model(encoder_folder):
    """An untrained model, not to be changed."""
    return link_model(encoder_folder)


@pytest.fixture(scope="session")
def narrow(narrow_folder):
    """An untrained model that reads no more than 16 tokens at once, not to be changed."""
    return link_model(narrow_folder, longest=4)


@pytest.fixture(scope="module")
def knowledge(graph, model):
    """What the linker knows of the graph, not to be changed."""
    return Knowledge(graph, model.entity_encoder)


@pytest.fixture(scope="module")
def linker(graph, model):
    """A linker with an untrained model, not to be changed."""
    return Linker(graph, model)


@pytest.fixture
def by_name(graph, encoder_folder):
    """A linker of one's own, for which names decide."""
    return Linker(graph, link_model(encoder_folder, names_decide=True))


@pytest.fixture(scope="session")
def marked_texts(graph):
    """Forty texts with their mentions."""
    return annotate(graph, examples())


@pytest.fixture(scope="session")
def exported(encoder_folder, tmp_path_factory):
    """A folder with a model and its exported form."""
    from kgraft.link.onnx import FILE, export_model

    folder = tmp_path_factory.mktemp("exported")
    model = disturbed(link_model(encoder_folder))
    model.save_pretrained(folder)
    assert export_model(model, folder) == folder / FILE
    return folder


@pytest.fixture
def shipped():
    """The linker that comes with the package; these tests fail until its weights are there."""
    from kgraft.link.shipped import load_model

    return load_model()
