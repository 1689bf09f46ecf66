"""Readers: one a format, all handing the same batches to the builder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graph.batches import Source
from kgraft.graph.folder import MANIFEST
from kgraft.graph.readers.column_names import TableOptions, Undeclared
from kgraft.graph.readers.nodelink import is_node_link
from kgraft.graph.readers.sparql import SparqlSource, is_endpoint
from kgraft.graph.readers.stream import BOM, open_bytes, plain_suffix
from kgraft.graph.readers.tsv import TsvSource, table_files, triple_files
from kgraft.graph.structure import BLANK_NODES, BlankNodes
from kgraft.progress import Silent

FORMATS = (
    *("tsv", "rdf", "wikidata", "wordnet", "jsonl", "parquet"),
    *("xlsx", "graphml", "gexf", "gml", "pajek", "dot", "obo", "nodelink", "sql"),
)
_SUFFIXES = {
    **dict.fromkeys((".tsv", ".csv", ".txt", ".edges", ".edgelist"), "tsv"),
    **{f".{name}": name for name in ("parquet", "xlsx", "graphml", "gexf", "gml", "obo")},
    **dict.fromkeys((".net", ".paj"), "pajek"),
    **dict.fromkeys((".dot", ".gv"), "dot"),
    ".toml": "sql",
}
_RDF_SUFFIXES = (
    *(".nt", ".nq", ".ttl", ".trig", ".rdf", ".owl", ".xml", ".jsonld"),
    *(".n3", ".ntriples", ".nquads", ".turtle", ".ontology", ".owx", ".zip"),
)
_TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
_WIKIDATA_KEYS = re.compile(rb'"type"\s*:\s*"(item|property|lexeme)"|"entities"\s*:\s*[{]')
_START = 1 << 16  # bytes that tell what a JSON document holds

__all__ = ["FORMATS", "find_format", "open_source"]


def open_source(
    path: str | Path,
    *,
    format: str | None = None,
    lang: str = "en",
    blank_nodes: BlankNodes = "fold",
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    undeclared: Undeclared = "add",
    query: str | Path | None = None,
    external_ids: bool = False,
) -> Source:
    """Open a file or folder to import; its format is found by itself where it is not named.

    `columns` names the columns of a table by their role (`{"head": "person", "tail": "2"}`, by name
    or number), `header` says whether its first row is one. Entities that triples name and no row
    declares are added; with `undeclared="refuse"` such triples are refused. `blank_nodes` is for
    RDF: a blank node without a name is folded into the one node that leads to it, kept as an
    entity, or dropped. `external_ids` is for Wikidata: the ids that other sites have for its items
    are kept as values. A path that begins with http is a SPARQL endpoint; `query` is what it is
    asked, or the file that holds it.
    """
    _check_blank_nodes(blank_nodes)
    if is_endpoint(str(path)):
        return SparqlSource(str(path), query, lang=lang)
    if query is not None:
        remedy = "name an address that begins with https://"
        raise BadInput("only a SPARQL endpoint takes a query", file=str(path), remedy=remedy)
    options = TableOptions(columns or {}, header, undeclared)
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", file=str(path), remedy="check the path")
    match format or find_format(path):
        case "tsv":
            return TsvSource(path, options)
        case "rdf":
            from kgraft.graph.readers.rdf_files import open_rdf

            return open_rdf(path, lang=lang, blank_nodes=blank_nodes)
        case "wikidata":
            from kgraft.graph.readers.wikidata import WikidataSource

            return WikidataSource(path, lang=lang, external_ids=external_ids)
        case "wordnet":
            from kgraft.graph.readers.wordnet import WordNetSource

            return WordNetSource(path)
        case "jsonl":
            from kgraft.graph.readers.jsonl import JsonlSource

            return JsonlSource(path, options)
        case "parquet":
            from kgraft.graph.readers.tables import parquet_source

            return parquet_source(path, options)
        case name:
            return _open_document(path, name, options)


def _open_document(path: Path, format: str, options: TableOptions) -> Source:
    """Open a file that holds a whole graph."""
    match format:
        case "xlsx":
            from kgraft.graph.readers.excel import ExcelSource

            return ExcelSource(path, options)
        case "graphml":
            from kgraft.graph.readers.graphml import GraphmlSource

            return GraphmlSource(path, options)
        case "gexf":
            from kgraft.graph.readers.graphml import GexfSource

            return GexfSource(path, options)
        case "gml":
            from kgraft.graph.readers.gml import GmlSource

            return GmlSource(path, options)
        case "pajek":
            from kgraft.graph.readers.pajek import PajekSource

            return PajekSource(path, options)
        case "dot":
            from kgraft.graph.readers.dot import DotSource

            return DotSource(path, options)
        case "obo":
            from kgraft.graph.readers.obo import OboSource

            return OboSource(path, options)
        case "nodelink":
            from kgraft.graph.readers.nodelink import NodeLinkSource

            return NodeLinkSource(path, options)
        case "sql":
            from kgraft.graph.readers.databases import DatabaseSource

            return DatabaseSource(path, options)
    raise BadInput(f"unknown format {format!r}", remedy=f"formats are {', '.join(FORMATS)}")


def _check_blank_nodes(treatment: str) -> None:
    if treatment not in BLANK_NODES:
        remedy = f"use one of {', '.join(BLANK_NODES)}"
        raise BadInput(f"unknown treatment of blank nodes {treatment!r}", remedy=remedy)


def find_format(path: Path) -> str:
    """Return the format of a file or folder, from its name and its first bytes."""
    if path.is_dir():
        return _folder_format(path)
    suffix = plain_suffix(path)
    if suffix in _RDF_SUFFIXES:
        return "rdf"
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix == ".json" and _looks_like_json_ld(path):
        return "rdf"
    if suffix in (".json", ".jsonl", ".ndjson"):
        if _looks_like_graph(path):
            return "nodelink"
        return "wikidata" if _looks_like_wikidata(path) else "jsonl"
    remedy = f"name it with --format ({', '.join(FORMATS)})"
    raise BadInput("its format is not known by its name", file=str(path), remedy=remedy)


def _folder_format(folder: Path) -> str:
    from kgraft.graph.readers.jsonl import jsonl_files
    from kgraft.graph.readers.tables import parquet_files

    if (folder / "data.noun").is_file():
        return "wordnet"
    if "triples" in parquet_files(folder):
        return "parquet"
    if triple_files(folder):
        return "tsv"
    if any(plain_suffix(file) in _RDF_SUFFIXES for file in folder.iterdir() if file.is_file()):
        return "rdf"
    if (folder / MANIFEST).is_file():
        remedy = f"look at it with: kgraft graph info {folder}"
        raise BadInput("this is a graph already", file=str(folder), remedy=remedy)
    if table_files(folder):
        return "tsv"
    if jsonl_files(folder):
        return "jsonl"
    raise _no_graph(folder)


def _no_graph(folder: Path) -> BadInput:
    """Return the error for a folder without a graph, or with tables that say too little."""
    tables = sorted(f.name for f in folder.iterdir() if plain_suffix(f) in _TABLE_SUFFIXES)
    reason = "no graph is recognised in this folder"
    remedy = (
        "it needs train.tsv, triples.tsv or edges.csv, triples.parquet, JSON Lines, RDF, "
        "or WordNet's data.noun"
    )
    if tables:
        reason += f" by the names and columns of {', '.join(tables)[:100]}"
        remedy = (
            "import the table of triples alone, with --columns head=1,tail=2 (and --no-header "
            "where it has none), or name the tables edges.csv and nodes.csv (.tsv, .parquet)"
        )
    return BadInput(reason, file=str(folder), remedy=remedy)


def _looks_like_graph(path: Path) -> bool:
    """Whether a JSON file holds one graph, or an array of rows that are not Wikidata's."""
    if plain_suffix(path) != ".json":
        return False
    with open_bytes(path, Silent()) as stream:
        start = stream.read(_START).removeprefix(BOM).decode("utf-8", errors="replace")
    if _WIKIDATA_KEYS.search(start.encode()) or '"claims"' in start:
        return False
    if re.match(r"\s*\[\s*\{", start):
        return True
    return is_node_link(start)


def _looks_like_json_ld(path: Path) -> bool:
    """Whether one of JSON-LD's keywords stands near the beginning of a file."""
    with open_bytes(path, Silent()) as stream:
        return re.search(rb'"@(?:context|graph|id)"\s*:', stream.peek(1 << 12)) is not None


def _looks_like_wikidata(path: Path) -> bool:
    """Whether the first entity is one of Wikidata's: labels are objects by language."""
    with open_bytes(path, Silent(), lines=True) as stream:
        for _ in range(3):
            line = stream.readline().strip().rstrip(b",")
            if line == b"{":  # an object over several lines, which JSON Lines have not
                return _WIKIDATA_KEYS.search(stream.read(1 << 16)) is not None
            if line not in (b"", b"["):
                return _is_wikidata_entity(line)
    return False


def _is_wikidata_entity(line: bytes) -> bool:
    try:
        item: Any = json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b"[") or b'"claims"' in line
    if isinstance(item, dict) and isinstance(item.get("entities"), dict):
        return "type" not in item  # an answer of the API
    if isinstance(item, list) and item:
        item = item[0]
    return isinstance(item, dict) and item.get("type") in ("item", "property", "lexeme")
