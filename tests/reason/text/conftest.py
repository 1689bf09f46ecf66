"""A described graph with splits, and a completer that is quick to train."""

import pytest
from tests.graft.conftest import host_folder  # noqa: F401

from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.reason import TextSettings

COUNT = 12
QUICK = TextSettings(
    epochs=2, batch=4, tokens=24, earlier_batches=1, rate=1e-3, valid_queries=8, valid_entities=6
)


def rows():
    """Return towns in countries, and roads between them."""
    for n in range(COUNT):
        split = "valid" if n in (3, 7) else "test" if n == 9 else "train"
        yield f"t{n}", "lies_in", f"c{n % 3}", split
        yield f"t{n}", "road_to", f"t{(n + 1) % COUNT}", "train"


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    towns = [{"id": f"t{n}", "label": f"Town {n}", "description": "a town"} for n in range(COUNT)]
    countries = [{"id": f"c{n}", "label": f"Country {n}"} for n in range(3)]
    relations = [{"id": "lies_in", "label": "lies in"}, {"id": "road_to", "label": "road_to"}]
    folder = tmp_path_factory.mktemp("described") / "graph"
    build_graph(TablesSource(list(rows()), [*towns, *countries], relations), folder)
    return Graph.open(folder)
