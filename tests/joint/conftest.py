"""A tiny graph, a small encoder, texts with mentions, and a joint model of them."""

import pytest
from tests.graft.conftest import graph, host_folder  # noqa: F401

from kgraft.corpus import annotate
from kgraft.joint import GoldWindows, JointConfig, JointModel
from kgraft.text import Encoder
from kgraft.vectors import GraphAttentionSettings

CONFIG = JointConfig(cut=1, attention=GraphAttentionSettings(heads=2), fan_out=(3, 2))
MENTIONS = [
    ("Paris lies in France.", {"Paris": "fr-paris", "France": "france"}),
    ("Berlin rules Germany", {"Berlin": "berlin", "Germany": "germany"}),
    ("a small city in Texas is Paris", {"Texas": "texas", "Paris": "tx-paris"}),
    ("nothing is said here", {}),
    ("one pays with the euro in France and Germany", {"euro": "euro", "France": "france"}),
]


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own(tmp_path_factory):
    """Let nothing that was read before be found, nor anything be left behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def marked():
    for text, names in MENTIONS:
        yield (
            text,
            [
                {"start": text.index(n), "end": text.index(n) + len(n), "entity": e}
                for n, e in names.items()
            ],
        )


@pytest.fixture
def encoder(host_folder):  # noqa: F811
    return Encoder.load(host_folder, device="cpu", max_length=64)


@pytest.fixture
def model(encoder):
    return JointModel(encoder, CONFIG).eval()


@pytest.fixture
def data(graph):  # noqa: F811
    return annotate(graph, marked())


@pytest.fixture
def windows(encoder, data):
    return GoldWindows.of(encoder.windows(data.texts), data)
