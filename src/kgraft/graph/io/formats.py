"""Formats: how a file or folder is recognised, and what opens it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph.batches import Source
from kgraft.graph.folder import MANIFEST
from kgraft.graph.io.options import SourceOptions, Undeclared
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.structure import BlankNodes
from kgraft.streams import plain_suffix

_ENDPOINT = re.compile(r"^https?://", re.IGNORECASE)
_TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")


class Sign(IntEnum):
    """What a format is recognised by where the suffix does not tell, the surest sign first."""

    MARK = 0  # something that no other format has
    NAMES = 1  # files in a folder that are named as the format names them
    SUFFIX = 2  # a file in a folder with a suffix of the format
    CONTENT = 3  # the columns of tables, the keys of objects
    FALLBACK = 4  # whatever no other format reads


@dataclass(frozen=True)
class Format:
    """A format to import, registered in `kgraft.graph.io.readers` by the file of its name.

    A file with one of the `suffixes` (in small letters, without .gz or .bz2) is of the format.
    Other files, and folders, are of the format with the surest sign: `signs` holds a test for each
    sign that it may show.
    """

    open: Callable[[Path, SourceOptions], Source]
    suffixes: tuple[str, ...] = ()
    signs: Mapping[Sign, Callable[[Path], object]] = field(default_factory=dict)


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
    """Open a file or folder to import; its format is recognised where it is not named.

    `columns` names the columns of a table by their role (`{"head": "person", "tail": "2"}`, by name
    or number), `header` says whether its first row is one. Entities that triples name and no row
    declares are added; with `undeclared="refuse"` such triples are refused. `blank_nodes` is for
    RDF: a blank node without a name is folded into the one node that leads to it, kept as an
    entity, or dropped. `external_ids` is for Wikidata: the ids that other sites have for its items
    are kept as values. A path that begins with http is a SPARQL endpoint; `query` is what it is
    asked, or the file that holds it.
    """
    options = SourceOptions(columns or {}, header, undeclared, lang, blank_nodes, external_ids)
    if _ENDPOINT.match(str(path)):
        from kgraft.graph.io.rdf.endpoint import SparqlSource

        return SparqlSource(str(path), query, lang=lang)
    if query is not None:
        remedy = "name an address that begins with https://"
        raise BadInput("only a SPARQL endpoint takes a query", file=str(path), remedy=remedy)
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", file=str(path), remedy="check the path")
    return FORMATS[format or find_format(path)].open(path, options)


def find_format(path: Path) -> str:
    """Return the name of the format of a file or folder, by its name and its content."""
    is_folder = path.is_dir()
    suffix = "" if is_folder else plain_suffix(path)
    formats = {name: FORMATS[name] for name in FORMATS}
    for name, format in formats.items():
        if suffix in format.suffixes:
            return name
    for sign in Sign:
        if is_folder and sign == Sign.CONTENT:
            _refuse_graph(path)
        for name, format in formats.items():
            if sign in format.signs and format.signs[sign](path):
                return name
    if is_folder:
        raise _no_graph(path)
    remedy = f"name its format, one of {', '.join(formats)}"
    raise BadInput("its format is not recognised by its name", file=str(path), remedy=remedy)


def _refuse_graph(folder: Path) -> None:
    if (folder / MANIFEST).is_file():
        remedy = f"look at it with: kgraft graph info {folder}"
        raise BadInput("this is a graph already", file=str(folder), remedy=remedy)


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
