"""RDF files: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, plain or packed.

Names of graphs are ignored. Only N-Triples and N-Quads, where a line is a statement, can continue
after a bad line; in the other formats the first error ends the import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal
from urllib.parse import quote

from kgraft.errors import BadInput, import_optional
from kgraft.graph.batches import ROWS, Batch, Refusals
from kgraft.graph.io.lines import refuse_encoding
from kgraft.graph.io.rdf.iris import FORMAT, GRAPH, HEADER, RDF
from kgraft.graph.io.rdf.plain_lines import Block, split_plain, split_values
from kgraft.graph.io.rdf.rewritten import rewritten
from kgraft.graph.structure import BlankNodes
from kgraft.progress import Progress
from kgraft.streams import BOM, open_bytes, plain_suffix

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
    ".json": "JSON_LD",
    ".ontology": "TURTLE",
    ".n3": "N3",
    ".ntriples": "N_TRIPLES",
    ".nquads": "N_QUADS",
    ".turtle": "TURTLE",
    ".owx": "RDF_XML",  # refused by its first element
}
LINE_BASED = ("N_TRIPLES", "N_QUADS")
BEGINNING = 1 << 12  # bytes in which the first element of XML is looked for
BLOCK = 1 << 22  # bytes parsed in one go
SHOWN = 200  # characters of a message of the parser, which may quote a whole file
_FUNCTIONAL = re.compile(r"\s*(?:Prefix|Ontology)\s*\(")
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)[^>]*>")
_DECLARED = re.compile(rb"^# ((?:column of )?(?:entity|relation)) <?([^>\n]+)>?$", re.MULTILINE)
MARK = f"<{GRAPH}> <{FORMAT}> ".encode()


class RdfSource:
    """An RDF file; `lang` is the language preferred for labels and descriptions."""

    format = "rdf"
    unknown: Literal["refuse", "add", "drop"] = "add"

    def __init__(
        self, path: str | Path, *, lang: str = "en", blank_nodes: BlankNodes = "fold"
    ) -> None:
        self.path, self.lang = Path(path), lang
        self._blank_nodes = blank_nodes
        self.blank_nodes: BlankNodes | None = blank_nodes  # None for a file of kgraft
        self.blank_mark = ""  # stands in the names of blank nodes, where files are read together
        self.types_are_ids = True  # until `batches` finds a file of kgraft, where types are names

    def describe(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield triples and attributes block by block."""
        import_optional("pyoxigraph", "rdf")
        from kgraft.graph.io.rdf.statements import Statements

        syntax = syntax_of(self.path)
        by_line = syntax in LINE_BASED
        with open_bytes(self.path, progress, lines=by_line) as stream:
            stream = rewritten(stream, syntax, self.path)
            begins = stream.peek(BEGINNING)
            if syntax == "RDF_XML":
                _refuse_other_xml(begins, self.path)
            ours = 1 if begins.startswith(MARK) else 2 if begins.startswith(HEADER) else 0
            self.types_are_ids = ours != 1
            self.blank_nodes = None if ours else self._blank_nodes
            statements = Statements(
                str(self.path),
                refusals,
                lang=self.lang,
                keep_blank=by_line,
                ours=ours,
                blank_mark=self.blank_mark,
            )
            blocks = self._line_blocks(stream, syntax, refusals, ours) if by_line else None
            for block in blocks or self._blocks(stream, syntax):
                yield from statements.read(block)
        yield from statements.finish()

    def _line_blocks(
        self, stream: BinaryIO, syntax: str, refusals: Refusals, ours: int
    ) -> Iterator[Block]:
        done = 0
        while block := stream.read(BLOCK):
            block += stream.readline()
            block = block if done else block.removeprefix(BOM)
            try:
                made = _split(block, syntax, ours)
            except SyntaxError:
                made = Block(self._line_by_line(block, done, syntax, refusals))
            if ours == 2:
                made.declared = [(k.decode(), i.decode()) for k, i in _DECLARED.findall(block)]
            yield made
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

    def _blocks(self, stream: BinaryIO, syntax: str) -> Iterator[Block]:
        from pyoxigraph import RdfFormat, parse

        try:
            base = f"file:///{quote(self.path.name)}"
            quads = iter(parse(stream, getattr(RdfFormat, syntax), base_iri=base))
            while block := list(islice(quads, ROWS)):
                yield Block(block)
        except SyntaxError as error:
            remedy = "mend the file (only N-Triples and N-Quads can skip bad lines)"
            reason = f"bad RDF: {_message(error)}"
            if syntax == "JSON_LD" and "context" in reason:
                reason = "its JSON-LD context stands elsewhere, and kgraft fetches nothing"
                remedy = "put the context into the file, or convert it to N-Triples"
            raise BadInput(reason, file=str(self.path), line=error.lineno, remedy=remedy) from error


def syntax_of(path: Path) -> str:
    """Return the RDF format of a file, as pyoxigraph names it, from its suffix."""
    suffix = plain_suffix(path)
    if suffix not in SYNTAXES:
        reason = f"no RDF format has the suffix {suffix or '(none)'}"
        raise BadInput(reason, file=str(path), remedy=f"use one of {' '.join(SYNTAXES)}")
    return SYNTAXES[suffix]


def _refuse_other_xml(begins: bytes, path: Path) -> None:
    """Refuse XML whose first element tells that it is no RDF."""
    text = begins.decode("utf-8", "ignore")
    root = _ROOT.search(re.sub(r"(?s)<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", "", text))
    if _FUNCTIONAL.match(text):
        remedy = "convert it to RDF/XML or Turtle, as Protégé and ROBOT do"
        raise BadInput("this is OWL's functional syntax, no RDF", file=str(path), remedy=remedy)
    if root is None:
        return
    name = root.group(1).rpartition(":")[2]
    if (
        name == "Ontology"
        and "http://www.w3.org/2002/07/owl#" in text
        and "rdf:" not in root.group()
    ):
        reason = "this is OWL/XML, which is no RDF"
        remedy = "convert it to RDF/XML or Turtle, as Protégé and ROBOT do"
        raise BadInput(reason, file=str(path), remedy=remedy)
    if RDF not in text and name != "RDF":
        reason = f"this is XML, but no RDF (its first element is {root.group(1)!r})"
        raise BadInput(reason, file=str(path), remedy="give RDF/XML, or another format of RDF")


def _split(block: bytes, syntax: str, ours: int) -> Block:
    """Return what a block of whole lines says; a SyntaxError where a line is bad."""
    if syntax != "N_TRIPLES":
        return Block(_parse(block, syntax))
    plain, rest = split_plain(block)
    if ours or plain is None:
        return Block(_parse(rest, syntax), plain)
    types, values, rest = split_values(rest)
    return Block(_parse(rest, syntax), plain, types, values)


def _parse(block: bytes, syntax: str) -> list[Quad]:
    from pyoxigraph import RdfFormat, parse

    return list(parse(block, getattr(RdfFormat, syntax)))


def _message(error: SyntaxError) -> str:
    message = re.sub(r"^Parser error [^:]*: ", "", error.msg or "")
    message = " ".join(message.split())
    return message if len(message) <= SHOWN else f"{message[:SHOWN]}…"
