"""Real graphs import with the counts their sources state; skipped where the data is absent.

The data lies beside the project, or where the variable KGRAFT_DATA says.
"""

import os
from pathlib import Path

import pytest

from kgraft.graph import Graph, build_graph, export_graph, open_source

pytestmark = pytest.mark.slow
DATA = Path(os.environ.get("KGRAFT_DATA") or Path(__file__).parents[3] / "shared" / "data")


def source_of(name):
    path = DATA / name
    if not path.is_dir():
        pytest.skip(f"no data at {path}; name its place with KGRAFT_DATA")
    return open_source(path)


@pytest.mark.parametrize(
    ("name", "entities", "relations", "splits"),
    [
        ("graphs/fb15k237", 14_541, 237, (272_115, 17_535, 20_466)),
        ("graphs/wn18rr", 40_943, 11, (86_835, 3_034, 3_134)),
        ("graphs/wikidata", 110_992, 407, (247_733, 0, 0)),
    ],
)
def test_graphs_have_their_published_size(tmp_path, name, entities, relations, splits):
    manifest = build_graph(source_of(name), tmp_path / "g")
    assert (manifest.entities, manifest.relations) == (entities, relations)
    assert tuple(manifest.splits.values()) == splits
    assert manifest.triples == sum(splits)
    assert manifest.left_out == manifest.refused == {}


def test_wordnet_has_its_synsets_and_sense_counts(tmp_path):
    manifest = build_graph(source_of("wordnet-3.0"), tmp_path / "g")
    assert (manifest.entities, manifest.priors) == (117_659, "counts")
    best = Graph.open(tmp_path / "g").candidates("dog")[0]
    assert best.entity.description.startswith("a member of the genus Canis")
    assert best.prior > 0.5


def test_a_real_graph_comes_back_from_n_triples(tmp_path):
    build_graph(source_of("graphs/umls"), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    export_graph(graph, tmp_path / "g.nt")
    again = build_graph(open_source(tmp_path / "g.nt"), tmp_path / "again")
    assert again.version == graph.manifest.version
