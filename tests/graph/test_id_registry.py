import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph.batches import ENTITY_SCHEMA, RELATION_SCHEMA, Origin, Refusals
from kgraft.graph.id_registry import IdRegistry

COUNTS = ENTITY_SCHEMA.field("name_counts").type


def table_of(rows):
    names = dict.fromkeys(name for row in rows for name in row)
    kinds = {field.name: field.type for field in ENTITY_SCHEMA}
    return pa.table(
        {n: pa.array([r.get(n) for r in rows], kinds.get(n, pa.string())) for n in names}
    )


def declare(registry, *rows, lines=None, skip=False):
    refusals = Refusals(skip=skip)
    origin = Origin("e.tsv", None if lines is None else np.array(lines))
    registry.declare(table_of(rows), origin, refusals)
    return refusals


def attribute(registry, number, field, value, rank=0):
    rank = np.array([rank], np.int8)
    registry.attributes.add(np.array([number]), pa.array([field]), pa.array([value]), rank)


@pytest.fixture
def registry():
    return IdRegistry(ENTITY_SCHEMA)


@pytest.fixture
def old():
    """A registry that starts from a graph of two entities."""
    before = IdRegistry(ENTITY_SCHEMA)
    declare(
        before,
        {"id": "a", "label": "A", "description": "first", "aliases": ["x"], "colour": "red"},
        {"id": "b", "label": "B", "types": ["letter"], "name_counts": [4]},
    )
    registry = IdRegistry(ENTITY_SCHEMA)
    registry.start_from(before.table())
    return registry


def test_ids_are_numbered_in_the_order_of_their_arrival(registry):
    assert registry.lookup(pa.array(["b", "a", "b", "c"]), add=True).tolist() == [0, 1, 0, 2]
    assert len(registry) == 3
    assert registry.table()["id"].to_pylist() == ["b", "a", "c"]


@given(st.lists(st.text("abc", min_size=1, max_size=1)), st.lists(st.text("abcd", max_size=1)))
def test_lookup_numbers_new_ids_only_where_asked(known, asked):
    registry = IdRegistry(ENTITY_SCHEMA)
    order = list(dict.fromkeys(known))
    expected = [order.index(item) for item in known]
    assert registry.lookup(pa.array(known, pa.string()), add=True).tolist() == expected
    found = registry.lookup(pa.array(asked, pa.string()), add=False)
    assert found.tolist() == [order.index(item) if item in order else -1 for item in asked]
    assert list(registry.ids) == order


def test_a_table_has_all_columns_with_gaps_filled(registry):
    declare(registry, {"id": "a", "label": "", "colour": "red"}, {"id": "b", "label": "B"})
    registry.lookup(pa.array(["c"]), add=True)
    assert registry.table().to_pydict() == {
        "id": ["a", "b", "c"],
        "label": ["a", "B", "c"],
        "description": ["", "", ""],
        "aliases": [[], [], []],
        "types": [[], [], []],
        "name_counts": [None, None, None],
        "colour": ["red", "", ""],
    }
    assert registry.table().schema.field("aliases").type == pa.list_(pa.string())


def test_an_empty_registry_has_an_empty_table():
    table = IdRegistry(RELATION_SCHEMA).table()
    assert table.column_names == RELATION_SCHEMA.names
    assert len(table) == 0


def test_rows_come_to_their_numbers(registry):
    registry.lookup(pa.array(["c"]), add=True)
    declare(registry, {"id": "b", "label": "B"})
    declare(registry, {"id": "c", "label": "C", "aliases": ["x", "y"]})
    table = registry.table()
    assert table["label"].to_pylist() == ["C", "B"]
    assert table["aliases"].to_pylist() == [["x", "y"], []]


def test_declared_tells_whether_some_row_declared_an_id(registry, old):
    registry.lookup(pa.array(["a"]), add=True)
    assert not registry.declared
    declare(registry, {"id": "a"})
    assert registry.declared
    assert old.declared


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([2, 3, 9], "e.tsv:9: duplicate id: 'a', first in line 2; mend the line"),
        (None, "e.tsv: duplicate id: 'a'; mend the line"),
    ],
)
def test_a_duplicate_id_names_its_line_and_the_first_one(registry, lines, message):
    with pytest.raises(BadInput) as error:
        declare(registry, {"id": "a"}, {"id": "b"}, {"id": "a"}, lines=lines)
    assert str(error.value).startswith(message)


def test_a_duplicate_id_of_an_earlier_batch_is_bad_too(registry):
    declare(registry, {"id": "a"}, lines=[5])
    with pytest.raises(BadInput, match=r"e\.tsv:7: duplicate id: 'a', first in line 5"):
        declare(registry, {"id": "a"}, lines=[7])


