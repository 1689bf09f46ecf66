"""Graphs that older versions of kgraft wrote: opened as they are, or migrated."""

import json
import shutil
from pathlib import Path

import pytest

from kgraft.errors import BadGraph, BadInput
from kgraft.graph import Graph, check_graph, diff_graphs, migrate_graph
from kgraft.graph.folder import SINCE_0_2, TABLES
from kgraft.graph.migrate import is_current
from kgraft.graph.names.stems import KEYS_VERSION

OLDER = Path(__file__).with_name("older")  # written by commits a8c98ef and cf602ac
TEXT = "From the City of Light and Deutschland's Berlin to Lutetia"


@pytest.fixture(params=["first", "variants"])
def older(request, tmp_path):
    """A graph of four entities as it was written before some of today's tables were."""
    shutil.unpack_archive(OLDER / f"{request.param}.zip", tmp_path / "older")
    return tmp_path / "older"


def test_a_graph_that_lacks_a_table_says_how_to_migrate_it(tmp_path):
    folder = tmp_path / "older"
    shutil.unpack_archive(OLDER / "first.zip", folder)
    for refused in (Graph.open, check_graph):
        with pytest.raises(BadGraph, match=f"run: kgraft graph migrate {folder}$"):
            refused(folder)


def test_a_graph_with_other_keys_of_names_opens_and_can_be_migrated(tmp_path):
    shutil.unpack_archive(OLDER / "variants.zip", tmp_path / "older")
    before = Graph.open(tmp_path / "older")
    after = migrate_graph(tmp_path / "older", tmp_path / "new")
    assert before.manifest.keys_version < KEYS_VERSION
    assert not is_current(tmp_path / "older")
    assert before.mentions(TEXT) == after.mentions(TEXT)
    assert diff_graphs(before, after).is_empty


def test_migrated_in_its_place_it_says_what_it_said(older):
    manifest = json.loads((older / "manifest.json").read_text("utf-8"))
    graph = migrate_graph(older)
    assert check_graph(older) == []
    assert is_current(older)
    assert set(graph.tables) == {*TABLES, *SINCE_0_2}
    for name in ("version", "name", "source", "entities", "triples", "splits", "parent"):
        assert getattr(graph.manifest, name) == manifest[name]
    found = [mention.candidates[0].entity.id for mention in graph.mentions(TEXT)]
    assert found == ["Q1", "Q4", "Q3", "Q1"]
    assert [path.name for path in older.parent.iterdir()] == ["older"]


def test_migrated_to_another_place_the_old_one_stays(older, tmp_path):
    before = {path.name: path.read_bytes() for path in older.iterdir()}
    migrate_graph(older, tmp_path / "new")
    assert {path.name: path.read_bytes() for path in older.iterdir()} == before
    assert check_graph(tmp_path / "new") == []
    with pytest.raises(BadInput, match="exists already"):
        migrate_graph(older, tmp_path / "new")
    migrate_graph(older, tmp_path / "new", overwrite=True)


def test_a_current_graph_is_left_as_it_is(older):
    migrate_graph(older)
    before = {path.name: path.stat().st_mtime_ns for path in older.iterdir()}
    assert migrate_graph(older).manifest.version == Graph.open(older).manifest.version
    assert {path.name: path.stat().st_mtime_ns for path in older.iterdir()} == before


@pytest.mark.parametrize("name", ["entities", "triples"])
def test_spoilt_content_is_not_given_new_checksums(older, name):
    path = older / f"{name}.arrow"
    spoilt = bytearray(path.read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    path.write_bytes(spoilt)
    with pytest.raises(BadGraph, match=rf"{name}\.arrow: the checksum differs"):
        migrate_graph(older)
    assert path.read_bytes() == spoilt
