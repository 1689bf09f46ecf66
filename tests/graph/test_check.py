"""The full check finds every kind of damage, and nothing in a good graph."""

import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from kgraft.arrow_files import write_table
from kgraft.graph import check_graph
from kgraft.graph.folder import CONTENT, content_version, read_table
from kgraft.storage import describe_file


def altered(graph, **facts):
    """Change facts of the manifest, give it fitting checksums, and return the folder."""
    path = graph.folder / "manifest.json"
    stored = json.loads(path.read_text())
    stored["files"] = {name: describe_file(graph.folder / name) for name in stored["files"]}
    stored["version"] = content_version(stored["files"])
    path.write_text(json.dumps({**stored, **facts}))
    return graph.folder


def rewritten(graph, name, **columns):
    """Replace columns of a table by what a function makes of them, so that checksums still fit."""
    table = read_table(graph.folder, name)
    for column, change in columns.items():
        values = pa.array(change(table[column].to_pylist()), table.schema.field(column).type)
        table = table.set_column(table.column_names.index(column), column, values)
    (graph.folder / f"{name}.arrow").unlink()  # other tests' maps of the old file stay valid
    write_table(graph.folder, name, table)
    return altered(graph)


def test_a_good_graph_has_no_problems(small, make_graph, tmp_path):
    assert check_graph(small.folder) == []
    assert check_graph(make_graph(tmp_path, [("a", "r", "b")]).folder) == []
    assert check_graph(make_graph(tmp_path, [], [{"id": "!"}, {"id": "\x00"}]).folder) == []


def test_an_altered_byte_is_found(small):
    for path in sorted(small.folder.glob("*.arrow")):
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        problems = check_graph(small.folder)
        assert problems == [f"{path}: the checksum differs; import the graph again"]
        path.write_bytes(whole)


def test_every_altered_file_is_named(small):
    for name in CONTENT:
        path = small.folder / f"{name}.arrow"
        path.write_bytes(path.read_bytes()[::-1])
    assert len(check_graph(small.folder)) == len(CONTENT)


def test_a_version_of_another_content(small):
    (problem,) = check_graph(altered(small, version="0123456789abcdef"))
    assert problem.startswith("the manifest's version does not fit its checksums")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"relations": 7}, "relations: 3 rows, the manifest says 7"),
        ({"triples": 0}, "triples: 12 rows, the manifest says 0"),
        (
            {"splits": {"train": 12, "valid": 0, "test": 0}},
            "triples: splits have [10, 1, 1] rows, the manifest says "
            "{'train': 12, 'valid': 0, 'test': 0}",
        ),
    ],
)
def test_counts_of_the_manifest(small, facts, expected):
    assert check_graph(altered(small, **facts)) == [expected]


@pytest.mark.parametrize("part", ["head", "relation", "tail"])
@pytest.mark.parametrize("number", [-1, 12])
def test_a_triple_of_nobody(small, part, number):
    graph = rewritten(small, "triples", **{part: lambda rows: [*rows[:-1], number]})
    assert f"triples: {part} names a row that is not there" in check_graph(graph)


def test_triples_in_disorder(small):
    graph = rewritten(
        small, "triples", **dict.fromkeys(("head", "relation", "tail"), reversed_list)
    )
    assert "triples: not in order" in check_graph(graph)


def reversed_list(rows):
    return rows[::-1]


def test_edges_of_other_triples(small):
    graph = rewritten(small, "edges", relation_other=reversed_list)
    assert check_graph(graph) == ["adjacency: edges do not fit the triples"]


def test_bounds_of_other_triples(small):
    graph = rewritten(small, "bounds", start=lambda rows: [0, *rows[:-1]])
    assert "adjacency: bounds do not fit the triples" in check_graph(graph)


def test_ids_that_lead_elsewhere(small):
    graph = rewritten(small, "ids", entity=lambda rows: [rows[1], rows[0], *rows[2:]])
    assert check_graph(graph) == ["ids: the index does not lead to every entity"]


def test_candidates_that_are_nobody(small):
    graph = rewritten(small, "candidates", entity=lambda rows: [99, *rows[1:]])
    assert check_graph(graph) == ["aliases: a candidate names an entity that is not there"]


def test_candidates_that_do_not_fit_the_aliases(small):
    graph = rewritten(small, "alias_bounds", start=lambda rows: [*rows[:-1], rows[-1] + 1])
    assert check_graph(graph) == ["aliases: the candidates do not fit the aliases"]


def test_names_that_are_not_found_in_a_text(small):
    graph = rewritten(small, "phrases", value=lambda rows: [0] * len(rows))
    problems = check_graph(graph)
    assert len(problems) == 12
    assert problems[0] == "aliases: 'Paris' is not found in a text"


@pytest.mark.parametrize("name", ["relations", "edges", "ids", "candidates"])
def test_files_that_are_no_tables(small, name):
    (small.folder / f"{name}.arrow").write_bytes(b"no table at all")
    problems = check_graph(altered(small))
    assert any("cannot be read" in problem for problem in problems)
    assert all("\n" not in problem for problem in problems)


def test_tables_that_are_too_short(small):
    for name in ("bounds", "id_buckets", "aliases"):
        table = read_table(small.folder, name).slice(0, 1)
        (small.folder / f"{name}.arrow").unlink()
        write_table(small.folder, name, table)
        assert check_graph(altered(small))


def test_progress_is_reported(small):
    stages, done = [], []
    progress = SimpleNamespace(
        start=lambda what, total=None: stages.append((what, total)),
        advance=lambda amount=1: done.append(amount),
    )
    check_graph(small.folder, progress)
    assert [what for what, _ in stages] == ["checksums", "tables"]
    assert sum(done) == sum(total for _, total in stages)


def test_memory_maps_outlive_the_files(small):
    number = np.array(small.triples.head)
    for path in small.folder.iterdir():
        path.unlink()
    assert np.array_equal(small.triples.head, number)
