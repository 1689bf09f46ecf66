"""The atlas, as a graph."""

import pytest
from tests.embed.tiny import build
from tests.reason.tiny import atlas_entities, atlas_triples


@pytest.fixture(scope="session")
def atlas(tmp_path_factory):
    return build(tmp_path_factory.mktemp("atlas") / "graph", atlas_triples(), atlas_entities())
