"""The nodes and edges of a graph document as rows: what GraphML, GEXF, GML and DOT have in common.

The relation of an edge is its attribute `relation`, `type`, `label`, … (`column_names.RELATIONS`)
or the label drawn on it, else `related to`; an undirected edge holds both ways.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kgraft.graph.batches import Refusals
from kgraft.graph.io.foreign import entity, relation_of, texts
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows


@dataclass
class Item:
    """A node or an edge while it is read."""

    tag: str
    attributes: dict[str, str]
    line: int
    values: dict[str, str] = field(default_factory=dict)
    label: str = ""  # drawn by yEd


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
        filled = {k if k != "id" else "id attribute": v for k, v in item.values.items() if v}
        row, _, notes = entity({"id": name, **filled})
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
