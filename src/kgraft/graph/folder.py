"""The folder a graph lives in: Arrow files and a manifest, written beside and renamed.

A folder without a manifest is not a graph. The manifest is written last, into a folder of another
name that takes its final name in one step, so a crash leaves no graph or a whole one.
"""

from __future__ import annotations

import hashlib
import operator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgraft.errors import BadGraph, NotFound
from kgraft.json_text import read_json_file, to_json
from kgraft.storage import Kind, changed_file, check_kinds, flush, put_back

FORMAT = 1
MANIFEST = "manifest.json"
BUILT_IN = Path(__file__).parent.parent / "data"
GRAPH = Kind("graph", MANIFEST)
CONTENT = ("entities", "relations", "triples")  # the tables that all others are derived from
TABLES = (
    *CONTENT,
    *("bounds", "edges", "ids", "id_buckets"),
    *("aliases", "alias_bounds", "candidates", "phrases", "phrase_buckets"),
    *("words", "word_buckets", "postings"),
)
# Tables that older graphs lack: made when they are used.
SINCE_0_2 = ("name_forms", "variants", "rewordings", "reduced")
LITERALS = ("literals", "properties", "datatypes")  # in graphs that have values of properties
COLUMNS = {  # that a table must have, to tell it from another one
    "entities": {"id", "label", "description", "aliases", "types", "name_counts"},
    "relations": {"id", "label"},
    "triples": {"head", "relation", "tail", "split"},
    "edges": {"relation_other"},
    "ids": {"hash", "entity"},
    "aliases": {"key"},
    "candidates": {"entity", "weight"},
    "phrases": {"hash", "value"},
    "words": {"hash", "start"},
    "postings": {"alias"},
    "name_forms": {"forms"},
    "variants": {"hash", "alias"},
    "rewordings": {"word", "other"},
    "reduced": {"hash", "alias"},
    "bounds": {"start"},
    "id_buckets": {"start"},
    "alias_bounds": {"start"},
    "phrase_buckets": {"start"},
    "word_buckets": {"start"},
}


@dataclass(frozen=True)
class Manifest:
    """What a graph says about itself; `version` names its content, whatever it came from."""

    entities: int
    relations: int
    triples: int
    splits: dict[str, int]
    version: str
    name: str = ""
    source: str = ""
    licence: str = ""
    parent: str = ""  # version of the graph this one was changed from
    priors: str = "degree"  # what p(entity | surface) comes from: degree or counts
    alias_seed: int = 0
    keys_version: int = 1  # of the keys of names, see `variants.KEYS_VERSION`
    id_seed: int = 0
    literals: int = 0  # values of properties
    left_out: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # how columns were read, what was added
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # name → bytes, sha256
    format: int = FORMAT


def read_table(folder: Path, name: str) -> pa.Table:
    """Map one table of a graph into memory."""
    path = folder / f"{name}.arrow"
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise BadGraph(f"{path} cannot be read ({reason}); import the graph again") from error
    if absent := COLUMNS.get(name, set()) - set(table.column_names):
        raise BadGraph(f"{path} is another table (no {min(absent)}); import the graph again")
    return table


def read_tables(folder: Path) -> dict[str, pa.Table]:
    """Map all tables of a graph; what is mapped stays, even if the folder is replaced later."""
    newer = [name for name in (*SINCE_0_2, *LITERALS) if (folder / f"{name}.arrow").is_file()]
    return {name: read_table(folder, name) for name in (*TABLES, *newer)}


def content_version(files: dict[str, dict[str, Any]]) -> str:
    """Return the short name of a content: a hash over the checksums of its tables."""
    names = [f"{name}.arrow" for name in (*CONTENT, *LITERALS)]
    sums = "".join(files[name]["sha256"] for name in names if name in files)
    return hashlib.sha256(sums.encode()).hexdigest()[:16]


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest and flush everything to disk."""
    path = folder / MANIFEST
    path.write_text(to_json(asdict(manifest), indent=1) + "\n", "utf-8")
    for file in folder.iterdir():
        flush(file)
    flush(folder)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest and verify that it is whole, of a known format, and fits the files."""
    manifest = read_older_manifest(folder)
    absent = {f"{name}.arrow" for name in TABLES} - manifest.files.keys()
    if absent:
        raise BadGraph(
            f"{folder} was written by an older kgraft (it has no {min(absent)}); "
            f"run: kgraft graph migrate {folder}"
        )
    return manifest


def read_older_manifest(folder: Path) -> Manifest:
    """Read a manifest that may lack tables derived from the content, as older ones do."""
    path = folder / MANIFEST
    if not folder.is_dir() and not put_back(folder):
        raise NotFound(
            f"no graph at {folder}; import one with: kgraft graph import SOURCE --out {folder}"
        )
    if not path.is_file():
        remedy = "name the folder that 'kgraft graph import' wrote"
        raise BadGraph(f"{folder} is not a graph (it has no {MANIFEST}); {remedy}")
    try:
        stored = read_json_file(path)
        number = operator.index(stored["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadGraph(f"{path} is damaged ({error}); import the graph again") from error
    if number != FORMAT:
        remedy = "update kgraft: pip install -U kgraft" if number > FORMAT else "import it again"
        raise BadGraph(
            f"{folder} is of format {number}, this kgraft reads format {FORMAT}; {remedy}"
        )
    try:
        manifest = Manifest(**stored)
        check_kinds(manifest, Manifest(0, 0, 0, {}, ""))
    except TypeError as error:
        raise BadGraph(f"{path} is damaged ({error}); import the graph again") from error
    _verify_files(folder, manifest)
    return manifest


def _verify_files(folder: Path, manifest: Manifest) -> None:
    absent = {f"{name}.arrow" for name in CONTENT} - manifest.files.keys()
    if absent:
        raise BadGraph(f"{folder / MANIFEST} does not list {min(absent)}; import the graph again")
    changed = changed_file(folder, manifest.files)
    if changed:
        raise BadGraph(f"{changed}; import the graph again")
