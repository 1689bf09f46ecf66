"""Graphviz's DOT: nodes and edges with attributes, subgraphs, and defaults for both.

    digraph { ann [label="Ann"]; ann -> {bob carl} [label=knows] }

The relation of an edge is its attribute `relation`, `type`, `label`, …, else `related to`; the
edges of a `graph` hold both ways. Names of subgraphs and attributes of graphs are left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain, pairwise, product
from pathlib import Path
from typing import NamedTuple

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile, read_text
from kgraft.graph.io.graph_rows import GraphRows, Item
from kgraft.graph.io.readers import FORMATS
from kgraft.progress import Progress

DEPTH = 100  # subgraphs within one another
MOST = 1_000_000  # edges that a file may have beyond its words: {a b} -> {c d} stands for four
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"|(?P<mark>->|--|[{}\[\];,=:+])"
    r"|(?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.])|[^\W\d]\w*|\d\w*)"
    r"|(?P<html><)",
    re.DOTALL,
)
_ANGLE = re.compile("[<>]")

Values = dict[str, str]


class Token(NamedTuple):
    """A piece of the text: its kind (text, mark, word, html), its content and its line."""

    kind: str
    content: str
    line: int


class DotSource(GraphFile):
    """A .dot or .gv file, plain or packed."""

    format = "dot"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield nodes as entities, then edges as triples."""
        tokens = list(_tokens(read_text(self.path, progress), self.path))
        reader = _DotReader(self.path, refusals, tokens)
        edges = list(reader.graphs())
        for name, node in reader.names.items():
            node.values = {key: _plain(value, name) for key, value in node.values.items()}
            reader.rows.add(node)
            if reader.rows.nodes.full:
                yield from reader.rows.nodes.take()
        yield from reader.rows.nodes.take()
        yield from edges


