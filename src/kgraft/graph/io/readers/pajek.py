"""Pajek's networks (.net, and the first network of a project, .paj).

    *Vertices 2
    1 "Ann"
    2 "Bob"
    *Arcs :1 "knows"
    1 2 1.5

The relation of a line is its label (`l "likes"`), else the name of its section, else `related to`;
the lines of *Edges hold both ways. Partitions, vectors and clusters are left out. Lines of numbers
before any section are links, as in Infomap's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile, read_text
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.column_names import RELATED
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.progress import Progress

LINES = ("arcs", "edges")
LISTS = ("arcslist", "edgeslist")
LEFT_OUT = ("partition", "vector", "permutation", "cluster", "hierarchy", "events")
_TOKEN = re.compile(r'"([^"]*)"|([^\s"]+)|(")')
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class PajekSource(GraphFile):
    """A .net or .paj file, plain or packed; the ids of its vertices are their numbers."""

    format = "pajek"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield vertices as entities, then lines as triples."""
        network = _Network(self.path, refusals)
        edges: list[Batch] = []
        for number, text in enumerate(read_text(self.path, progress).split("\n"), 1):
            text = text.strip()
            if not text or text[0] in "%#":
                continue
            try:
                network.take(text, number)
            except BadInput:
                raise
            except ValueError as error:
                refusals.refuse(
                    "bad line", file=str(self.path), line=number, detail=str(error), text=text
                )
            if network.nodes.full:
                yield from network.nodes.take()
            if network.edges.full:
                edges += network.edges.take()
        yield from network.nodes.take()
        yield from edges
        yield from network.edges.take()


class _Network:
    """The vertices and lines of a file, from its lines of text."""

    def __init__(self, path: Path, refusals: Refusals) -> None:
        self.path, self.refusals = path, refusals
        self.nodes, self.edges = TableRows("entity", str(path)), TripleRows(str(path))
        self._section, self._relation = "", RELATED
        self._size: int | None = None  # how many vertices there are
        self._row = 0  # of a matrix
        self._skipping = False  # what belongs to no network, or to a further one

    def take(self, text: str, line: int) -> None:
        """Take a line in; a ValueError says what is wrong with it."""
        if text.startswith("*"):
            self._begin(text, line)
            return
        if self._skipping:
            return
        words = [quoted or plain for quoted, plain, _ in _words(text)]
        if self._size is None:
            self._add_link(words, line)
        elif self._section == "vertices":
            number = self._vertex(words[0])
            self.nodes.add({"id": number, **({"label": words[1]} if words[1:] else {})}, line)
        elif self._section == "matrix":
            self._add_row(words, line)
        elif len(words) < 2:
            raise ValueError("a line needs two vertices")
        else:
            self._add_line(words, self._label(text), line)

    def _begin_vertices(self, words: list[str], line: int) -> None:
        """Take in the number of vertices."""
        if not words or not words[0].isdecimal() or self._size is not None:
            raise _bad("*Vertices needs one number, once", self.path, line)
        self._size = int(words[0])

    def _begin(self, text: str, line: int) -> None:
        """Begin a section: its name stands behind the star, and what it is called behind that."""
        words = [quoted or plain for quoted, plain, _ in _words(text[1:])]
        name, rest = words[0].casefold() if words else "", words[1:]
        if name in LEFT_OUT or (name == "network" and self._size is not None):
            self._skipping = True
            self.refusals.leave_out("further networks" if name == "network" else f"{name}s")
        elif name == "network":
            self._skipping = False
        elif name == "vertices" and not self._skipping:
            self._begin_vertices(rest, line)
        elif name not in ("vertices", "matrix", *LINES, *LISTS):
            raise _bad(f"the section *{name[:40]} is not known", self.path, line)
        names = [word for word in rest if not re.fullmatch(r":?\d*", word)]
        self._section, self._relation, self._row = name, names[0] if names else RELATED, 0

    def _vertex(self, word: str) -> str:
        """Return the number of a vertex as the id of its entity."""
        assert self._size is not None
        if not word.isdecimal() or not 1 <= int(word) <= self._size:
            raise ValueError(f"{word[:40]!r} is not a vertex (1 to {self._size})")
        return str(int(word))

    def _add_link(self, words: list[str], line: int) -> None:
        """Add a link of a file without sections."""
        if len(words) not in (2, 3) or not all(map(_NUMBER.fullmatch, words)):
            remedy = "for an edge list, name its format: --format tsv"
            raise BadInput("no line *Vertices", file=str(self.path), line=line, remedy=remedy)
        self.edges.add((words[0], RELATED, words[1]), line)

    def _add_line(self, words: list[str], label: str, line: int) -> None:
        """Add an arc or an edge, or those of a list."""
        if self._section in LISTS:
            for end in words[1:]:
                self._add(words[0], end, self._relation, line)
            return
        self._add(words[0], words[1], label or self._relation, line)
        if words[2:] and _NUMBER.fullmatch(words[2]):
            self.refusals.leave_out("weights of edges")

    def _add(self, head: str, tail: str, relation: str, line: int) -> None:
        ends = self._vertex(head), self._vertex(tail.lstrip("-"))
        self.edges.add((ends[0], relation, ends[1]), line)
        if self._section in ("edges", "edgeslist") and ends[0] != ends[1]:
            self.edges.add((ends[1], relation, ends[0]), line)

    def _add_row(self, words: list[str], line: int) -> None:
        self._row += 1
        head = self._vertex(str(self._row))
        if len(words) != self._size or not all(map(_NUMBER.fullmatch, words)):
            raise ValueError(f"a row of the matrix needs {self._size} numbers")
        for tail, word in enumerate(words, 1):
            if float(word):
                self.edges.add((head, self._relation, str(tail)), line)

    def _label(self, text: str) -> str:
        """Return the label of a line, which follows the letter l."""
        tokens = _words(text)[2:]
        pairs = pairwise(tokens)
        return next((q or plain for (_, key, _), (q, plain, _) in pairs if key == "l"), "")


def _words(text: str) -> list[tuple[str, str, str]]:
    """Return the words of a line as (in quotes, without, a quote too many)."""
    words = _TOKEN.findall(text)
    if any(quote for _, _, quote in words):
        raise ValueError("a quote is never closed")
    return words


def _bad(reason: str, path: Path, line: int) -> BadInput:
    remedy = "write the network again, as GraphML or as an edge list"
    return BadInput(f"bad Pajek: {reason}", file=str(path), line=line, remedy=remedy)


FORMATS.register("pajek")(Format(open=PajekSource, suffixes=(".net", ".paj")))
