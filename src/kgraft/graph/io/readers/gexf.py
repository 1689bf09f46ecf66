"""GEXF: nodes and edges with attributes, as Gephi writes them."""

from __future__ import annotations

from pathlib import Path

from kgraft.graph.batches import Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_rows import Item
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.xml_graph import XmlGraphFile, XmlGraphRows

BOTH_WAYS = ("undirected", "mutual")


class _GexfRows(XmlGraphRows):
    def __init__(self, path: Path, refusals: Refusals) -> None:
        super().__init__(path, refusals)
        self._class = ""
        self._titles: dict[tuple[str, str], str] = {}

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        self.root = self.root or name
        if name == "graph":
            self.undirected = attributes.get("defaultedgetype", "undirected") in BOTH_WAYS
        elif name == "attributes":
            self._class = attributes.get("class", "")
        elif name == "attribute":
            title = attributes.get("title") or attributes.get("id", "")
            self._titles[self._class, attributes.get("id", "")] = title
        elif name in ("node", "edge"):
            item = Item(name, attributes, line)
            for field in ("label", "kind"):
                if attributes.get(field):
                    item.values[field] = attributes[field]
            if "pid" in attributes or (name == "node" and self.items):
                self.refusals.leave_out("groups of nodes")
            self.items.append(item)
        elif name == "attvalue" and self.items:
            self._take(self.items[-1], attributes)

    def _take(self, item: Item, attributes: dict[str, str]) -> None:
        key = attributes.get("for") or attributes.get("id", "")
        title = self._titles.get((item.tag, key)) or key
        if title and attributes.get("value"):
            item.values.setdefault(title, attributes["value"])

    def text(self, text: str) -> None:
        """Texts mean nothing in GEXF."""

    def end(self, name: str) -> None:
        if name in ("node", "edge") and self.items:
            self.add(self.items.pop())

    def both_ways(self, item: Item) -> bool:
        return item.attributes.get("type", "undirected" if self.undirected else "") in BOTH_WAYS


class GexfSource(XmlGraphFile):
    """A .gexf file."""

    format = "gexf"
    rows_class = _GexfRows


FORMATS.register("gexf")(Format(open=GexfSource, suffixes=(".gexf",)))
