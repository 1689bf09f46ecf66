"""RDF files: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, plain or packed.

Names of graphs are ignored. Only N-Triples and N-Quads, where a line is a statement, can go on
after a bad line; in the other formats the first error ends the import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from kgraft.errors import BadInput, need
from kgraft.graph.batches import ROWS, Batch, Refusals
from kgraft.graph.readers.entities import refuse_expanding
from kgraft.graph.readers.iris import FORMAT, GRAPH
from kgraft.graph.readers.plain_lines import Columns, split_plain
from kgraft.graph.readers.stream import BOM, open_bytes, plain_suffix, refuse_encoding
from kgraft.progress import Progress

if TYPE_CHECKING:
    from pyoxigraph import Quad

SYNTAXES = {
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".ttl": "TURTLE",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}
LINE_BASED = ("N_TRIPLES", "N_QUADS")
BLOCK = 1 << 22  # bytes parsed in one go
MARK = f"<{GRAPH}> <{FORMAT}> ".encode()


class RdfSource:
    """An RDF file; `lang` is the language preferred for labels and descriptions."""

    format = "rdf"
    unknown: Literal["refuse", "add", "drop"] = "add"

    def __init__(self, path: str | Path, *, lang: str = "en") -> None:
        self.path, self.lang = Path(path), lang
        self.types_are_ids = True  # until `batches` finds a file of ours, where types are names

    def describe(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield triples and attributes block by block."""
        need("pyoxigraph", "rdf")
        from kgraft.graph.readers.statements import Statements

        syntax = self._syntax()
        by_line = syntax in LINE_BASED
        with open_bytes(self.path, progress, lines=by_line) as stream:
            ours = stream.peek(len(MARK)).startswith(MARK)
            if syntax == "RDF_XML":
                refuse_expanding(stream, self.path)
            self.types_are_ids = not ours
            statements = Statements(
                str(self.path), refusals, lang=self.lang, keep_blank=by_line, ours=ours
            )
            blocks = self._line_blocks(stream, syntax, refusals) if by_line else None
            for plain, quads in blocks or self._blocks(stream, syntax):
                yield from statements.read(quads, plain)
        yield from statements.finish()

    def _syntax(self) -> str:
        suffix = plain_suffix(self.path)
        if suffix not in SYNTAXES:
            reason = f"no RDF format has the suffix {suffix or '(none)'}"
            raise BadInput(reason, file=str(self.path), remedy=f"use one of {' '.join(SYNTAXES)}")
        return SYNTAXES[suffix]

    def _line_blocks(
        self, stream: BinaryIO, syntax: str, refusals: Refusals
    ) -> Iterator[tuple[Columns | None, list[Quad]]]:
        done = 0
        while block := stream.read(BLOCK):
            block += stream.readline()
            block = block if done else block.removeprefix(BOM)
            plain, rest = split_plain(block) if syntax == "N_TRIPLES" else (None, block)
            try:
                quads = _parse(rest, syntax)
            except SyntaxError:
                plain, quads = None, self._line_by_line(block, done, syntax, refusals)
            yield plain, quads
            done += block.count(b"\n")

    def _line_by_line(self, block: bytes, done: int, syntax: str, refusals: Refusals) -> list[Quad]:
        quads: list[Quad] = []
        file = str(self.path)
        for line, raw in enumerate(block.split(b"\n"), done + 1):
            try:
                text = raw.decode("utf-8")
                quads += _parse(raw, syntax)
            except UnicodeDecodeError as error:
                refuse_encoding(raw, error, refusals, file=file, line=line)
            except SyntaxError as error:
                detail = _message(error)
                refusals.refuse("bad RDF", file=file, line=line, detail=detail, text=text)
        return quads

    def _blocks(self, stream: BinaryIO, syntax: str) -> Iterator[tuple[Columns | None, list[Quad]]]:
        from pyoxigraph import RdfFormat, parse

        try:
            quads = iter(parse(stream, getattr(RdfFormat, syntax)))
            while block := list(islice(quads, ROWS)):
                yield None, block
        except SyntaxError as error:
            remedy = "mend the file (only N-Triples and N-Quads can skip bad lines)"
            reason = f"bad RDF: {_message(error)}"
            raise BadInput(reason, file=str(self.path), line=error.lineno, remedy=remedy) from error


def _parse(block: bytes, syntax: str) -> list[Quad]:
    from pyoxigraph import RdfFormat, parse

    return list(parse(block, getattr(RdfFormat, syntax)))


def _message(error: SyntaxError) -> str:
    message = re.sub(r"^Parser error [^:]*: ", "", error.msg or "")
    return " ".join(message.split())
