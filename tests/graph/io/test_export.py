"""What is exported appears whole or not at all, in the format that was asked for."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from kgraft.errors import BadInput
from kgraft.graph import WRITERS, export_graph
from kgraft.graph.io import Writer

TARGETS = [
    ("g.nt", "ntriples"),
    ("g.jsonl", "jsonl"),
    ("g.npz", "pyg"),
    ("g.parquet", "parquet"),
    ("g", "tsv"),
    ("g-1.2", "tsv"),
    ("g.tsv", "tsv"),
]


class Recorder:
    """Remembers the stages and what was done in each."""

    def __init__(self):
        self.stages = []

    def start(self, what, total=None):
        self.stages.append([what, total, 0])

    def advance(self, amount=1):
        self.stages[-1][2] += amount


def names(place):
    return sorted(path.name for path in place.iterdir())


@pytest.fixture
def out(tmp_path):
    """An empty folder to export into."""
    place = tmp_path / "out"
    place.mkdir()
    return place


@pytest.mark.parametrize(("name", "format"), TARGETS)
def test_the_suffix_tells_the_format(small, out, name, format):
    assert export_graph(small, out / name) == format
    assert names(out) == [name]
    assert (out / name).is_dir() == WRITERS[format].folder


@pytest.mark.parametrize("name", ["g.nt.gz", "g.json", "g.csv"])
def test_a_suffix_of_another_format_is_refused(small, out, name):
    with pytest.raises(BadInput) as error:
        export_graph(small, out / name)
    message = str(error.value)
    assert f".{name.rpartition('.')[2]}" in message
    suffixes = [WRITERS[format].suffix for format in WRITERS if WRITERS[format].suffix]
    assert all(part in message for part in (*suffixes, *WRITERS))
    assert names(out) == []


@pytest.mark.parametrize("format", WRITERS.names())
def test_a_named_format_goes_before_the_suffix(small, out, format):
    assert export_graph(small, out / "g.nt", format=format) == format
    assert names(out) == ["g.nt"]


@pytest.mark.parametrize("format", WRITERS.names())
def test_an_existing_target_is_refused(small, out, format):
    target = out / "g"
    target.write_text("mine")
    with pytest.raises(BadInput, match=r"g exists already"):
        export_graph(small, target, format=format)
    assert target.read_text() == "mine"
    target.unlink()
    target.mkdir()
    with pytest.raises(BadInput, match="exists already"):
        export_graph(small, target, format=format)
    assert names(target) == []


def test_an_unknown_format(small, out):
    with pytest.raises(BadInput) as error:
        export_graph(small, out / "g", format="xls")
    assert all(part in str(error.value) for part in ("'xls'", *WRITERS))
    assert names(out) == []


@pytest.mark.parametrize("format", WRITERS.names())
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_nothing_half_written_is_left(small, out, monkeypatch, format, error):
    def fails(graph, path, *, progress):
        writer.write(graph, path, progress=progress)
        raise error

    writer = WRITERS[format]
    monkeypatch.setitem(WRITERS._registered, format, Writer(fails, writer.folder, writer.suffix))
    with pytest.raises(type(error)):
        export_graph(small, out / "g", format=format)
    assert names(out) == []


@pytest.mark.parametrize("format", WRITERS.names())
def test_the_target_appears_at_the_end(small, out, monkeypatch, format):
    seen = []
    writer = WRITERS[format]

    def watched(graph, path, *, progress):
        seen.append((out / "g").exists())
        writer.write(graph, path, progress=progress)
        seen.append((out / "g").exists())

    monkeypatch.setitem(WRITERS._registered, format, Writer(watched, writer.folder, writer.suffix))
    export_graph(small, out / "g", format=format)
    assert seen == [False, False]
    assert names(out) == ["g"]


def test_folders_above_are_made(small, out):
    export_graph(small, out / "deep" / "er" / "g.nt")
    assert names(out / "deep" / "er") == ["g.nt"]


@pytest.mark.parametrize("format", WRITERS.names())
def test_progress_ends_where_it_said(small, out, format):
    recorder = Recorder()
    export_graph(small, out / "g", format=format, progress=recorder)
    assert recorder.stages
    assert all(total is None or done == total for _, total, done in recorder.stages)


# The files of each format


def test_tsv_files(small, out):
    export_graph(small, out / "g")
    files = ("entities", "relations", "test", "train", "valid")
    assert names(out / "g") == [f"{name}.tsv" for name in files]
    entities = (out / "g" / "entities.tsv").read_text("utf-8").splitlines()
    assert entities[0] == "id\tlabel\tdescription\taliases\ttypes"
    assert entities[1] == "Q1\tParis\tcapital of France\tLutetia|City of Light\tcity|capital"
    assert (out / "g" / "valid.tsv").read_text() == "head\trelation\ttail\nQ9\tP36\tQ7\n"


def test_tsv_without_splits_is_one_file_of_triples(make_graph, tmp_path):
    export_graph(make_graph(tmp_path, [("a", "r", "b")]), tmp_path / "out")
    assert names(tmp_path / "out") == ["entities.tsv", "relations.tsv", "triples.tsv"]


def test_json_lines(small, out):
    export_graph(small, out / "g.jsonl")
    rows = [json.loads(line) for line in (out / "g.jsonl").read_text("utf-8").splitlines()]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["relation"] * 3 + ["entity"] * 12 + ["triple"] * 12
    assert rows[-1] == {
        "kind": "triple",
        "head": "Q11",
        "relation": "P131",
        "tail": "Q4",
        "split": "test",
    }
    assert rows[14] == {"kind": "entity", "id": "Q12", "label": "Nowhere"}


def test_parquet_files(small, out):
    export_graph(small, out / "g", format="parquet")
    assert names(out / "g") == ["entities.parquet", "relations.parquet", "triples.parquet"]
    triples = pq.read_table(out / "g" / "triples.parquet")
    assert triples.column_names == ["head", "relation", "tail", "split"]
    assert triples["split"].to_pylist().count("train") == 10
    assert pq.read_table(out / "g" / "entities.parquet")["label"][5].as_py() == "Berlin"


def test_pykeen_files(small, out):
    export_graph(small, out / "g", format="pykeen")
    assert names(out / "g") == ["test.txt", "train.txt", "valid.txt"]
    assert (out / "g" / "test.txt").read_text() == "Q11\tP131\tQ4\n"


def test_pyg_files_need_no_pickle(small, out):
    export_graph(small, out / "g.npz")
    with np.load(out / "g.npz", allow_pickle=False) as stored:
        assert set(stored) == {"edge_index", "edge_type", "split", "entities", "relations"}
        assert stored["edge_index"].shape == (2, 12)
        assert stored["entities"][0] == "Q1"
