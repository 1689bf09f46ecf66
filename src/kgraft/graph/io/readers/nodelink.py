"""Graphs in one JSON document: nodes and links as NetworkX, D3, Cytoscape, OBO Graphs write them.

    {"directed": false, "nodes": [{"id": 1, "name": "Ann"}], "links": [{"source": 1, "target": 2}]}

The lists may be called `edges` or `relationships`, and stand within `graph`, `elements` or the
first of `graphs`; where nodes have no id, links name them by their place. In Hetionet's, links name
them by kind and identifier (`["Gene", 1576]`), which become the id `Gene::1576`, and say in
`direction` how they are meant. An array of objects is read as rows of JSON Lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.foreign import edge, entity, plain
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.graph_file import GraphFile
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.column_names import edge_columns
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.graph.io.wikidata.json_entities import WIKIDATA_KEYS
from kgraft.progress import Progress, Silent
from kgraft.streams import BOM, open_bytes, plain_suffix

LARGEST = 1 << 30  # bytes of a document, which is read at once
_START = 1 << 16  # bytes that tell what a document holds
NODES = ("nodes", "vertices")
EDGES = ("links", "edges", "relationships")
HETNET_WAYS = ("both", "forward", "backward")
_WORDS = {"sub": "source", "obj": "target", "pred": "relation", "lbl": "label", "nodeType": "type"}

Object = dict[str, Any]


class NodeLinkSource(GraphFile):
    """A .json file, plain or packed, that holds one graph."""

    format = "nodelink"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield nodes as entities, then links as triples; a place in a list counts as a line."""
        document = _read(self.path, progress)
        nodes, edges, graph = _lists(document, self.path)
        reader = _Items(self.path, refusals, _ids(nodes, edges))
        yield from self._entities(reader, nodes)
        default = "both" if graph.get("directed") is False else "forward"
        yield from self._triples(reader, edges, default)

    def _entities(self, reader: _Items, nodes: list[Any]) -> Iterator[Batch]:
        rows = TableRows("entity", str(self.path))
        for number, node in enumerate(nodes, 1):
            if row := reader.node(node, number):
                rows.add(row, number)
            if rows.full:
                yield from rows.take()
        yield from rows.take()

    def _triples(self, reader: _Items, edges: list[Any], default: str) -> Iterator[Batch]:
        """Yield links as triples; `default` is the way of those that do not say it."""
        triples = TripleRows(str(self.path))
        for number, link in enumerate(edges, 1):
            if (triple := reader.edge(link, number)) is None:
                continue
            way = _way(link) or default
            if way != "backward":
                triples.add(triple, number)
            if way == "backward" or (way == "both" and triple[0] != triple[2]):
                triples.add(triple[::-1], number)
            if triples.full:
                yield from triples.take()
        yield from triples.take()


class _Items:
    """Nodes and links as rows; anything else is refused."""

    def __init__(self, path: Path, refusals: Refusals, ids: list[str] | None) -> None:
        self.path, self.refusals, self.ids = path, refusals, ids

    def node(self, value: object, number: int) -> dict[str, Any] | None:
        """Return the row of a node."""
        fields = _flat(value)
        if fields is not None and self.ids is not None:
            fields = {**fields, "id": self.ids[number - 1]}
        if fields is None:
            self._refuse("a node is not an object", value, number)
            return None
        row, _, notes = entity(fields)
        if not isinstance(row.get("id"), str) or not row["id"]:
            self._refuse("a node without an id", value, number)
            return None
        self._note(notes)
        return {name: taken for name, fields in row.items() if (taken := self._cell(name, fields))}

    def _cell(self, name: str, cell: object) -> object:
        """Return what a column takes, and count what is left out."""
        if name in ("aliases", "types"):
            items = cell if isinstance(cell, list) else [cell]
            return [item for item in map(plain, items) if isinstance(item, str) and item]
        if isinstance(cell, bool):
            return json.dumps(cell)
        cell = plain(cell)
        if cell is None or isinstance(cell, str):
            return cell
        self.refusals.leave_out("nested fields of nodes")
        return None

    def edge(self, value: object, number: int) -> tuple[str, str, str] | None:
        """Return the triple of a link."""
        fields = _flat(value)
        if fields is None or edge_columns(list(fields)) is None:
            self._refuse("a link without source and target", value, number)
            return None
        row, _, notes = edge({name: self._end(v) for name, v in fields.items()})
        parts = row["head"], row["relation"], row["tail"]
        if not all(isinstance(part, str) and part for part in parts):
            self._refuse("a link without source and target", value, number)
            return None
        self._note(notes)
        if others := len(row) - 3 - (_way(fields) is not None):
            self.refusals.leave_out("other fields of links", others)
        return parts

    def _end(self, value: object) -> object:
        """Return a value of a link; an end may be the node itself, or its place."""
        if isinstance(value, dict):
            return value.get("id", value.get("name"))
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if self.ids is not None and is_number and 0 <= int(str(value)) < len(self.ids):
            return self.ids[int(str(value))]
        return value

    def _note(self, notes: list[str]) -> None:
        for note in notes:
            self.refusals.note(f"{self.path.name}: {note}")

    def _refuse(self, kind: str, value: object, number: int) -> None:
        text = json.dumps(value)[:200]
        self.refusals.refuse(kind, file=str(self.path), line=number, detail=text[:80], text=text)


