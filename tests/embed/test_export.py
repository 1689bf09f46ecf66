"""Exported vectors read back to the same bits, under the right names, in every format."""

import csv
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from kgraft.embed import export
from kgraft.embed.export import FORMATS, export_vectors, word_keys
from kgraft.errors import BadInput
from kgraft.graph import Graph, TablesSource, build_graph

LABELS = {
    "Q1": "Paris",
    "Q2": "Paris",
    "Q3": "New York",
    "Q4": "a\ttab, a\nline\r, \\u0041 and a\u00a0blank",
    "Q 5": "",
    "Q6": "Київ 京都",
}
IDS = list(LABELS)
EXTREMES = [0.0, -0.0, 1e-45, 3.4028235e38, -1.1754944e-38, 0.1, 1 / 3, 16777217.0, np.inf, -np.inf]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    place = tmp_path_factory.mktemp("graphs") / "graph"
    entities = [{"id": key, "label": label} for key, label in LABELS.items()]
    relations = [{"id": "P1", "label": "likes it"}, {"id": "P2", "label": "next to"}]
    triples = [("Q1", "P1", "Q2"), ("Q3", "P2", "Q4")]
    build_graph(TablesSource(triples, entities, relations), place)
    return Graph.open(place)


@pytest.fixture
def vectors():
    random = torch.Generator().manual_seed(0)
    made = torch.randn(len(IDS), 7, generator=random) * 10.0 ** torch.arange(-6, 1)
    made.view(-1)[: len(EXTREMES)] = torch.tensor(EXTREMES)
    return made


def same_bits(found, expected):
    found, expected = np.asarray(found, np.float32), np.asarray(expected, np.float32)
    return found.shape == expected.shape and found.tobytes() == expected.tobytes()


def read_word2vec(path):
    """Read as gensim does: a line of counts, then lines that end in \\n with blanks between."""
    first, *lines = path.read_bytes().decode().split("\n")
    assert lines.pop() == ""
    count, size = map(int, first.split())
    rows = [line.rstrip().split(" ") for line in lines]
    assert len(rows) == count
    assert {len(row) for row in rows} <= {size + 1}
    assert [line.split() for line in lines] == rows  # no other blank in a key
    return [row[0] for row in rows], np.array([row[1:] for row in rows], np.float32)


def read_tsv(path):
    with path.open(encoding="utf-8", newline="\n") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return header, rows, np.array([row[2:] for row in rows], np.float32)


def test_tsv_reads_back(graph, vectors, tmp_path):
    assert export_vectors(graph, vectors, tmp_path / "v.tsv") == [tmp_path / "v.tsv"]
    header, rows, found = read_tsv(tmp_path / "v.tsv")
    assert header == ["id", "label", "v0", "v1", "v2", "v3", "v4", "v5", "v6"]
    assert [row[0] for row in rows] == IDS
    assert rows[3][1] == "a\\u0009tab, a\\u000Aline\\u000D, \\u005Cu0041 and a\u00a0blank"
    assert rows[5][1] == "Київ 京都"
    assert same_bits(found, vectors)


def test_tsv_labels_import_as_they_were(graph, vectors, tmp_path):
    from kgraft.graph import open_source

    export_vectors(graph, vectors, tmp_path / "in" / "entities.tsv")
    (tmp_path / "in" / "triples.tsv").write_text("head\trelation\ttail\nQ1\tP1\tQ2\n")
    build_graph(open_source(tmp_path / "in"), tmp_path / "again")
    again = Graph.open(tmp_path / "again")
    labels = dict(zip(*(again.entities[n].to_pylist() for n in ("id", "label")), strict=True))
    assert labels["Q4"] == graph.entity("Q4").label


def test_word2vec_reads_back(graph, vectors, tmp_path):
    export_vectors(graph, vectors, tmp_path / "v.txt", format="word2vec")
    keys, found = read_word2vec(tmp_path / "v.txt")
    assert keys == [
        "Paris_(Q1)",
        "Paris_(Q2)",
        "New_York",
        "a_tab,_a_line_,_\\u0041_and_a_blank",
        "Q_5",
        "Київ_京都",
    ]
    assert same_bits(found, vectors)


def test_numpy_is_a_matrix_with_ids_beside(graph, vectors, tmp_path):
    export_vectors(graph, vectors.double(), tmp_path / "v.npy")
    matrix = np.load(tmp_path / "v.npy", mmap_mode="r")
    names = json.loads((tmp_path / "v.ids.json").read_text(encoding="utf-8"))
    assert matrix.dtype == np.float32
    assert same_bits(matrix, vectors)
    assert list(names) == ["entities"]
    assert names["entities"]["ids"] == IDS
    assert names["entities"]["labels"][3] == LABELS["Q4"]


