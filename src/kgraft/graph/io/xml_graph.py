"""Graph documents in XML, read as a stream of elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.graph_file import GraphFile
from kgraft.graph.io.graph_rows import GraphRows
from kgraft.graph.io.xml_events import parse_xml
from kgraft.progress import Progress


class XmlGraphRows(GraphRows, ABC):
    """The nodes and edges of a file, from its elements as they come."""

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Begin an element."""

    @abstractmethod
    def text(self, text: str) -> None:
        """Take a piece of the text in the open element."""

    @abstractmethod
    def end(self, name: str) -> None:
        """End an element."""


class XmlGraphFile(GraphFile):
    """A file of a graph in XML; a format names the class that reads its elements."""

    rows_class: ClassVar[type[XmlGraphRows]]

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield nodes as entities, then edges as triples."""
        rows = self.rows_class(self.path, refusals)
        edges: list[Batch] = []
        for _ in parse_xml(self.path, rows, progress):
            if rows.nodes.full:
                yield from rows.nodes.take()
            if rows.edges.full:
                edges += rows.edges.take()
        if rows.root != self.format:
            reason = f"its first element is <{rows.root}>, not <{self.format}>"
            raise BadInput(reason, file=str(self.path), remedy="name its format with --format")
        yield from rows.nodes.take()
        yield from edges
        yield from rows.edges.take()