def is_node_link(start: str) -> bool:
    """Whether the beginning of a JSON file is that of one document, or says that it is a graph.

    >>> is_node_link('{"directed": true, "nodes": ['), is_node_link('{"id": "a"}')
    (True, False)
    """
    start = start.lstrip()
    if not start.startswith("{") or '"claims"' in start or '"entities"' in start:
        return False
    lists = any(f'"{name}"' in start for name in (*NODES, *EDGES, "graphs", "elements"))
    first = start.partition("\n")[0].rstrip()
    return lists or first in ("{", "{}") or first.endswith((",", "[", "{"))


def _read(path: Path, progress: Progress) -> object:
    with open_bytes(path, progress) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        reason = f"the document is larger than {LARGEST >> 20} MiB"
        raise BadInput(reason, file=str(path), remedy="write it as JSON Lines, a row per line")
    try:
        text = data.removeprefix(BOM).decode()
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is not text
        return value
    except UnicodeError as error:
        reason = "a character is no UTF-8, or half of a surrogate pair"
        raise BadInput(reason, file=str(path), remedy="convert it to UTF-8") from error
    except RecursionError as error:
        raise BadInput("nested too deeply", file=str(path), remedy="is it a graph?") from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        reason = f"bad JSON: {' '.join(str(error).split())[:200]}"
        raise BadInput(reason, file=str(path), line=line, remedy="write the file again") from error


def _lists(document: object, path: Path) -> tuple[list[object], list[object], Object]:
    """Return the nodes, the links, and the object that holds them."""
    graph = document
    if isinstance(graph, list):
        return *_sorted(graph), {}
    if isinstance(graph, dict) and isinstance(graph.get("graphs"), list) and graph["graphs"]:
        graph = graph["graphs"][0]
    for name in ("graph", "elements"):
        inner = graph.get(name) if isinstance(graph, dict) else None
        if isinstance(inner, list):
            return *_sorted(inner), {}
        if isinstance(inner, dict) and any(key in inner for key in (*NODES, *EDGES)):
            graph = inner
    if isinstance(graph, dict) and (lists := _named_lists(graph)) is not None:
        return *lists, graph
    remedy = 'it needs lists "nodes" and "links" (or "edges")'
    raise BadInput("no graph is recognised in the document", file=str(path), remedy=remedy)


def _named_lists(graph: Object) -> tuple[list[object], list[object]] | None:
    """Return the nodes and the links that an object lists under their names, if it does."""
    nodes = next((graph[name] for name in NODES if name in graph), None)
    edges = next((graph[name] for name in EDGES if name in graph), None)
    if isinstance(nodes, dict):
        nodes = [
            {"id": key, **value} if isinstance(value, dict) else value
            for key, value in nodes.items()
        ]
    if isinstance(nodes, list) and isinstance(edges, (list, type(None))):
        return nodes, edges or []
    return ([], edges) if isinstance(edges, list) and nodes is None else None


