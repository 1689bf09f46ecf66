"""One thread, and one graph with its trained vectors, for all tests of this folder."""

from contextlib import contextmanager

import pytest
import torch
from tests.embed.tiny import build, desk_triples, quick

from kgraft.embed.predictor import LinkPredictor
from kgraft.embed.train import train_embedding


@contextmanager
def one_thread():
    """Work with one thread: these matrices are too small for more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="session")
def desks(tmp_path_factory):
    """The graph of `desk_triples`."""
    return build(tmp_path_factory.mktemp("desks") / "graph", desk_triples())


@pytest.fixture(scope="session")
def trained(desks, tmp_path_factory):
    """A folder of vectors of the desks."""
    out = tmp_path_factory.mktemp("trained") / "vectors"
    with one_thread():
        list(train_embedding(desks, quick(), out))
    return out


@pytest.fixture
def embedded(desks, trained):
    """The desks with their vectors."""
    return LinkPredictor.from_pretrained(trained, desks)
