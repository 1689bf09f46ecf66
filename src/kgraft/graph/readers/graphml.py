"""GraphML and GEXF: nodes and edges with attributes, as NetworkX, Gephi, yEd and igraph write them.

The relation of an edge is its attribute `relation`, `type`, `label`, … (`column_names.RELATIONS`)
or its label in yEd, else `related to`; an undirected edge holds both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.readers.foreign import entity, relation_of, texts
from kgraft.graph.readers.gather import TableRows, TripleRows
from kgraft.graph.readers.graph_file import GraphFile
from kgraft.graph.readers.xml_events import parse_xml
from kgraft.progress import Progress

BOTH_WAYS = ("undirected", "mutual")


@dataclass
class Item:
    """A node or an edge while it is read."""

    tag: str
    attributes: dict[str, str]
    line: int
    values: dict[str, str] = field(default_factory=dict)
    label: str = ""  # drawn by yEd


class XmlGraphFile(GraphFile):
    """A .graphml or .gexf file, read as a stream."""

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield nodes as entities, then edges as triples."""
        kind = _GraphML if self.format == "graphml" else _Gexf
        rows = kind(self.path, refusals)
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


class GraphRows:
    """The nodes and edges of a file, from its elements."""

    def __init__(self, path: Path, refusals: Refusals) -> None:
        self.path, self.refusals = path, refusals
        self.nodes, self.edges = TableRows("entity", str(path)), TripleRows(str(path))
        self.root = ""
        self.items: list[Item] = []
        self.undirected = False

    def add(self, item: Item) -> None:
        """Take a node or an edge in that is complete."""
        if item.tag == "node":
            self._add_node(item)
        else:
            self._add_edge(item)

    def _add_node(self, item: Item) -> None:
        name = item.attributes.get("id", "")
        if not name:
            self._refuse("a node without an id", item)
            return
        said = {k if k != "id" else "id attribute": v for k, v in item.values.items() if v}
        row, _, notes = entity({"id": name, **said})
        row |= {column: texts(row[column]) for column in ("aliases", "types") if column in row}
        if item.label and not row.get("label"):
            row["label"] = item.label
        for note in notes:
            self.refusals.note(f"{self.path.name}: {note}")
        self.nodes.add(row, item.line)

    def _add_edge(self, item: Item) -> None:
        head, tail = (item.attributes.get(end, "") for end in ("source", "target"))
        if not head or not tail:
            self._refuse("an edge without source and target", item)
            return
        relation, used = relation_of(item.values, item.label)
        if used and used != "relation":
            self.refusals.note(f"{self.path.name}: {used!r} of edges read as relation")
        for name, value in item.values.items():
            if name != used and value:
                self.refusals.leave_out(f"values of {name!r} of edges")
        self.edges.add((head, relation, tail), item.line)
        if self.both_ways(item) and head != tail:
            self.edges.add((tail, relation, head), item.line)

    def both_ways(self, item: Item) -> bool:
        """Whether an edge holds both ways: as it says itself, or else as the graph says."""
        directed = item.attributes.get("directed")
        return directed == "false" if directed else self.undirected

    def _refuse(self, kind: str, item: Item) -> None:
        self.refusals.refuse(
            kind, file=str(self.path), line=item.line, text=str(item.attributes)[:200]
        )


class _GraphML(GraphRows):
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


class _Gexf(GraphRows):
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
            for known in ("label", "kind"):
                if attributes.get(known):
                    item.values[known] = attributes[known]
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


class GraphmlSource(XmlGraphFile):
    """A .graphml file."""

    format = "graphml"


class GexfSource(XmlGraphFile):
    """A .gexf file."""

    format = "gexf"
