"""Arrow columns as flat NumPy arrays and back, without a Python loop over rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_ESCAPES = {"\t": "\\u0009", "\n": "\\u000A", "\r": "\\u000D"}


def string_buffers(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the UTF-8 bytes of a string array and the bounds of each string in them."""
    wide = pa.types.is_large_string(strings.type) or pa.types.is_large_binary(strings.type)
    _, offsets, data = strings.buffers()
    if len(strings) == 0 or offsets is None:
        return np.zeros(0, np.uint8), np.zeros(len(strings) + 1, np.int64)
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)
    bounds = bounds[strings.offset : strings.offset + len(strings) + 1].astype(np.int64)
    octets = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return octets[bounds[0] : bounds[-1]], bounds - bounds[0]


def strings_from_buffers(data: np.ndarray, bounds: np.ndarray) -> pa.Array:
    """Return a string array from UTF-8 bytes and bounds: the inverse of `string_buffers`."""
    offsets = pa.py_buffer(bounds.astype(np.int64))
    return pa.LargeStringArray.from_buffers(len(bounds) - 1, offsets, pa.py_buffer(data))


def codepoints(text: str) -> np.ndarray:
    """Return the characters of a text as numbers; lone surrogates are kept.

    >>> codepoints("aé😀").tolist()
    [97, 233, 128512]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def broken_codepoints(strings: pa.Array, mark: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the characters of many strings with a mark behind each, and the bounds of each."""
    data, bounds = string_buffers(strings)
    edges = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])[bounds]
    points = np.insert(codepoints(data.tobytes().decode()), edges[1:], ord(mark))
    return points, edges + np.arange(len(edges))


def strings_from_codepoints(points: np.ndarray, bounds: np.ndarray) -> pa.Array:
    """Return the strings whose characters are points[bounds[i]:bounds[i+1]]."""
    sizes = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    data = points.astype("<u4").tobytes().decode("utf-32-le").encode()
    return strings_from_buffers(np.frombuffer(data, np.uint8), ends[bounds])


def flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


class StringColumn(Sequence[str]):
    """A column of strings, none null, of which single rows are read without Arrow's overhead."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        chunks = [chunk for chunk in column.chunks if len(chunk)]
        self._begins = [0, *accumulate(map(len, chunks))]
        self._chunks = [_bounds_and_bytes(chunk) for chunk in chunks]
        self._arrays = chunks

    def __len__(self) -> int:
        return self._begins[-1]

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        if not 0 <= row < len(self):
            raise IndexError(row)
        chunk = bisect_right(self._begins, row) - 1
        bounds, octets = self._chunks[chunk]
        index = row - self._begins[chunk]
        return str(octets[bounds[index] : bounds[index + 1]], "utf-8")

    @property
    def chunks(self) -> list[pa.Array]:
        """The strings, in pieces."""
        return self._arrays

    def take(self, rows: np.ndarray) -> list[str]:
        """Return some rows; Arrow would first join all chunks, and so read the whole column."""
        return [self[row] for row in rows.tolist()]


def _bounds_and_bytes(strings: pa.Array) -> tuple[np.ndarray, memoryview]:
    """Return the bounds of strings among the bytes of their buffer, and the bytes."""
    _, offsets, data = strings.buffers()
    wide = pa.types.is_large_string(strings.type)
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)
    return bounds[strings.offset :], memoryview(data if data is not None else b"")


def arrow_numbers(values: np.ndarray) -> pa.Array:
    """Return numbers as an Arrow array without a copy; `pa.array` would load pandas first."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(
        kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


def arrow_strings(texts: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow array, half a surrogate pair as `?`; `pa.array` loads pandas."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    bounds = np.concatenate([[0], np.cumsum([len(octets) for octets in encoded], dtype=np.int64)])
    return strings_from_buffers(np.frombuffer(b"".join(encoded), np.uint8), bounds)


def narrow(values: np.ndarray) -> np.ndarray:
    """Return whole numbers as 32-bit ones where they fit: half the file."""
    return values.astype(np.int32) if values.max(initial=0) < 1 << 31 else values


def take_rows(table: pa.Table, rows: np.ndarray) -> pa.Table:
    """Return some rows of a table in the order asked, touching only the pieces they stand in.

    `Table.take` would first join all pieces of a column, and so read the whole file.
    """
    batches = table.to_batches()
    begins = np.cumsum([0, *(len(batch) for batch in batches)])
    piece = np.searchsorted(begins, rows, side="right") - 1
    order = np.argsort(piece, kind="stable")
    pieces, first = np.unique(piece[order], return_index=True)  # none at all for no rows
    taken = [
        batches[k].take(arrow_numbers(rows[part] - begins[k]))
        for k, part in zip(pieces.tolist(), np.split(order, first[1:]), strict=False)
    ]
    joined = pa.Table.from_batches(taken, table.schema).combine_chunks()
    return joined if (np.diff(order) > 0).all() else joined.take(arrow_numbers(np.argsort(order)))


def lists_from_rows(row: np.ndarray, values: pa.Array | pa.ChunkedArray, rows: int) -> pa.Array:
    """Gather values by their (ascending) row into lists, one per row."""
    bounds = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=rows), out=bounds[1:])
    return pa.ListArray.from_arrays(pa.array(bounds), flat(values))


def list_rows(lists: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """Return for every item of a column of lists its row, and all the items in order."""
    lengths = numbers(pc.fill_null(pc.list_value_length(lists), 0)).astype(np.int64)
    return np.repeat(np.arange(len(lists)), lengths), flat(pc.list_flatten(lists))


def numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return a column of numbers or booleans, none null, as a NumPy array.

    Numbers in one piece are not copied. The memory is looked at directly, because Arrow's own
    `to_numpy` loads pandas where it is installed.
    """
    array = flat(column)
    if array.null_count:
        raise ValueError("a null is not a number")
    if pa.types.is_boolean(array.type):
        return numbers(array.cast(pa.uint8())).view(bool)
    kind = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.zeros(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def escape_cells(column: pa.Array) -> pa.Array:
    """Return texts with what would break a line or a cell of TSV escaped."""
    column = pc.replace_substring_regex(column, r'\\([uU"])', r"\\u005C\1")  # else an escape
    for character, escape in _ESCAPES.items():
        column = pc.replace_substring(column, character, escape)
    return column
