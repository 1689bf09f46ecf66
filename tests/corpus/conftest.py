"""The tiny graph for all tests of this folder."""

import pytest
from tests.graph.tiny import build


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    """Thirty entities, three of them called Paris."""
    return build(tmp_path_factory.mktemp("graph") / "tiny")
