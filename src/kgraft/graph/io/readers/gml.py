"""GML, the Graph Modelling Language of igraph, NetworkX and network collections.

graph [ directed 1 node [ id 1 label "Ann" ] edge [ source 1 target 2 label "knows" ] ]
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile, read_text
from kgraft.graph.io.graph_rows import GraphRows, Item
from kgraft.graph.io.readers import FORMATS
from kgraft.progress import Progress

DEPTH = 100  # lists within one another
_TOKEN = re.compile(
    r'(?P<space>\s+|#[^\n]*)|"(?P<text>[^"]*)"|(?P<open>\[)|(?P<close>\])|(?P<word>[^\s\[\]"#]+)'
)
_ENDS = ("id", "source", "target")


class Token(NamedTuple):
    """A piece of the text: its kind (text, open, close, word), its content and its line."""

    kind: str
    content: str
    line: int


class GmlSource(GraphFile):
    """A .gml file, plain or packed."""

    format = "gml"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield nodes as entities, then edges as triples."""
        text = read_text(self.path, progress)
        if text.lstrip().startswith("<"):
            reason = "this is XML (Geography Markup Language?), not the Graph Modelling Language"
            raise BadInput(reason, file=str(self.path), line=1, remedy="is it a graph?")
        rows = _GmlRows(self.path, refusals)
        edges: list[Batch] = []
        rows.undirected = True  # unless the file says otherwise
        for token in _tokens(text, self.path):
            rows.take(token)
            if rows.nodes.full:
                yield from rows.nodes.take()
            if rows.edges.full:
                edges += rows.edges.take()
        rows.finish(text.count("\n") + 1)
        yield from rows.nodes.take()
        yield from edges
        yield from rows.edges.take()


class _GmlRows(GraphRows):
    """The nodes and edges of a file, from its tokens; lists within them are counted."""

    def __init__(self, path: Path, refusals: Refusals) -> None:
        super().__init__(path, refusals)
        self._keys: list[str] = []  # of the lists that are open
        self._key = ""  # the name that waits for its value
        self._item: Item | None = None

    def take(self, token: Token) -> None:
        """Take the next token in."""
        if token.kind == "open":
            self._open(token)
        elif token.kind == "close":
            self._close(token)
        elif not self._key:
            self._key = token.content
        else:
            self._set(self._key, token)
            self._key = ""

    def finish(self, line: int) -> None:
        """Refuse a file that ends too early."""
        if self._keys or self._key:
            raise _bad("the file ends within a list", self.path, line)

    def _open(self, token: Token) -> None:
        if not self._key or len(self._keys) == DEPTH:
            raise _bad("a list without a name, or too deep", self.path, token.line)
        self._keys.append(self._key)
        if self._keys in (["graph", "node"], ["graph", "edge"]):
            self._item = Item(self._key, {}, token.line)
        elif self._item is not None:
            self.refusals.leave_out(f"nested fields of {self._item.tag}s")
        self._key = ""

    def _close(self, token: Token) -> None:
        if not self._keys or self._key:
            raise _bad("a ] too many, or a name without a value", self.path, token.line)
        self._keys.pop()
        if self._item is not None and len(self._keys) == 1:
            self.add(self._item)
            self._item = None

    def _set(self, key: str, token: Token) -> None:
        if self._keys == ["graph"] and key == "directed":
            self.undirected = token.content != "1"
        elif self._item is not None and len(self._keys) == 2:
            content = html.unescape(token.content) if token.kind == "text" else token.content
            into = self._item.attributes if key in _ENDS else self._item.values
            into[key] = content


def _tokens(text: str, path: Path) -> Iterator[Token]:
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _bad("a quote is never closed", path, line)
        kind = match.lastgroup or ""
        if kind != "space":
            yield Token(kind, match[kind], line)
        line += match[0].count("\n")
        position = match.end()


def _bad(reason: str, path: Path, line: int) -> BadInput:
    return BadInput(f"bad GML: {reason}", file=str(path), line=line, remedy="write it again")


FORMATS.register("gml")(Format(open=GmlSource, suffixes=(".gml",)))
