"""Readers: one a format, all handing the same batches to the builder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graph.batches import Source
from kgraft.graph.folder import MANIFEST
from kgraft.graph.readers.stream import open_bytes, plain_suffix
from kgraft.graph.readers.tsv import TsvSource, triple_files
from kgraft.progress import Silent

FORMATS = ("tsv", "rdf", "wikidata", "wordnet", "jsonl", "parquet")
_WIKIDATA_KEYS = re.compile(rb'"type"\s*:\s*"(item|property|lexeme)"|"entities"\s*:\s*[{]')
_RDF_SUFFIXES = (".nt", ".nq", ".ttl", ".trig", ".rdf", ".owl", ".xml", ".jsonld")

__all__ = ["FORMATS", "find_format", "open_source"]


def open_source(path: str | Path, *, format: str | None = None, lang: str = "en") -> Source:
    """Open a file or folder to import; its format is found by itself where it is not named."""
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", file=str(path), remedy="check the path")
    match format or find_format(path):
        case "tsv":
            return TsvSource(path)
        case "rdf":
            from kgraft.graph.readers.rdf import RdfSource

            return RdfSource(path, lang=lang)
        case "wikidata":
            from kgraft.graph.readers.wikidata import WikidataSource

            return WikidataSource(path, lang=lang)
        case "wordnet":
            from kgraft.graph.readers.wordnet import WordNetSource

            return WordNetSource(path)
        case "jsonl":
            from kgraft.graph.readers.jsonl import JsonlSource

            return JsonlSource(path)
        case "parquet":
            from kgraft.graph.readers.tables import parquet_source

            return parquet_source(path)
    raise BadInput(f"unknown format {format!r}", remedy=f"formats are {', '.join(FORMATS)}")


def find_format(path: Path) -> str:
    """Return the format of a file or folder, from its name and its first bytes."""
    if path.is_dir():
        return _folder_format(path)
    suffix = plain_suffix(path)
    if suffix in _RDF_SUFFIXES:
        return "rdf"
    if suffix in (".tsv", ".csv", ".txt"):
        return "tsv"
    if suffix in (".json", ".jsonl", ".ndjson"):
        return "wikidata" if _looks_like_wikidata(path) else "jsonl"
    remedy = f"name it with --format ({', '.join(FORMATS)})"
    raise BadInput("its format is not known by its name", file=str(path), remedy=remedy)


def _folder_format(folder: Path) -> str:
    if (folder / "data.noun").is_file():
        return "wordnet"
    if (folder / "triples.parquet").is_file():
        return "parquet"
    if triple_files(folder):
        return "tsv"
    if (folder / MANIFEST).is_file():
        remedy = f"look at it with: kgraft graph info {folder}"
        raise BadInput("this is a graph already", file=str(folder), remedy=remedy)
    raise BadInput(
        "no graph is recognised in this folder",
        file=str(folder),
        remedy="it needs train.tsv or triples.tsv, triples.parquet, or WordNet's data.noun",
    )


def _looks_like_wikidata(path: Path) -> bool:
    """Whether the first entity is one of Wikidata's: labels are objects by language."""
    with open_bytes(path, Silent()) as stream:
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
