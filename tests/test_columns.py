from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.columns import (
    StringColumn,
    arrow_numbers,
    arrow_strings,
    codepoints,
    flat,
    list_rows,
    lists_from_rows,
    narrow,
    numbers,
    string_buffers,
    strings_from_buffers,
    strings_from_codepoints,
    take_rows,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXTS = st.lists(TEXT, max_size=8)


@given(TEXTS, st.sampled_from([pa.string(), pa.large_string()]), st.data())
def test_string_buffers_hold_the_bytes_of_each_string_of_a_slice(texts, kind, data):
    first = data.draw(st.integers(0, len(texts)))
    octets, bounds = string_buffers(pa.array(texts, kind).slice(first))
    pieces = [octets[a:b].tobytes().decode() for a, b in pairwise(bounds)]
    assert pieces == texts[first:]
    assert bounds[0] == 0


@given(st.lists(TEXTS, max_size=4), st.sampled_from([pa.string(), pa.large_string()]), st.data())
def test_rows_of_a_string_column_are_read_from_any_chunk(parts, kind, data):
    cuts = [data.draw(st.integers(0, len(part))) for part in parts]
    chunks = [pa.array(part, kind).slice(cut) for part, cut in zip(parts, cuts, strict=True)]
    expected = [text for part, cut in zip(parts, cuts, strict=True) for text in part[cut:]]
    column = StringColumn(pa.chunked_array(chunks, kind))
    assert list(column) == expected
    assert column.take(np.arange(len(expected))[::-1]) == expected[::-1]
    with pytest.raises(IndexError):
        column[len(expected)]


@given(TEXTS)
def test_strings_from_buffers_is_the_inverse_of_string_buffers(texts):
    assert strings_from_buffers(*string_buffers(pa.array(texts, pa.string()))).to_pylist() == texts


@given(st.text(max_size=20))
def test_codepoints_are_ord_of_every_character(text):
    assert codepoints(text).tolist() == [ord(character) for character in text]


def test_codepoints_keep_lone_surrogates():
    assert codepoints("a\ud83dz").tolist() == [97, 0xD83D, 122]


@given(TEXTS)
def test_strings_come_back_from_their_codepoints(texts):
    bounds = np.cumsum([0, *(len(text) for text in texts)])
    strings = strings_from_codepoints(codepoints("".join(texts)), bounds)
    strings.validate(full=True)
    assert strings.to_pylist() == texts


@pytest.mark.parametrize("chunks", [[], [[1, 2]], [[1], [], [2, 3]]])
def test_flat_and_numbers_join_the_pieces_of_a_column(chunks):
    column = pa.chunked_array(chunks, pa.int32())
    assert flat(column).to_pylist() == numbers(column).tolist() == column.to_pylist()


def test_numbers_of_one_piece_are_not_copied():
    column = pa.array([1, 2, 3])
    assert not numbers(column).flags.owndata
    assert flat(column) is column


@given(st.lists(st.integers(0, 5), max_size=5), st.lists(st.integers(0, 99), max_size=12))
def test_take_rows_gives_the_rows_in_the_order_asked(sizes, wanted):
    total = sum(sizes)
    starts = np.cumsum([0, *sizes])
    tables = [pa.table({"x": pa.array(range(a, b), pa.int64())}) for a, b in pairwise(starts)]
    table = pa.concat_tables([*tables, pa.table({"x": pa.array([], pa.int64())})])
    rows = [row % total for row in wanted] if total else []
    assert take_rows(table, np.array(rows, np.int64))["x"].to_pylist() == rows


@given(st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=3)), max_size=6))
def test_lists_fall_into_rows_and_back(lists):
    for column in (pa.array(lists, pa.list_(pa.int64())), _chunked(lists)):
        row, items = list_rows(column)
        expected = [(r, item) for r, part in enumerate(lists) for item in part or []]
        assert list(zip(row.tolist(), items.to_pylist(), strict=True)) == expected
        again = lists_from_rows(row, items, len(lists))
        assert again.to_pylist() == [part or [] for part in lists]


def _chunked(lists):
    return pa.chunked_array([lists[:2], lists[2:]], pa.list_(pa.int64()))


def test_narrow_halves_numbers_only_where_they_fit():
    assert narrow(np.array([0, 2**31 - 1])).dtype == np.int32
    assert narrow(np.array([], np.int64)).dtype == np.int32
    wide = np.array([2**31])
    assert narrow(wide) is wide


@given(TEXTS)
def test_arrow_strings_are_the_texts(texts):
    assert arrow_strings(texts).to_pylist() == texts


def test_arrow_strings_hold_no_half_of_a_pair():
    assert arrow_strings(["a\ud800", "é"]).to_pylist() == ["a?", "é"]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64, np.float32])
def test_arrow_numbers_are_the_numbers(kind):
    values = np.arange(10, dtype=kind)[::2]
    assert arrow_numbers(values).equals(pa.array(values))
