"""Differences between versions: those of a plain comparison of sets, in ids."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph import Graph, TablesSource, TripleArrays, build_graph, diff_graphs
from kgraft.graph import diff as diff_module


def test_a_graph_does_not_differ_from_itself(small):
    found = diff_graphs(small, small)
    assert found.is_empty
    assert found.to_dict()["entities"] == {"added": [], "removed": [], "changed": []}


def test_what_was_added_removed_and_changed(small, tmp_path):
    more = small.extend(
        tmp_path / "more",
        entities=[{"id": "Q20", "label": "Lyon"}, {"id": "Q6", "label": "Spree City", "size": "9"}],
        relations=[{"id": "P47", "description": "shares a border"}, {"id": "P1"}],
        triples=[("Q20", "P1", "Q4")],
    )
    new = more.without(tmp_path / "new", entities=["Q12"], triples=[("Q4", "P47", "Q5")])
    found = diff_graphs(small, new)
    assert found.counts() == {
        "entities": {"added": 1, "removed": 1, "changed": 1},
        "relations": {"added": 1, "removed": 0, "changed": 1},
        "triples": {"added": 1, "removed": 1, "changed": 0},
        "values": {"added": 0, "removed": 0, "changed": 0},
    }
    shown = found.to_dict()
    assert shown["old"] == small.manifest.version
    assert shown["entities"]["added"] == [{"id": "Q20", "label": "Lyon"}]
    assert shown["entities"]["removed"] == [{"id": "Q12", "label": "Nowhere"}]
    assert shown["entities"]["changed"] == [
        {
            "id": "Q6",
            "label": "Spree City",
            "columns": {
                "label": {"old": "Berlin", "new": "Spree City"},
                "size": {"old": None, "new": "9"},
            },
        }
    ]
    assert found.changed_columns("entities") == {"label": 1, "size": 1}
    triple = {"head": "Q4", "relation": "P47", "tail": "Q5", "split": "train"}
    assert shown["triples"]["removed"] == [triple]


def test_lists_are_compared_item_by_item(make_graph, tmp_path):
    rows = [
        [{"id": "a", "aliases": ["x", "y"]}, {"id": "b", "aliases": ["z"]}, {"id": "c"}],
        [{"id": "c"}, {"id": "b", "aliases": ["z"]}, {"id": "a", "aliases": ["x", "z"]}],
    ]
    old, new = (make_graph(tmp_path, [], part) for part in rows)
    changed = diff_graphs(old, new).to_dict()["entities"]["changed"]
    assert [(item["id"], item["columns"]["aliases"]["new"]) for item in changed] == [
        ("a", ["x", "z"])
    ]


def test_values_that_were_added_removed_and_changed(tmp_path):
    def build(name, entities, values):
        relations = [{"id": "knows"}]
        build_graph(TablesSource([], entities, relations, values), tmp_path / name)
        return Graph.open(tmp_path / name)

    ids = [{"id": name} for name in "abc"]
    old = [("a", "size", 1), ("a", "tag", "x"), ("b", "tag", "y"), ("b", "size", 2)]
    old += [{"relation": "knows", "entity": None, "property": "since", "value": "1990"}]
    new = [("b", "size", 2), ("a", "size", 1.0), ("a", "tag", "x"), ("a", "tag", "z")]
    new += [{"relation": "knows", "entity": None, "property": "since", "value": "1991"}]
    found = diff_graphs(build("old", ids, old), build("new", ids[::-1], new))
    assert found.counts()["values"] == {"added": 1, "removed": 1, "changed": 2}
    shown = found.to_dict()["values"]
    assert [(item["entity"], item["value"]) for item in shown["added"]] == [("a", "z")]
    assert [(item["entity"], item["property"]) for item in shown["removed"]] == [("b", "tag")]
    assert {item["property"]: item["value"] for item in shown["changed"]} == {
        "since": {"old": "1990", "new": "1991"},
        "size": {"old": "1", "new": "1.0"},
    }
    assert not found.is_empty


VALUE = st.tuples(st.sampled_from("ab"), st.sampled_from("pq"), st.sampled_from("xyz"))


@pytest.mark.slow
@given(st.sets(VALUE), st.sets(VALUE))
def test_values_differ_as_sets_do(old, new):
    with tempfile.TemporaryDirectory() as folder:
        graphs = []
        for name, values, ids in (("old", old, "ab"), ("new", new, "cba")):
            source = TablesSource([], [{"id": item} for item in ids], None, sorted(values))
            build_graph(source, Path(folder, name))
            graphs.append(Graph.open(Path(folder, name)))
        shown = diff_graphs(*graphs).to_dict()["values"]

    def rows(items, which=None):
        return {
            (i["entity"], i["property"], i["value"][which] if which else i["value"]) for i in items
        }

    assert rows(shown["added"]) | rows(shown["changed"], "new") == new - old
    assert rows(shown["removed"]) | rows(shown["changed"], "old") == old - new


def test_the_limit_holds_for_each_kind(small, tmp_path):
    new = small.without(tmp_path / "new", entities=["Q4", "Q5"])
    assert len(diff_graphs(small, new).to_dict(1)["triples"]["removed"]) == 1


PART = st.tuples(st.sampled_from("abcd"), st.sampled_from("rs"), st.sampled_from("abcd"))
SIDE = st.dictionaries(PART, st.sampled_from(["train", "test"]), max_size=8)


@pytest.mark.slow
@given(SIDE, SIDE)
def test_triples_differ_as_sets_do(make_graph, old, new):
    with tempfile.TemporaryDirectory() as folder:
        graphs = [
            make_graph(
                Path(folder),
                [(*triple, split) for triple, split in side.items()],
                [{"id": name} for name in names],
                [{"id": "r"}, {"id": "s"}],
            )
            for side, names in ((old, "abcd"), (new, "dcbae"))
        ]
        shown = diff_graphs(*graphs).to_dict()

    def keys(items):
        return {(item["head"], item["relation"], item["tail"]) for item in items}

    assert keys(shown["triples"]["added"]) == new.keys() - old.keys()
    assert keys(shown["triples"]["removed"]) == old.keys() - new.keys()
    moved = {triple for triple in old.keys() & new.keys() if old[triple] != new[triple]}
    assert keys(shown["triples"]["changed"]) == moved
    for item in shown["triples"]["changed"]:
        triple = (item["head"], item["relation"], item["tail"])
        assert item["split"] == {"old": old[triple], "new": new[triple]}
    assert [item["id"] for item in shown["entities"]["added"]] == ["e"]


def test_keys_of_very_large_graphs_are_told_apart():
    def arrays(*rows):
        head, relation, tail, split = zip(*rows, strict=True)
        columns = (np.array(column, np.int64) for column in (head, relation, tail))
        return TripleArrays(*columns, np.array(split, np.int8))

    big = (1 << 31) - 1
    old = arrays((big, 5, big, 0), (big, 5, 0, 1), (0, 5, big, 2))
    new = arrays((0, 5, big, 1), (big, 5, big, 0))
    before, after = diff_module._keys(old, new, 1 << 31, 1 << 20)
    assert before[0] == after[1]
    assert before[2] >> 2 == after[0] >> 2
    assert len({*before.tolist(), *after.tolist()}) == 4
