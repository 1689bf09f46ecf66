"""From batches to a graph: numbers, defaults, attributes, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

from kgraft.errors import BadInput
from kgraft.graph import SPLITS, Graph, Refusals, build_graph
from kgraft.graph.batches import Attributes, Entities, Origin, Relations, Triples


class Batches:
    """A source that hands out ready-made batches."""

    format = "batches"

    def __init__(self, *batches, unknown="add", types_are_ids=False):
        self._batches, self.unknown, self.types_are_ids = batches, unknown, types_are_ids

    def describe(self):
        return "made by hand"

    def batches(self, refusals, progress):
        yield from self._batches


def strings(*items):
    return pa.array(items, pa.string())


def origin(rows):
    return Origin("some.tsv", np.arange(2, rows + 2))


def entities(*rows):
    return Entities(pa.Table.from_pylist(list(rows)), origin(len(rows)))


def relations(*rows):
    return Relations(pa.Table.from_pylist(list(rows)), origin(len(rows)))


def triples(*rows, split="train"):
    head, relation, tail = (strings(*column) for column in zip(*rows, strict=True))
    return Triples(head, relation, tail, origin(len(rows)), split)


def attributes(*rows, of=None):
    subject, field, value, rank = zip(*rows, strict=True)
    columns = (strings(*column) for column in (subject, field, value))
    return Attributes(*columns, rank=np.array(rank, np.int8), of=of)


@pytest.fixture
def build(tmp_path):
    """Build a graph from batches and open it."""

    def build(*batches, refusals=None, **how):
        build_graph(Batches(*batches, **how), tmp_path / "g", refusals=refusals)
        return Graph.open(tmp_path / "g")

    return build


@pytest.fixture
def refused(tmp_path):
    """Build what must be refused; return the message, and see that nothing is left."""

    def refused(*batches, **how):
        with pytest.raises(BadInput) as error:
            build_graph(Batches(*batches, **how), tmp_path / "g")
        assert list(tmp_path.iterdir()) == []
        return str(error.value)

    return refused


def ids(graph):
    return graph.entities["id"].to_pylist()


def test_entities_are_numbered_as_declared_and_then_as_used(build):
    graph = build(
        entities({"id": "b"}, {"id": "a"}),
        triples(("z", "r2", "a"), ("y", "r1", "x")),
        unknown="add",
    )
    assert ids(graph) == ["b", "a", "z", "y", "x"]
    assert graph.relations["id"].to_pylist() == ["r2", "r1"]


def test_later_declarations_fill_entities_that_were_used_before(build):
    graph = build(triples(("a", "r", "b")), entities({"id": "b", "label": "Bee"}))
    assert graph.entities["label"].to_pylist() == ["a", "Bee"]


def test_what_is_not_given_gets_its_default(build):
    graph = build(entities({"id": "a"}, {"id": "b", "label": ""}), relations({"id": "r"}))
    assert graph.entities.to_pylist() == [
        {
            "id": key,
            "label": key,
            "description": "",
            "aliases": [],
            "types": [],
            "name_counts": None,
        }
        for key in ("a", "b")
    ]
    assert graph.relations.to_pylist() == [
        {"id": "r", "label": "r", "description": "", "aliases": []}
    ]


def test_batches_may_have_different_extra_columns(build):
    graph = build(entities({"id": "a", "code": "A1"}), entities({"id": "b", "note": "n"}))
    assert graph.entities.select(["code", "note"]).to_pylist() == [
        {"code": "A1", "note": ""},
        {"code": "", "note": "n"},
    ]


def test_triples_are_sorted_and_kept_once_a_split(build):
    graph = build(
        triples(("b", "r", "a"), ("a", "r", "b"), ("a", "r", "b")),
        triples(("a", "r", "b"), split="test"),
    )
    facts = graph.triples
    rows = zip(facts.head.tolist(), facts.tail.tolist(), facts.split.tolist(), strict=True)
    assert list(rows) == [(0, 1, 0), (1, 0, 0), (1, 0, 2)]
    assert graph.manifest.left_out == {"repeated triples": 1}
    assert graph.manifest.splits == {"train": 2, "valid": 0, "test": 1}


def test_the_manifest_says_where_it_comes_from(tmp_path):
    source = Batches(triples(("a", "r", "b")))
    manifest = build_graph(source, tmp_path / "g", licence="CC0")
    assert (manifest.name, manifest.source) == ("g", "made by hand (batches)")
    assert (manifest.licence, manifest.parent, manifest.priors) == ("CC0", "", "degree")
    assert (manifest.entities, manifest.relations, manifest.triples) == (2, 1, 1)
    assert build_graph(source, tmp_path / "h", name="Letters").name == "Letters"


def test_the_version_names_the_content_and_not_its_name(tmp_path):
    one = build_graph(Batches(triples(("a", "r", "b"))), tmp_path / "one", licence="x")
    two = build_graph(Batches(triples(("a", "r", "b"))), tmp_path / "two")
    three = build_graph(Batches(triples(("a", "r", "c"))), tmp_path / "three")
    assert one.version == two.version != three.version


# Attributes that arrive one by one


def test_the_label_of_lowest_rank_wins_and_the_others_become_aliases(build):
    graph = build(
        attributes(
            ("a", "label", "Allemagne", 4),
            ("a", "alias", "BRD", 0),
            ("a", "label", "Germany", 0),
            ("a", "label", "Deutschland", 4),
            ("a", "label", "BRD", 4),
            ("a", "description", "Land", 4),
            ("a", "description", "country", 0),
            ("a", "type", "state", 1),
            ("a", "code", "DE", 1),
        )
    )
    row = graph.entities.to_pylist()[0]
    assert row.pop("aliases") == ["Allemagne", "BRD", "Deutschland"]
    assert row == {
        "id": "a",
        "label": "Germany",
        "description": "country",
        "types": ["state"],
        "name_counts": None,
        "code": "DE",
    }


def test_attributes_of_what_is_used_as_a_relation_are_the_relations(build):
    graph = build(
        attributes(("r", "label", "likes", 0), ("a", "label", "Anna", 0)),
        triples(("a", "r", "b")),
    )
    assert graph.relation("r").label == "likes"
    assert ids(graph) == ["a", "b"]
    assert graph.entity("a").label == "Anna"


def test_attributes_may_say_what_their_subjects_are(build):
    graph = build(
        attributes(("r", "label", "the letter r", 0), of="entity"),
        attributes(("r", "label", "is before", 0), of="relation"),
        triples(("q", "r", "r")),
    )
    assert graph.entity("r").label == "the letter r"
    assert graph.relation("r").label == "is before"


def test_declared_columns_go_before_attributes(build):
    graph = build(
        entities({"id": "a", "label": "declared"}),
        attributes(("a", "label", "told", 0), ("a", "description", "told", 0)),
    )
    assert graph.entity("a").label == "declared"
    assert graph.entity("a").description == "told"


def test_name_counts_as_text_are_numbers_or_nothing(build):
    graph = build(
        attributes(
            ("a", "alias", "A", 0),
            ("a", "name_counts", "3|4", 0),
            ("b", "name_counts", "many", 0),
        )
    )
    assert graph.entities["name_counts"].to_pylist() == [[3, 4], None]


def test_types_given_by_id_are_shown_by_label(build):
    graph = build(
        entities({"id": "Q5", "label": "human"}),
        attributes(
            ("a", "type", "Q5", 1),
            ("a", "type", "http://schema.org/Person", 1),
            ("a", "type", "http://example.org/kinds#Poet", 1),
            ("a", "type", "poet", 1),
        ),
        types_are_ids=True,
    )
    assert graph.entity("a").types == ("human", "Person", "Poet", "poet")


# What is refused


def test_unknown_entities_and_relations(refused):
    known = entities({"id": "a"})
    message = refused(known, triples(("a", "r", "a"), ("a", "r", "b")), unknown="refuse")
    assert message == (
        "some.tsv:3: unknown entity: 'b'; declare it, or leave such lines out (--skip-bad)"
    )
    message = refused(known, relations({"id": "r"}), triples(("a", "s", "a")), unknown="refuse")
    assert message == (
        "some.tsv:2: unknown relation: 's'; declare it, or leave such lines out (--skip-bad)"
    )


def test_relations_need_no_declaration_where_none_is_declared(build):
    graph = build(entities({"id": "a"}), triples(("a", "r", "a")), unknown="refuse")
    assert graph.relation("r").id == "r"


def test_triples_out_of_scope_are_dropped_and_counted(build):
    graph = build(entities({"id": "a"}), triples(("a", "r", "a"), ("a", "r", "Q9")), unknown="drop")
    assert len(graph.triples) == 1
    assert graph.manifest.left_out == {"triples to entities outside the source": 1}


def test_duplicate_ids_name_the_first_line(refused):
    message = refused(entities({"id": "a"}, {"id": "b"}, {"id": "a"}))
    assert message == (
        "some.tsv:4: duplicate id: 'a', first in line 2; "
        "mend the line, or leave such lines out (--skip-bad)"
    )
    assert "duplicate id: 'r'" in refused(relations({"id": "r"}), relations({"id": "r"}))


@pytest.mark.parametrize("key", ["", None])
def test_empty_ids(refused, key):
    assert refused(entities({"id": "a"}, {"id": key})).startswith("some.tsv:3: empty id; mend")


def test_name_counts_need_one_number_for_each_name(refused):
    row = {"id": "a", "aliases": ["A"], "name_counts": [1]}
    message = refused(entities(row))
    assert message.startswith(
        "some.tsv:2: name_counts misfit: one number is needed for the label and each alias; "
    )


def test_a_source_without_entities(refused):
    assert refused() == "made by hand: no entity was found; is it the right file and format?"


def test_skipping_counts_reasons_and_keeps_the_rows(tmp_path, build):
    refusals = Refusals(skip=True, path=tmp_path / "refused.tsv")
    graph = build(
        entities({"id": "a", "label": "A"}, {"id": "", "label": "?"}, {"id": "a", "label": "B"}),
        triples(("a", "r", "b"), ("a", "r", "a"), ("c", "r", "a")),
        unknown="refuse",
        refusals=refusals,
    )
    assert (len(graph.entities), len(graph.triples)) == (1, 1)
    assert graph.entity("a").label == "A"
    expected = {"empty id": 1, "duplicate id": 1, "unknown entity": 2}
    assert graph.manifest.refused == expected
    assert (refusals.reasons, refusals.count) == (expected, 4)
    assert (tmp_path / "refused.tsv").read_text().splitlines() == [
        "some.tsv:3\tempty id\t\t?",
        "some.tsv:4\tduplicate id: 'a', first in line 2\ta\tB",
        "some.tsv:2\tunknown entity: 'b'\ta\tr\tb",
        "some.tsv:4\tunknown entity: 'c'\tc\tr\ta",
    ]


def test_refused_rows_stay_on_one_line_each(tmp_path, build):
    path = tmp_path / "refused" / "rows.tsv"  # in a folder that is not there yet
    refusals = Refusals(skip=True, path=path)
    row = {"id": "a", "label": "one\ntwo\r\nthree"}
    build(entities({"id": "a"}), entities(row), refusals=refusals)
    assert path.read_bytes().splitlines() == [
        b"some.tsv:2\tduplicate id: 'a', first in line 2\ta\tone\\ntwo\\r\\nthree"
    ]


def test_no_file_of_refused_rows_where_none_was_refused(tmp_path, build):
    refusals = Refusals(skip=True, path=tmp_path / "refused.tsv")
    build(triples(("a", "r", "b")), refusals=refusals)
    assert not refusals.path.exists()


def test_an_existing_target_is_refused_before_anything_is_read(tmp_path):
    def never():
        raise AssertionError("was read")
        yield

    source = Batches()
    source.batches = lambda refusals, progress: never()
    (tmp_path / "g").mkdir()
    with pytest.raises(BadInput, match=r"g exists already; name another folder or pass --overw"):
        build_graph(source, tmp_path / "g")
    with pytest.raises(BadInput, match=r"g is not a graph, so it is not overwritten; name another"):
        build_graph(source, tmp_path / "g", overwrite=True)


def test_every_split_is_known(build):
    graph = build(*(triples(("a", "r", "b"), split=split) for split in SPLITS))
    assert graph.manifest.splits == dict.fromkeys(SPLITS, 1)