@pytest.mark.parametrize("item", ["", None])
def test_a_row_without_an_id_is_bad(registry, item):
    with pytest.raises(BadInput, match=r"e\.tsv:4: empty id"):
        declare(registry, {"id": "a"}, {"id": item}, lines=[3, 4])


@pytest.mark.parametrize("counts", [[], [1], [1, 2, 3]])
def test_counts_must_be_one_a_name(registry, counts):
    with pytest.raises(BadInput, match="name_counts misfit: one number is needed"):
        declare(registry, {"id": "a", "aliases": ["x"], "name_counts": counts})


def test_counts_that_fit_are_kept(registry):
    declare(registry, {"id": "a", "aliases": ["x"], "name_counts": [1, 2]}, {"id": "b"})
    assert registry.table()["name_counts"].to_pylist() == [[1, 2], None]


@pytest.mark.parametrize(("one", "many"), [("alias", "aliases"), ("type", "types")])
def test_the_singular_of_a_list_is_a_list_of_one(registry, one, many):
    declare(registry, {"id": "a", one: "x"}, {"id": "b", one: ""}, {"id": "c"})
    table = registry.table()
    assert table[many].to_pylist() == [["x"], [], []]
    assert one not in table.column_names


def test_the_singular_beside_its_list_is_refused(registry):
    with pytest.raises(BadInput, match="a column is named 'type'; give the column another name"):
        declare(registry, {"id": "a", "type": "x", "types": ["y"]})


def test_refused_rows_leave_nothing_behind(registry):
    refusals = declare(
        registry,
        {"id": "a", "label": "A"},
        {"id": "", "label": "nobody"},
        {"id": "a", "label": "again"},
        {"id": "b", "label": "B", "name_counts": [1, 2]},
        {"id": "c", "label": "C"},
        skip=True,
    )
    assert refusals.reasons == {"empty id": 1, "duplicate id": 1, "name_counts misfit": 1}
    assert registry.table()["id"].to_pylist() == ["a", "c"]
    assert registry.table()["label"].to_pylist() == ["A", "C"]


def test_attributes_fill_what_the_rows_leave_open(registry):
    declare(registry, {"id": "a", "label": "A"}, {"id": "b"})
    for number in (0, 1):
        attribute(registry, number, "label", "from RDF")
        attribute(registry, number, "colour", "red")
    attribute(registry, 1, "alias", "x")
    table = registry.table()
    assert table["label"].to_pylist() == ["A", "from RDF"]
    assert table["aliases"].to_pylist() == [[], ["x"]]
    assert table["colour"].to_pylist() == ["red", "red"]


def test_an_old_graph_comes_back_as_it_was(old):
    assert old.table().to_pylist() == [
        {
            "id": "a",
            "label": "A",
            "description": "first",
            "aliases": ["x"],
            "types": [],
            "name_counts": None,
            "colour": "red",
        },
        {
            "id": "b",
            "label": "B",
            "description": "",
            "aliases": [],
            "types": ["letter"],
            "name_counts": [4],
            "colour": "",
        },
    ]


def test_a_declaration_replaces_the_columns_it_gives(old):
    declare(old, {"id": "a", "label": "Alpha", "aliases": ["y"]}, {"id": "c", "label": "C"})
    table = old.table()
    assert table["id"].to_pylist() == ["a", "b", "c"]
    assert table["label"].to_pylist() == ["Alpha", "B", "C"]
    assert table["description"].to_pylist() == ["first", "", ""]
    assert table["aliases"].to_pylist() == [["y"], [], []]
    assert table["types"].to_pylist() == [[], ["letter"], []]
    assert table["colour"].to_pylist() == ["red", "", ""]


def test_an_old_entity_is_declared_anew_only_once(old):
    declare(old, {"id": "a"}, lines=[2])
    with pytest.raises(BadInput, match="duplicate id: 'a', first in line 2"):
        declare(old, {"id": "a"}, lines=[3])


def test_attributes_of_one_entity_leave_the_others_as_they_were(old):
    attribute(old, 1, "label", "Beta")
    attribute(old, 1, "alias", "z")
    attribute(old, 0, "type", "vowel")
    table = old.table()
    assert table["label"].to_pylist() == ["A", "Beta"]
    assert table["aliases"].to_pylist() == [["x"], ["z"]]
    assert table["types"].to_pylist() == [["vowel"], ["letter"]]


def test_counts_are_forgotten_where_the_names_were_replaced(old):
    declare(old, {"id": "b", "aliases": ["one", "two"]})
    table = old.table()
    assert table["aliases"].to_pylist() == [["x"], ["one", "two"]]
    assert table["name_counts"].to_pylist() == [None, None]
    assert table["name_counts"].type == COUNTS
