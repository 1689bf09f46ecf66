"""A changed graph is a new folder with a new version; the old one is undisturbed."""

import pandas as pd
import pyarrow as pa
import pytest

from kgraft.errors import BadInput, NotFound
from kgraft.graph import SPLITS, Graph, check_graph, open_source


def triples_of(graph):
    ids, links = (t["id"].to_pylist() for t in (graph.entities, graph.relations))
    facts = graph.triples
    columns = (facts.head.tolist(), facts.relation.tolist(), facts.tail.tolist())
    rows = zip(*columns, facts.split.tolist(), strict=True)
    return {(ids[h], links[r], ids[t], SPLITS[s]) for h, r, t, s in rows}


def files_of(graph):
    return {path.name: path.read_bytes() for path in graph.folder.iterdir()}


def test_extending_keeps_numbers_and_adds_behind_them(small, tmp_path):
    before = files_of(small)
    new = {"id": "Q20", "label": "Lyon", "aliases": ["Lugdunum"]}
    bigger = small.extend(
        tmp_path / "bigger", entities=[new], triples=[("Q20", "P131", "Q4"), ("Q1", "P36", "Q4")]
    )
    assert check_graph(bigger.folder) == []
    assert bigger.entities["id"].to_pylist() == [*small.entities["id"].to_pylist(), "Q20"]
    assert triples_of(bigger) == triples_of(small) | {("Q20", "P131", "Q4", "train")}
    assert bigger.find("lugdunum")[0].id == "Q20"
    assert bigger.entity("Q1") == small.entity("Q1")
    assert files_of(small) == before


def test_the_manifest_names_the_parent(small, tmp_path):
    bigger = small.extend(tmp_path / "bigger", entities=[{"id": "Q20"}])
    old, new = small.manifest, bigger.manifest
    assert (new.parent, new.name, new.licence) == (old.version, old.name, old.licence)
    assert new.version != old.version
    assert new.source == f"{old.source}, extended by tables"
    assert small.without(tmp_path / "less").manifest.source == f"{old.source}, with parts removed"


def test_readers_of_the_old_graph_go_on(small, tmp_path):
    open_before = Graph.open(small.folder)
    small.without(tmp_path / "less", entities=["Q1"])
    assert open_before.entity("Q1").label == "Paris"
    assert len(open_before.neighbours("Q4")) == 5


def test_a_known_entity_gets_the_columns_that_are_given(small, tmp_path):
    changed = small.extend(
        tmp_path / "changed",
        entities=[{"id": "Q6", "label": "Spree City", "population": "3700000"}],
        relations=[{"id": "P47", "description": "shares a border with"}],
    )
    berlin = changed.entity("Q6")
    assert (berlin.label, berlin.description) == ("Spree City", "capital of Germany")
    assert changed.entities["population"].to_pylist()[:6] == [""] * 5 + ["3700000"]
    assert [e.id for e in changed.find("spree city")] == ["Q6"]
    assert changed.find("Berlin") == []
    borders = changed.relation("P47")
    assert (borders.description, borders.template) == ("shares a border with", "[X] borders [Y] .")


def test_new_names_make_old_counts_void(make_graph, tmp_path):
    rows = [{"id": "a", "aliases": ["A"], "name_counts": [2, 3]}, {"id": "b", "name_counts": [4]}]
    graph = make_graph(tmp_path, [], rows)
    changed = graph.extend(tmp_path / "changed", entities=[{"id": "a", "aliases": ["A", "AA"]}])
    assert changed.entities["name_counts"].to_pylist() == [None, [4]]


def test_splits_are_kept_and_can_be_given(small, tmp_path):
    bigger = small.extend(tmp_path / "bigger", triples=[("Q2", "P47", "Q1", "test")])
    assert bigger.manifest.splits == {"train": 10, "valid": 1, "test": 2}


@pytest.mark.parametrize("make", [pa.Table.from_pylist, pd.DataFrame, list])
def test_additions_from_tables_of_every_kind(small, tmp_path, make):
    bigger = small.extend(
        tmp_path / "bigger",
        entities=make([{"id": "Q20", "label": "Lyon"}]),
        relations=make([{"id": "P9", "label": "near"}]),
        triples=make([{"head": "Q20", "relation": "P9", "tail": "Q1"}]),
    )
    assert [n.relation.label for n in bigger.neighbours("Q20")] == ["near"]