class _DotReader:
    """A parser that goes down into the statements."""

    def __init__(self, path: Path, refusals: Refusals, tokens: list[Token]) -> None:
        self.path, self.rows = path, GraphRows(path, refusals)
        self.names: dict[str, Item] = {}  # the nodes
        self._tokens, self._place = tokens, 0
        self._left = MOST + len(tokens)  # edges that the rest may stand for

    def graphs(self) -> Iterator[Batch]:
        """Read all graphs of the file, and yield their edges."""
        while self._next.kind != "end":
            self._keyword("strict")
            self.rows.undirected = self._keyword("graph")
            if not self.rows.undirected and not self._keyword("digraph"):
                raise self._bad("expected graph or digraph")
            if not self._is("{"):
                self._id()
            self._block({}, {}, 0)
            yield from self.rows.edges.take()

    def _block(self, node: Values, edge: Values, depth: int) -> list[str]:
        """Read what stands between braces, and return the names of its nodes."""
        if depth == DEPTH:
            raise self._bad(f"subgraphs are nested more than {DEPTH} deep")
        self._expect("{")
        inside: dict[str, None] = {}
        node, edge = dict(node), dict(edge)  # defaults hold within the braces
        while not self._is("}"):
            if self._keyword("node"):
                node |= self._attributes()
            elif self._keyword("edge"):
                edge |= self._attributes()
            elif self._keyword("graph"):
                self._attributes()
            else:
                inside |= dict.fromkeys(self._statement(node, edge, depth))
            self._skip(";", ",")
        self._expect("}")
        return list(inside)

    def _statement(self, node: Values, edge: Values, depth: int) -> list[str]:
        """Read a node, a chain of edges, a subgraph or an assignment; return the nodes named."""
        line = self._next.line
        if self._next.kind in ("word", "text") and self._tokens[self._place + 1].content == "=":
            self._place += 2
            self._id()
            return []
        ends = [self._end(node, edge, depth)]
        while self._skip("--" if self.rows.undirected else "->"):
            ends.append(self._end(node, edge, depth))
        values = self._attributes()
        if len(ends) == 1:
            for name in ends[0]:
                self.names[name].values |= values
        self._add_edges(ends, {**edge, **values}, line)
        return list(chain.from_iterable(ends))

    def _add_edges(self, ends: list[list[str]], values: Values, line: int) -> None:
        """Add the edges of a chain: from each node of an end to each of the next."""
        self._left -= sum(len(heads) * len(tails) for heads, tails in pairwise(ends))
        if self._left < 0:
            raise self._bad(f"its subgraphs stand for more than {MOST:,} edges")
        shown = {key: _plain(value) for key, value in values.items()}
        for heads, tails in pairwise(ends):
            for head, tail in product(heads, tails):
                self.rows.add(Item("edge", {"source": head, "target": tail}, line, shown))

    def _end(self, node: Values, edge: Values, depth: int) -> list[str]:
        """Read one end of an edge: a node, or the nodes of a subgraph."""
        if self._keyword("subgraph"):
            if not self._is("{"):
                self._id()
            return self._block(node, edge, depth + 1)
        if self._is("{"):
            return self._block(node, edge, depth + 1)
        line, name = self._next.line, self._id()
        while self._skip(":"):  # a port
            self._id()
        if name not in self.names:
            if not name:
                raise self._bad("a node without a name")
            self.names[name] = Item("node", {"id": name}, line, dict(node))
        return [name]

    def _attributes(self) -> Values:
        """Read lists of attributes, if any follow."""
        values: Values = {}
        while self._skip("["):
            while not self._skip("]"):
                name = self._id()
                self._expect("=")
                values[name] = self._id()
                self._skip(";", ",")
        return values

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _is(self, mark: str) -> bool:
        return self._next.kind == "mark" and self._next.content == mark

    def _skip(self, *marks: str) -> bool:
        is_next = any(map(self._is, marks))
        self._place += is_next
        return is_next

    def _keyword(self, word: str) -> bool:
        is_next = self._next.kind == "word" and self._next.content.casefold() == word
        self._place += is_next
        return is_next

    def _expect(self, mark: str) -> None:
        if not self._skip(mark):
            raise self._bad(f"expected {mark}")

    def _id(self) -> str:
        """Read a name or a value; texts may be joined by a plus."""
        if self._next.kind not in ("word", "text", "html"):
            raise self._bad("expected a name")
        name = self._next.content
        self._place += 1
        while self._is("+") and self._tokens[self._place + 1].kind == "text":
            name += self._tokens[self._place + 1].content
            self._place += 2
        return name

    def _bad(self, reason: str) -> BadInput:
        reason = f"{reason}, found {self._next.content[:40] or 'the end'!r}"
        return _bad(reason, self.path, self._next.line)


def _tokens(text: str, path: Path) -> Iterator[Token]:
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _bad(f"unexpected {text[position : position + 20]!r}", path, line)
        kind, end = match.lastgroup or "", match.end()
        content = match[kind]
        if kind == "html":
            end = _closed(text, end, path, line)
            content = re.sub(r"<[^<>]*>", " ", text[position + 1 : end - 1])
        if kind == "text":
            content = content.replace('\\"', '"').replace("\\\n", "")
        if kind != "space":
            yield Token(kind, content, line)
        line += text.count("\n", position, end)
        position = end
    yield Token("end", "", line)


def _closed(text: str, position: int, path: Path, line: int) -> int:
    """Return where a text in angle brackets ends, which may hold others."""
    depth = 1
    for bracket in _ANGLE.finditer(text, position):
        depth += 1 if bracket[0] == "<" else -1
        if not depth:
            return bracket.end()
    raise _bad("a < is never closed", path, line)


def _plain(text: str, name: str = "") -> str:
    r"""Return a value as it is drawn, in one line; `\N` is the name of the node.

    >>> _plain(r"\N\nis a &lt;boss&gt;", "Ann")
    'Ann is a <boss>'
    """
    text = re.sub(r"\\N", lambda _: name, text)
    text = re.sub(r"\\[nlr]", " ", text)
    return " ".join(html.unescape(re.sub(r"\\(.)", r"\1", text)).split())


def _bad(reason: str, path: Path, line: int) -> BadInput:
    remedy = "mend the file (dot -Tcanon says what Graphviz makes of it)"
    return BadInput(f"bad DOT: {reason}", file=str(path), line=line, remedy=remedy)


FORMATS.register("dot")(Format(open=DotSource, suffixes=(".dot", ".gv")))
