"""RDF that its parser refuses though it is clear, rewritten on the way in, piece by piece.

RDF/XML in another encoding than UTF-8, or with entities in single quotes; JSON-LD whose types are
nodes (`"@type": [{"@id": "…"}]`), as older versions of rdflib write them.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph.io.rdf.xml_entities import DECLARATION, PROLOG, plain_prolog
from kgraft.streams import BOM, BUFFER

PIECE = 1 << 18  # bytes that are rewritten at a time
LONGEST = 1 << 20  # bytes of the types of one node

_DECLARED = re.compile(r"""^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*["']([A-Za-z][\w.:-]*)["']""")
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_TYPES = re.compile(rb'"@type"\s*:\s*\[[^\[\]]*\]')
_UNFINISHED = re.compile(rb'"@type"\s*(?::\s*(?:\[[^\[\]]*)?)?\Z')
_NODE = re.compile(rb'\{\s*"@id"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}')


def rewritten(stream: io.BufferedReader, syntax: str, path: Path) -> io.BufferedReader:
    """Return a stream of RDF as its parser takes it."""
    if syntax == "RDF_XML":
        return io.BufferedReader(_Pieces(_xml(stream, path)), BUFFER)
    if syntax == "JSON_LD":
        return io.BufferedReader(_Pieces(_json_ld(stream)), BUFFER)
    return stream


class _Pieces(io.RawIOBase):
    """A stream of pieces of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        filled = 0
        while filled < len(buffer):
            if not self._rest:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                self._rest = memoryview(piece)
            count = min(len(buffer) - filled, len(self._rest))
            buffer[filled : filled + count] = self._rest[:count]
            self._rest = self._rest[count:]
            filled += count
        return filled


def _xml(stream: io.BufferedReader, path: Path) -> Iterator[bytes]:
    pieces = _utf8(stream, path)
    head = b""
    while len(head) < PROLOG and (piece := next(pieces, b"")):
        head += piece
    head = head.removeprefix(BOM)
    prolog, end = plain_prolog(head, path)
    yield prolog
    before = b""
    for piece in chain([head[end:]], pieces):
        if DECLARATION in before + piece:
            reason = "an XML entity is declared behind the beginning of the document"
            raise BadInput(reason, file=str(path), remedy="write its text out")
        yield piece
        before = (before + piece)[1 - len(DECLARATION) :]


def _utf8(stream: io.BufferedReader, path: Path) -> Iterator[bytes]:
    """Yield the pieces of an XML file in UTF-8, whatever its encoding is."""
    encoding = _encoding(stream.peek(1 << 10), path)
    if encoding is None:
        while piece := stream.read(PIECE):
            yield piece
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 0  # line feeds so far
    for number, piece in enumerate(chain(iter(lambda: stream.read(PIECE), b""), [b""])):
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(encoding, errors="replace")
            reason = f"invalid {encoding}: byte 0x{error.object[error.start]:02x}"
            remedy = "convert it to UTF-8 (iconv -t UTF-8)"
            bad_line = line + good.count("\n") + 1
            raise BadInput(reason, file=str(path), line=bad_line, remedy=remedy) from error
        line += text.count("\n")
        if number == 0:
            text = _DECLARED.sub(r"\1", text.removeprefix("\ufeff"), count=1)
        yield text.encode("utf-8", errors="replace")


def _encoding(begins: bytes, path: Path) -> str | None:
    """Return the encoding of XML by its first bytes, or None for UTF-8.

    Bytes of one width that declare to be UTF-16 are UTF-8: no other reading is left.
    """
    for mark, encoding in _BOMS.items():
        if begins.startswith(mark):
            return encoding
    declared = _DECLARED.match(begins.removeprefix(BOM).decode("latin-1"))
    if declared is None or declared[2].casefold() in ("utf-8", "utf8"):
        return None
    try:
        if b"<".decode(declared[2]) == "<":
            return declared[2]
    except LookupError as error:
        reason = f"the encoding {declared[2]!r} is not known"
        remedy = "convert it to UTF-8 (iconv -t UTF-8)"
        raise BadInput(reason, file=str(path), line=1, remedy=remedy) from error
    except UnicodeError:
        pass
    return "utf-8"


def _json_ld(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield the pieces of a document; types that are nodes become the ids of these."""
    rest = b""
    while piece := stream.read(PIECE):
        text = rest + piece
        unfinished = _UNFINISHED.search(text)
        if unfinished and len(text) - unfinished.start() < LONGEST:
            cut = unfinished.start()
        else:
            cut = max(text.rfind(b"]") + 1, len(text) - len('"@type'))
        yield _TYPES.sub(_plain_types, text[:cut])
        rest = text[cut:]
    yield rest


def _plain_types(types: re.Match[bytes]) -> bytes:
    return _NODE.sub(lambda node: node[1] + b"\n" * node[0].count(b"\n"), types[0])