def test_safetensors_holds_both_matrices(graph, vectors, tmp_path):
    files = export_vectors(graph, vectors.T.contiguous().T, tmp_path / "v.safetensors",
                           relations=torch.ones(2, 3))  # fmt: skip
    found = load_file(tmp_path / "v.safetensors")
    names = json.loads((tmp_path / "v.ids.json").read_text(encoding="utf-8"))
    assert [file.name for file in files] == ["v.safetensors", "v.ids.json"]
    assert same_bits(found["entities"], vectors)
    assert found["relations"].tolist() == [[1.0] * 3] * 2
    assert names["relations"] == {"ids": ["P1", "P2"], "labels": ["likes it", "next to"]}


@pytest.mark.parametrize(
    ("format", "suffix"), [(n, s) for n in FORMATS for s in FORMATS[n].suffixes]
)
def test_the_suffix_tells_the_format_and_relations_stand_beside(
    graph, vectors, tmp_path, format, suffix
):
    by_suffix = export_vectors(graph, vectors, tmp_path / f"a{suffix}", relations=vectors[:2])
    by_name = export_vectors(
        graph, vectors, tmp_path / "a-1.2", relations=vectors[:2], format=format
    )
    assert [file.read_bytes() for file in by_suffix] == [file.read_bytes() for file in by_name]
    assert sorted(tmp_path.iterdir()) == sorted([*by_suffix, *by_name])
    names = [file.name for file in by_suffix + by_name if "relations" in file.name]
    assert names == ([] if format == "safetensors" else [f"a.relations{suffix}", "a-1.2.relations"])


@pytest.mark.parametrize("reader", [read_word2vec, read_tsv])
def test_relations_that_ask_back_have_their_own_names(graph, vectors, tmp_path, reader):
    suffix = ".vec" if reader is read_word2vec else ".tsv"
    export_vectors(graph, vectors, tmp_path / f"v{suffix}", relations=vectors[:4])
    *names, found = reader(tmp_path / f"v.relations{suffix}")
    assert same_bits(found, vectors[:4])
    if reader is read_word2vec:
        assert names == [["likes_it", "next_to", "^likes_it", "^next_to"]]
    else:
        assert [row[:2] for row in names[1]] == [
            ["P1", "likes it"], ["P2", "next to"], ["^P1", "^likes it"], ["^P2", "^next to"],
        ]  # fmt: skip


@pytest.mark.parametrize("block", [1, 7, 14, 30])
def test_blocks_of_any_size_give_the_same_file(graph, vectors, tmp_path, block, monkeypatch):
    class Counted:
        done = 0

        def start(self, what, total=None):
            assert (what, total) == ("writing entities", len(IDS))

        def advance(self, amount=1):
            self.done += amount

    export_vectors(graph, vectors, tmp_path / "whole.tsv")
    monkeypatch.setattr(export, "BLOCK", block)
    counted = Counted()
    export_vectors(graph, vectors, tmp_path / "parts.tsv", progress=counted)
    assert (tmp_path / "parts.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert counted.done == len(IDS)


# Keys

parts = st.sampled_from(["a", "a b", "a_b", "b", "a (b)", "a_(b)", "a_(0)", "a_(1)", "", "b_(a)"])


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(parts.filter(bool), parts, max_size=8))
def test_keys_are_unique_and_without_blanks(labels):
    keys = word_keys(list(labels), list(labels.values()))
    assert len(set(keys)) == len(keys) == len(labels)
    assert all(key.split() == [key] for key in keys)
    for key, (identifier, label) in zip(keys, labels.items(), strict=True):
        assert key.startswith((label or identifier).replace(" ", "_"))


def test_only_keys_that_occur_twice_are_changed():
    assert word_keys(["1", "2", "3", "4"], ["x", "y", "x", "x_(1)"]) == [
        "x_(1)_(0)", "y", "x_(3)", "x_(1)_(3)",
    ]  # fmt: skip


# Bad input


def test_what_is_there_is_not_written_over(graph, vectors, tmp_path):
    (tmp_path / "v.ids.json").write_text("mine")
    with pytest.raises(BadInput, match=r"v\.ids\.json exists"):
        export_vectors(graph, vectors, tmp_path / "v.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["v.ids.json"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_failure_leaves_nothing_behind(graph, vectors, tmp_path, format):
    class Full:
        def start(self, what, total=None):
            pass

        def advance(self, amount=1):
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        export_vectors(graph, vectors, tmp_path / "v", format=format, progress=Full())
    assert list(tmp_path.iterdir()) == []


def test_bad_requests_are_refused(graph, vectors, tmp_path):
    with pytest.raises(BadInput, match="'xml'"):
        export_vectors(graph, vectors, tmp_path / "v", format="xml")
    with pytest.raises(BadInput, match=r"v\.csv .*\.tsv"):
        export_vectors(graph, vectors, tmp_path / "v.csv")
    with pytest.raises(BadInput, match=r"5 entities.* 6"):
        export_vectors(graph, vectors[:5], tmp_path / "v.tsv")
    with pytest.raises(BadInput, match=r"3 relations.* 2"):
        export_vectors(graph, vectors, tmp_path / "v.tsv", relations=vectors[:3])
    assert list(tmp_path.iterdir()) == []
