"""Merging: one entity per id, or per label where asked; nothing that a graph says is lost."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph import SPLITS, check_graph, diff_graphs, merge_graphs


def triples_of(graph):
    ids, links = (t["id"].to_pylist() for t in (graph.entities, graph.relations))
    t = graph.triples
    columns = (t.head.tolist(), t.relation.tolist(), t.tail.tolist(), t.split.tolist())
    return {(ids[h], links[r], ids[o], SPLITS[s]) for h, r, o, s in zip(*columns, strict=True)}


def test_a_graph_merged_with_itself_says_the_same(small, tmp_path):
    merged = merge_graphs([small, small], tmp_path / "merged")
    assert diff_graphs(small, merged.graph).is_empty
    assert merged.graph.manifest.version == small.manifest.version
    assert merged.same_id == 12
    assert check_graph(merged.graph.folder) == []


def test_the_manifest_names_all_parents(small, make_graph, tmp_path):
    other = make_graph(tmp_path, [("a", "r", "b")])
    manifest = merge_graphs([small, other, other], tmp_path / "merged").graph.manifest
    assert manifest.parent.split(", ") == [
        small.manifest.version,
        other.manifest.version,
        other.manifest.version,
    ]
    assert (manifest.entities, manifest.triples) == (14, 13)


def test_the_first_graph_has_the_say_and_names_are_united(make_graph, tmp_path):
    first = [{"id": "a", "label": "Alpha", "aliases": ["A"], "types": ["x"], "size": "1"}]
    second = [
        {"id": "b", "label": "Beta", "aliases": [], "types": []},
        {
            "id": "a",
            "label": "ALPHA",
            "description": "letter",
            "aliases": ["Alpha", "A", "al"],
            "types": ["y", "x"],
            "colour": "red",
        },
    ]
    graphs = [make_graph(tmp_path, [], rows) for rows in (first, second)]
    merged = merge_graphs(graphs, tmp_path / "merged").graph
    assert merged.entities.to_pylist() == [
        {
            "id": "a",
            "label": "Alpha",
            "description": "letter",
            "aliases": ["A", "ALPHA", "al"],
            "types": ["x", "y"],
            "name_counts": None,
            "size": "1",
            "colour": "red",
        },
        {
            "id": "b",
            "label": "Beta",
            "description": "",
            "aliases": [],
            "types": [],
            "name_counts": None,
            "size": "",
            "colour": "",
        },
    ]


def test_a_label_that_only_repeats_the_id_gives_way(make_graph, tmp_path):
    graphs = [
        make_graph(tmp_path, [("a", "r", "b")]),
        make_graph(tmp_path, [], [{"id": "a", "label": "Alpha"}]),
    ]
    alpha = merge_graphs(graphs, tmp_path / "merged").graph.entity("a")
    assert (alpha.label, alpha.aliases) == ("Alpha", ())


def test_counts_stay_with_names_that_do(make_graph, tmp_path):
    counted = [
        {"id": "a", "label": "A", "aliases": ["aa"], "name_counts": [3, 1]},
        {"id": "b", "label": "B", "name_counts": [2]},
    ]
    graphs = [
        make_graph(tmp_path, [], counted),
        make_graph(tmp_path, [], [{"id": "b", "label": "Bee"}, {"id": "a", "label": "A"}]),
    ]
    merged = merge_graphs(graphs, tmp_path / "merged").graph
    assert merged.entities["name_counts"].to_pylist() == [[3, 1], None]


def test_labels_join_where_they_are_clear(make_graph, tmp_path):
    first = make_graph(
        tmp_path,
        [("1", "near", "2")],
        [
            {"id": "1", "label": "Rome"},
            {"id": "2", "label": "Ostia"},
            {"id": "3", "label": "Springfield"},
            {"id": "4", "label": "Springfield"},
            {"id": "5", "label": "Bonn"},
        ],
    )
    second = make_graph(
        tmp_path,
        [("x", "near", "y"), ("x", "far", "z")],
        [
            {"id": "x", "label": "Rome"},
            {"id": "y", "label": "Ostia"},
            {"id": "z", "label": "Springfield"},
            {"id": "v", "label": "Bonn"},
            {"id": "w", "label": "Bonn"},
        ],
    )
    merged = merge_graphs([first, second], tmp_path / "merged", match_labels=True)
    assert (merged.same_id, merged.same_label, merged.ambiguous_labels) == (0, 2, 2)
    ids = merged.graph.entities["id"].to_pylist()
    assert ids == ["1", "2", "3", "4", "5", "z", "v", "w"]
    assert triples_of(merged.graph) == {("1", "near", "2", "train"), ("1", "far", "z", "train")}
    apart = merge_graphs([first, second], tmp_path / "apart")
    assert (apart.same_label, len(apart.graph.entities)) == (0, 10)


def test_a_triple_keeps_the_split_of_the_first_graph(make_graph, tmp_path):
    splits = ("test", "train", "valid")
    graphs = [make_graph(tmp_path, [("a", "r", "b", split)]) for split in splits]
    merged = merge_graphs(graphs, tmp_path / "merged").graph
    assert triples_of(merged) == {("a", "r", "b", "test")}


def test_refusals(small, tmp_path):
    with pytest.raises(BadInput, match="two"):
        merge_graphs([small], tmp_path / "merged")
    merge_graphs([small, small], tmp_path / "merged")
    with pytest.raises(BadInput, match="exists"):
        merge_graphs([small, small], tmp_path / "merged")
    merge_graphs([small, small], tmp_path / "merged", overwrite=True)


ROW = st.tuples(
    st.sampled_from("abcd"),
    st.sampled_from(["", "L", "M"]),
    st.lists(st.sampled_from(["L", "M", "N"]), max_size=3, unique=True),
)
ROWS = st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: row[0])


def naive_merge(graphs):
    """Go through the rows of all graphs, one by one."""
    merged = {}
    for rows in graphs:
        for key, label, aliases in rows:
            label = label or key
            if key not in merged:
                merged[key] = {"label": label, "aliases": list(aliases), "others": []}
                continue
            entry = merged[key]
            if entry["label"] == key:
                entry["label"] = label
            entry["others"] += [label, *aliases]
    for key, entry in merged.items():
        for name in entry.pop("others"):
            known = [key, entry["label"], *entry["aliases"]]
            if name not in known:
                entry["aliases"].append(name)
    return merged


@pytest.mark.slow
@given(st.lists(ROWS, min_size=2, max_size=3))
def test_merging_is_that_of_a_plain_loop(make_graph, rows):
    with tempfile.TemporaryDirectory() as folder:
        graphs = [
            make_graph(Path(folder), [], [{"id": k, "label": n, "aliases": a} for k, n, a in part])
            for part in rows
        ]
        merged = merge_graphs(graphs, Path(folder) / "merged").graph
        found = {
            row["id"]: {"label": row["label"], "aliases": row["aliases"]}
            for row in merged.entities.to_pylist()
        }
    assert {key: {**e, "aliases": set(e["aliases"])} for key, e in found.items()} == {
        key: {**e, "aliases": set(e["aliases"])} for key, e in naive_merge(rows).items()
    }
    for key, part in ((k, a) for k, _, a in rows[0]):
        assert found[key]["aliases"][: len(part)] == part


def test_literals_are_united_and_stay_after_a_split(tmp_path):
    from kgraft.graph import Graph, build_graph, open_source, split_graph

    line = (
        '<a:1> <a:height> "{}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n<a:1> <a:r> <a:2> .\n'
    )
    graphs = []
    for name, heights in (("one", (1, 2)), ("two", (2, 3))):
        (tmp_path / f"{name}.nt").write_text("".join(line.format(h) for h in heights))
        build_graph(open_source(tmp_path / f"{name}.nt"), tmp_path / name)
        graphs.append(Graph.open(tmp_path / name))
    merged = merge_graphs(graphs, tmp_path / "merged").graph
    assert [literal.value for literal in merged.literals("a:1")] == [1, 2, 3]
    parts = split_graph(merged, tmp_path / "parts").graph
    assert parts.literals("a:1") == merged.literals("a:1")