def _sorted(items: list[Any]) -> tuple[list[object], list[object]]:
    """Return the nodes and links of one list that holds both."""
    flat = [_flat(item) or {} for item in items]
    links = [edge_columns(list(item)) is not None for item in flat]
    nodes = [item for item, link in zip(items, links, strict=True) if not link]
    return nodes, [item for item, link in zip(items, links, strict=True) if link]


def _flat(value: object) -> Object | None:
    """Return a node or link with its fields side by side, those of OBO Graphs by their words."""
    if not isinstance(value, dict):
        return None
    fields: Object = dict(value)
    for name in ("data", "attributes"):
        if isinstance(fields.get(name), dict):
            fields |= fields.pop(name)
    if "key" in fields and "id" not in fields and edge_columns(list(fields)) is None:
        fields["id"] = fields.pop("key")
    if {"sub", "obj"} <= fields.keys() or "lbl" in fields:
        fields = {_WORDS.get(name, name): v for name, v in fields.items()}
    fields = _hetnet(fields)
    meta = fields.get("meta")
    if isinstance(meta, dict):
        fields = {**{k: v for k, v in fields.items() if k != "meta"}, **_meta(meta)}
    return fields


def _hetnet(fields: Object) -> Object:
    """Return a node or link of Hetionet with ids made of kinds and identifiers."""
    if isinstance(fields.get("kind"), str) and "identifier" in fields and "id" not in fields:
        fields = {**fields, "id": f"{fields['kind']}::{plain(fields['identifier'])}"}
        del fields["identifier"]
    for name in ("source_id", "target_id"):
        match fields.get(name):
            case [str(kind), str() | int() as identifier]:
                fields = {**fields, name: f"{kind}::{plain(identifier)}"}
    return fields


def _way(link: object) -> str | None:
    """Return which way a link of Hetionet holds, where it says so."""
    way = link.get("direction") if isinstance(link, dict) and "source_id" in link else None
    return way if way in HETNET_WAYS else None


def _meta(meta: Mapping[str, Any]) -> Object:
    """Return the definition and the synonyms of a node of OBO Graphs."""
    definition, synonyms = meta.get("definition"), meta.get("synonyms")
    fields: Object = {}
    if isinstance(definition, dict) and isinstance(definition.get("val"), str):
        fields["description"] = definition["val"]
    if isinstance(synonyms, list):
        values = (item.get("val") for item in synonyms if isinstance(item, dict))
        fields["aliases"] = [value for value in values if isinstance(value, str)]
    return fields


def _ids(nodes: list[object], edges: list[object]) -> list[str] | None:
    """Return ids for nodes that have none: their names where all differ, else their places."""
    flat = [_flat(node) for node in nodes]
    if not nodes or any(node is None or "id" in node for node in flat):
        return None
    named = [entity(node)[0] for node in flat if node is not None]
    if all("id" in row for row in named) and not _by_place(edges):
        return None
    labels = [row.get("label") for row in named]
    if all(isinstance(label, str) and label for label in labels) and len(set(labels)) == len(nodes):
        return [str(label) for label in labels]
    return [str(number) for number in range(len(nodes))]


def _by_place(edges: list[object]) -> bool:
    """Whether links name their nodes by whole numbers."""
    flat = [_flat(link) or {} for link in edges[:100]]
    ends = [link[name] for link in flat for name in ("source", "target") if name in link]
    return bool(ends) and all(isinstance(end, int) for end in ends)


def _holds_graph(path: Path) -> bool:
    """Whether a JSON file holds one graph, or an array of rows that are not Wikidata's."""
    if path.is_dir() or plain_suffix(path) != ".json":
        return False
    with open_bytes(path, Silent()) as stream:
        start = stream.read(_START).removeprefix(BOM).decode("utf-8", errors="replace")
    if WIKIDATA_KEYS.search(start.encode()) or '"claims"' in start:
        return False
    if re.match(r"\s*\[\s*\{", start):
        return True
    return is_node_link(start)


FORMATS.register("nodelink")(Format(open=NodeLinkSource, signs={Sign.CONTENT: _holds_graph}))