def test_additions_from_a_file(small, tmp_path):
    (tmp_path / "more.tsv").write_text("head\trelation\ttail\nQ30\tP131\tQ4\n")
    bigger = small.extend(tmp_path / "bigger", open_source(tmp_path / "more.tsv"))
    assert bigger.entity("Q30").index == 12


def test_unknown_parts_are_refused_and_nothing_is_written(small, tmp_path):
    for triple, reason in (
        (("Q1", "P36", "Q99"), "unknown entity: 'Q99'"),
        (("Q1", "P99", "Q4"), "unknown relation: 'P99'"),
    ):
        with pytest.raises(BadInput, match=f"triples:1: {reason}"):
            small.extend(tmp_path / "bigger", triples=[triple])
    with pytest.raises(BadInput, match="duplicate id: 'Q20'"):
        small.extend(tmp_path / "bigger", entities=[{"id": "Q20"}, {"id": "Q20"}])
    assert not list(tmp_path.glob("bigger*"))


def test_an_existing_target_is_refused(small):
    with pytest.raises(BadInput, match="exists already"):
        small.extend(small.folder, entities=[{"id": "Q20"}])
    with pytest.raises(BadInput, match="exists already"):
        small.without(small.folder, entities=["Q1"])
    assert check_graph(small.folder) == []


def test_without_entities_their_triples_go_too(small, tmp_path):
    less = small.without(tmp_path / "less", entities=["Q4", "Q12"])
    assert check_graph(less.folder) == []
    assert len(less.entities) == 10
    gone = {triple for triple in triples_of(small) if "Q4" in triple}
    assert triples_of(less) == triples_of(small) - gone
    assert less.find("France") == []
    assert less.entity("Q5").index == 3


def test_without_relations_by_id_or_label(small, tmp_path):
    less = small.without(tmp_path / "less", relations=["P36", "located in"])
    assert less.relations["id"].to_pylist() == ["P47"]
    assert triples_of(less) == {("Q4", "P47", "Q5", "train"), ("Q5", "P47", "Q4", "train")}
    assert check_graph(less.folder) == []


def test_without_triples_in_whatever_split(small, tmp_path):
    named = [("Q4", "P47", "Q5"), ("Q9", "capital of", "Q7")]
    less = small.without(tmp_path / "less", triples=named)
    gone = {("Q4", "P47", "Q5", "train"), ("Q9", "P36", "Q7", "valid")}
    assert triples_of(less) == triples_of(small) - gone
    assert len(less.entities) == 12


def test_without_everything(small, tmp_path):
    empty = small.without(tmp_path / "empty", entities=small.entities["id"].to_pylist())
    assert (len(empty.entities), len(empty.triples)) == (0, 0)
    assert check_graph(empty.folder) == []
    assert empty.find("Paris") == empty.search("Paris") == empty.mentions("in Paris") == []
    assert empty.indices_of(["Q1"]).tolist() == [-1]
    with pytest.raises(NotFound):
        empty.entity(0)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"entities": ["Q4", "Q99"]}, "no entity has the id 'Q99'; nothing was changed"),
        ({"relations": ["P99"]}, "no relation is named 'P99'"),
        ({"triples": [("Q4", "P36", "Q5")]}, "no triple Q4 P36 Q5; nothing was changed"),
        ({"triples": [("Q4", "P36", "Q99")]}, "no entity has the id 'Q99'"),
    ],
)
def test_what_is_to_go_must_be_there(small, tmp_path, parts, reason):
    with pytest.raises(NotFound, match=reason):
        small.without(tmp_path / "less", **parts)
    assert not list(tmp_path.glob("less*"))


def test_a_split_view_changes_the_whole_graph(small, tmp_path):
    train = small.split("train")
    bigger = train.extend(tmp_path / "bigger", entities=[{"id": "Q20"}])
    assert triples_of(bigger) == triples_of(small)
    less = train.without(tmp_path / "less", triples=[("Q9", "P36", "Q7")])
    assert less.manifest.splits == {"train": 10, "valid": 0, "test": 1}


def test_extending_by_nothing_is_the_same_graph(small, tmp_path):
    assert small.extend(tmp_path / "same").manifest.version == small.manifest.version
    assert small.without(tmp_path / "too").manifest.version == small.manifest.version
