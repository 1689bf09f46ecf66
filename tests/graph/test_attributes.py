import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph import attributes
from kgraft.graph.attributes import AttributeRows

ROW = st.tuples(
    st.integers(0, 3),
    st.sampled_from(["label", "alias", "type", "description", "colour"]),
    st.sampled_from("abc"),
    st.integers(0, 2),
)


def merge(*batches, count=4):
    rows = AttributeRows()
    for batch in batches:
        number, field, value, rank = zip(*batch, strict=True)
        rows.add(np.array(number), pa.array(field), pa.array(value), np.array(rank, np.int8))
    return {name: column.to_pylist() for name, column in rows.merge(count).items()}


def naive_merge(rows, count=4):
    """Subject by subject, in the order of arrival."""
    columns = {}
    for subject in range(count):
        said = [(field, value, rank) for s, field, value, rank in rows if s == subject]
        by_rank = sorted(said, key=lambda row: row[2])  # stable: among equals the first
        one = {}
        for field, value, _ in by_rank:
            if field in ("label", "description", "colour"):
                one.setdefault(field, value)
        names = [value for field, value, _ in said if field == "alias"]
        taken = {one.get("label"), *names}
        aliases = []
        for field, value, _ in said:
            if field == "alias":
                aliases.append(value)
            elif field == "label" and value not in taken:
                taken.add(value)
                aliases.append(value)
        one["aliases"] = aliases or None
        one["types"] = [value for field, value, _ in said if field == "type"] or None
        for field, value in one.items():
            columns.setdefault(field, [None] * count)[subject] = value
    return {field: column for field, column in columns.items() if any(column)}


@pytest.mark.parametrize("piece", [1, 2, 1 << 30])
@given(batches=st.lists(st.lists(ROW, min_size=1, max_size=6), max_size=4))
def test_rows_merge_as_in_a_plain_loop(piece, batches):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attributes, "_PIECE", piece)
        found = merge(*batches)
    filled = {field: column for field, column in found.items() if any(column)}
    assert filled == naive_merge([row for batch in batches for row in batch])


def test_more_text_than_one_piece_comes_in_several(monkeypatch):
    monkeypatch.setattr(attributes, "_PIECE", 4)
    rows = AttributeRows()
    for field in ("note", "alias"):
        number, rank = np.arange(6), np.zeros(6, np.int8)
        rows.add(number, pa.array([field] * 6), pa.array(["abc"] * 6), rank)
    merged = rows.merge(6)
    assert {name: column.type for name, column in merged.items()} == {
        "note": pa.string(),
        "aliases": pa.list_(pa.string()),
    }
    assert min(column.num_chunks for column in merged.values()) > 1
    assert merged["note"].to_pylist() == ["abc"] * 6


def test_no_rows_fill_no_columns():
    assert merge() == {}


def test_the_label_of_lowest_rank_wins_and_the_others_become_aliases():
    found = merge(
        [(0, "label", "Germany", 3), (0, "alias", "BRD", 0)],
        [(0, "label", "Deutschland", 0), (0, "label", "Allemagne", 4)],
        count=1,
    )
    assert found == {"label": ["Deutschland"], "aliases": [["Germany", "BRD", "Allemagne"]]}


def test_among_labels_of_one_rank_the_first_wins():
    found = merge([(0, "label", "one", 1), (0, "label", "two", 1)], count=1)
    assert found == {"label": ["one"], "aliases": [["two"]]}


def test_a_losing_label_that_is_known_already_is_no_alias():
    found = merge(
        [(0, "label", "Paris", 0), (0, "label", "Paris", 3), (0, "label", "Parigi", 4)],
        [(0, "alias", "Parigi", 0), (1, "label", "Paris", 1), (1, "label", "Parigi", 2)],
        count=2,
    )
    assert found == {"label": ["Paris", "Paris"], "aliases": [["Parigi"], ["Parigi"]]}


def test_the_description_of_lowest_rank_wins_and_the_others_are_lost():
    found = merge([(0, "description", "ville", 4), (0, "description", "city", 0)], count=1)
    assert found == {"description": ["city"]}


def test_lists_keep_the_order_of_arrival():
    found = merge([(1, "type", "b", 2), (0, "type", "x", 0)], [(1, "type", "a", 0)], count=3)
    assert found == {"types": [["x"], ["b", "a"], None]}


def test_subjects_without_a_value_stay_null():
    found = merge([(1, "label", "x", 0), (1, "colour", "red", 0)], count=3)
    assert found["label"] == [None, "x", None]
    assert found["colour"] == [None, "red", None]
    assert found["aliases"] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("3", [3]),
        ("3|0|12", [3, 0, 12]),
        ("", None),
        ("3|", None),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("9" * 18, [int("9" * 18)]),
        ("9" * 19, None),
    ],
)
def test_name_counts_are_numbers_or_nothing(text, counts):
    assert merge([(1, "name_counts", text, 0)], count=2) == {"name_counts": [None, counts]}
