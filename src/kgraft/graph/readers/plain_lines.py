"""The plain lines of N-Triples, three IRIs each, taken apart without a Python loop.

Most lines of a large file are plain; what is left, names above all, goes to the full parser.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph.columns import string_buffers

_IRI = r'<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*>'
_PLAIN = rf"^{_IRI} {_IRI} {_IRI} \.\r?\n$"
_PREDICATES_WITH_A_MEANING = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Columns = tuple[pa.Array, pa.Array, pa.Array]


def split_plain(block: bytes) -> tuple[Columns | None, bytes]:
    """Return the (head, relation, tail) IRIs of the plain lines, and all other lines as they are.

    >>> columns, rest = split_plain(b'<a:1> <a:2> <a:3> .\\n<a:1> <a:2> "text" .\\n')
    >>> [column.to_pylist() for column in columns], rest
    ([['a:1'], ['a:2'], ['a:3']], b'<a:1> <a:2> "text" .\\n')
    """
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return None, block
    lines = _lines(block if block.endswith(b"\n") else block + b"\n")
    special = pc.match_substring(lines, _PREDICATES_WITH_A_MEANING)
    plain = pc.and_not(pc.match_substring_regex(lines, _PLAIN), special)
    rest, _ = string_buffers(lines.filter(pc.invert(plain)))
    return _columns(lines.filter(plain)), rest.tobytes()


def _lines(block: bytes) -> pa.Array:
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    bounds = np.concatenate([[0], ends]).astype(np.int32)
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(bounds), pa.py_buffer(block))


def _columns(lines: pa.Array) -> Columns | None:
    octets, _ = string_buffers(lines)
    if not len(octets):
        return None
    # An IRI has no angle bracket in it, so the n-th pair of them holds the n-th IRI.
    starts, ends = (np.flatnonzero(octets == ord(bracket)) for bracket in "<>")
    bounds = np.stack([starts + 1, ends], axis=1).astype(np.int32).ravel()
    buffers = pa.py_buffer(bounds), pa.py_buffer(octets)
    pieces = pa.StringArray.from_buffers(len(bounds) - 1, *buffers)
    head, relation, tail = (
        pieces.take(pa.array(np.arange(part, len(pieces), 6))) for part in (0, 2, 4)
    )
    return head, relation, tail
