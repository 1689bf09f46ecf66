"""The plain lines of N-Triples taken apart without a Python loop.

A plain line has three IRIs, or two and a literal without an escape. Most lines of a large file are
plain; what is left goes to the full parser.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import string_buffers

if TYPE_CHECKING:
    from pyoxigraph import Quad

_IRI = r'<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*>'
_PLAIN = rf"^{_IRI} {_IRI} {_IRI} \.\r?\n$"
_TAG = rf"(?:@[A-Za-z]{{1,8}}(?:-[A-Za-z0-9]{{1,8}})*|\^\^{_IRI})?"
_LITERAL = rf'^{_IRI} {_IRI} "[^"\\\r\n]*"{_TAG} \.\r?\n$'
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_PREDICATES_WITH_A_MEANING = f"<{_RDF}"
_PLAIN_TYPE = rf"^{_IRI} <{_RDF}type> {_IRI} \.\r?\n$"
# What has a meaning in Wikidata's own files or in those of kgraft, and types that are not types.
_SPECIAL = (
    r"^<(?:https?://[a-z.\-]*wik[a-z]+\.org/|urn:kgraft:)|^[^ ]+ <urn:kgraft:"
    rf"|^[^ ]+ [^ ]+ <(?:urn:kgraft:|http://wikiba\.se/|{_RDF}Statement>)"
)
_STRING = "http://www.w3.org/2001/XMLSchema#string"

Columns = tuple[pa.Array, pa.Array, pa.Array]


@dataclass(frozen=True)
class ValueColumns:
    """Literals by column; `datatype` is as in `batches.Literals`."""

    subject: pa.Array
    property: pa.Array
    datatype: pa.DictionaryArray
    value: pa.Array


@dataclass
class Block:
    """What one block of a file says: statements, and plain ones by column."""

    quads: list[Quad]
    plain: Columns | None = None
    types: Columns | None = None
    values: ValueColumns | None = None
    declared: list[tuple[str, str]] = field(default_factory=list)  # (kind, IRI)


def split_values(
    lines: bytes,
) -> tuple[Columns | None, ValueColumns | None, bytes]:
    """Return the plain types and the plain literals of some lines, and all others as they are.

    >>> types, values, rest = split_values(b'<a:1> <a:2> "text"@en .\\n<a:1> <a:2> "a\\\\n" .\\n')
    >>> values.value.to_pylist(), values.datatype.to_pylist(), types
    (['text'], ['@en'], None)
    """
    rows = _lines(lines if lines.endswith(b"\n") else lines + b"\n")
    special = pc.match_substring_regex(rows, _SPECIAL)
    literal = pc.and_not(pc.match_substring_regex(rows, _LITERAL), special)
    is_type = pc.and_not(pc.match_substring_regex(rows, _PLAIN_TYPE), special)
    rest, _ = string_buffers(rows.filter(pc.invert(pc.or_(literal, is_type))))
    return _columns(rows.filter(is_type)), _values(rows.filter(literal)), rest.tobytes()


def _values(lines: pa.Array) -> ValueColumns | None:
    if not len(lines):
        return None
    octets, bounds = string_buffers(lines)
    begins, ends = bounds[:-1], bounds[1:]
    # A plain literal has no quote in it, nor has an IRI, so every line has two.
    first, last = np.flatnonzero(octets == ord('"')).reshape(-1, 2).T
    brackets = np.flatnonzero(octets == ord(">"))
    position = np.searchsorted(brackets, begins)
    subject, predicate = brackets[position], brackets[position + 1]
    stop = ends - 3 - (octets[ends - 2] == ord("\r"))
    return ValueColumns(
        _slices(octets, begins + 1, subject),
        _slices(octets, subject + 3, predicate),
        _datatypes(_slices(octets, last + 1, stop)),
        _slices(octets, first + 1, last),
    )


def _datatypes(tags: pa.Array) -> pa.DictionaryArray:
    """Return the datatypes that the tags behind literals stand for."""
    codes = pc.dictionary_encode(tags)
    names = pa.array([_datatype(tag) for tag in codes.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(codes.indices, names)


def _datatype(tag: str) -> str:
    """Return what follows a literal as a datatype: `@en`, an IRI, or nothing for a string."""
    iri = tag.lower() if tag.startswith("@") else tag[3:-1]
    return "" if iri == _STRING else iri


def _slices(octets: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> pa.Array:
    """Return the texts between places of a buffer, which follow one another."""
    bounds = np.stack([starts, stops], axis=1).astype(np.int32).ravel()
    pieces = pa.StringArray.from_buffers(
        len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(np.ascontiguousarray(octets))
    )
    return pieces.take(pa.array(np.arange(0, len(pieces), 2)))


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
