"""GraphML: nodes and edges with attributes, as NetworkX, yEd, igraph and Neo4j write them."""

from __future__ import annotations

from pathlib import Path

from kgraft.graph.batches import Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_rows import Item
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.xml_graph import XmlGraphFile, XmlGraphRows


class _GraphmlRows(XmlGraphRows):
    def __init__(self, path: Path, refusals: Refusals) -> None:
        super().__init__(path, refusals)
        self.keys: dict[str, str] = {}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._key: dict[str, str] = {}
        self._data = ""  # the key of the value that is being read
        self._texts: list[str] | None = None

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        self.root = self.root or name
        if name == "key":
            self._key = attributes
            self.keys[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif name == "graph":
            if self.items:
                self.refusals.leave_out("groups of nodes")
            self.undirected = attributes.get("edgedefault") == "undirected"
        elif name in ("node", "edge"):
            self.items.append(Item(name, attributes, line, dict(self.defaults[name])))
            self._graph_attributes(self.items[-1])
        elif name in ("hyperedge", "port"):
            self.refusals.leave_out(f"{name}s")
        elif name == "data":
            self._data, self._texts = attributes.get("key", ""), []
        elif name in ("NodeLabel", "EdgeLabel", "desc", "default"):
            self._texts = []

    def _graph_attributes(self, item: Item) -> None:
        """Take in what Neo4j's APOC says in attributes of nodes and edges."""
        if item.tag == "node" and "labels" in item.attributes:
            item.values["types"] = item.attributes["labels"].strip(":").replace(":", "|")
        if item.tag == "edge" and "label" in item.attributes:
            item.values["relation"] = item.attributes["label"]

    def text(self, text: str) -> None:
        if self._texts is not None:
            self._texts.append(text)

    def end(self, name: str) -> None:
        if name in ("data", "default", "desc", "NodeLabel", "EdgeLabel"):
            text = " ".join("".join(self._texts or []).split())
            self._texts = None
            self._take(name, text)
        elif name in ("node", "edge") and self.items:
            self.add(self.items.pop())

    def _take(self, name: str, text: str) -> None:
        item = self.items[-1] if self.items else None
        if name == "default":
            self._set_default(text)
        elif item is None or not text:
            return
        elif name == "data":
            key = self.keys.get(self._data) or self._data
            if key == "labels" and text.startswith(":"):
                key, text = "types", text.strip(":").replace(":", "|")
            if not (item.tag == "edge" and key == "label" and "relation" in item.values):
                item.values[key] = text
        elif name == "desc":
            item.values["description"] = text
        elif not item.label:
            item.label = text

    def _set_default(self, text: str) -> None:
        name = self._key.get("attr.name", "")
        for tag in self.defaults:
            if name and text and self._key.get("for") in (tag, "all"):
                self.defaults[tag][name] = text


class GraphmlSource(XmlGraphFile):
    """A .graphml file."""

    format = "graphml"
    rows_class = _GraphmlRows


FORMATS.register("graphml")(Format(open=GraphmlSource, suffixes=(".graphml",)))
