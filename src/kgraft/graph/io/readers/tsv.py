r"""Folders of TSV or CSV files: entities, relations, triples (or train, valid, test), literals.

A TSV file has a header line, tabs between the columns and no quotes; items of a list are joined by
`|`. A character that the format cannot hold is written by its number: `\u007C`; `\"` is a quote. A
CSV file is quoted as usual. A file of triples may lack its header, as FB15k's `train.txt` does.
Files of other programs have other names for their columns (`column_names`), and other file names:
`nodes.csv` and `edges.csv`, or any with the headers of `neo4j-admin import`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import list_rows, lists_from_rows, numbers
from kgraft.errors import BadInput
from kgraft.graph.batches import (
    ENTITY_SCHEMA,
    RELATION_SCHEMA,
    Batch,
    Entities,
    Origin,
    Refusals,
    Relations,
    Split,
    Triples,
)
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.column_names import (
    FIELDS,
    EdgeColumns,
    edge_columns,
    entity_columns,
    id_space,
    named_places,
    neo4j_kind,
    say_columns,
)
from kgraft.graph.io.tables.delimited import Columns, DelimitedFile, RowFile
from kgraft.graph.io.tables.edges import EdgeRows, ask_for_columns, find_edges, is_numeric
from kgraft.graph.io.tables.literal_rows import check_columns, count_others, literal_batches
from kgraft.progress import Progress, Silent
from kgraft.streams import PACKERS, plain_suffix

LISTS = ("aliases", "types")
TRIPLE_FILES: dict[str, Split] = {
    "train": "train",
    "triples": "train",
    "valid": "valid",
    "dev": "valid",
    "test": "test",
}
SPLIT_FILES = ("train", "valid", "dev", "test")  # of triples, with or without a header
ENTITY_FILES = ("entities", "nodes", "vertices")
EDGE_FILES = ("edges", "links", "relationships")  # of triples too, where none is named so
LITERALS = "literals"
UNKNOWN = "unknown"
FILE_ROLES = {
    **dict.fromkeys(ENTITY_FILES, "entities"),
    "relations": "relations",
    **{name: name for name in (*TRIPLE_FILES, *EDGE_FILES)},
}
SUFFIXES = (".tsv", ".txt", ".csv")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})|\")")


def unescape(text: str) -> str:
    r"""Resolve escaped characters and quotes; any other backslash stays.

    >>> unescape(r"Compi\u00E8gne \"x\" C:\new")
    'Compiègne "x" C:\\new'
    """
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    if not digits:
        return '"'
    point = int(digits, 16)
    return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)


class TsvSource:
    """A folder of delimited files, or one file of triples or of entities."""

    format = "tsv"
    types_are_ids = False

    def __init__(self, path: Path, options: TableOptions | None = None) -> None:
        self.path, self.options = path, options or TableOptions()
        self.files = table_files(path) if path.is_dir() else {"": path}
        self.unknown: Literal["refuse", "add", "drop"] = self.options.undeclared
        if not {*TRIPLE_FILES, *EDGE_FILES, ""} & {name.partition("/")[0] for name in self.files}:
            remedy = "add train.tsv or triples.tsv (head, relation, tail)"
            raise BadInput("no file of triples in this folder", file=str(path), remedy=remedy)

    def describe(self) -> str:
        """Return the folder's name."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities, relations, the triples of each file, then values of properties."""
        spaces = self._id_spaces()
        for name, path in self.files.items():
            role = name.partition("/")[0]
            if role == UNKNOWN:
                refusals.leave_out(f"files whose columns are not known: {path.name}")
                continue
            file = DelimitedFile(path, refusals, progress)
            if not role and holds_entities(file, self.options):
                role = "entities"
            yield from read_rows(file, role, self.options, spaced=len(spaces) > 1)

    def _id_spaces(self) -> set[str]:
        """Return the id spaces that Neo4j's headers name; ids are unique only within theirs."""
        if not self.path.is_dir():
            return set()
        quiet = Refusals(skip=True)
        files = [DelimitedFile(path, quiet, Silent()) for path in self.files.values()]
        names = (name for file in files for name in file.first or [])
        return {id_space(name) for name in names if neo4j_kind(name) in ("ID", "START_ID")}


def holds_entities(file: RowFile, options: TableOptions) -> bool:
    """Whether a file that is alone is a table of entities: it has ids and says more."""
    if "id" in options.columns:
        return True
    names = _names(file)
    if options.columns or options.header is False or edge_columns(names):
        return False
    places = entity_columns(names, of="entity")
    return "id" in places and len(places) > 1


def read_rows(
    file: RowFile, role: str, options: TableOptions, *, spaced: bool = False
) -> Iterator[Batch]:
    """Yield the rows of a file as entities, relations, triples or literals, by its role.

    Where ids are `spaced`, they are unique only within the id spaces that the headers name.
    """
    if role == "relations":
        tables = _tables(file, RELATION_SCHEMA, options, spaced=False)
        yield from (Relations(*batch) for batch in tables)
    elif role in ENTITY_FILES:
        if _lists_ids(file, options):
            options = TableOptions({"id": "1"}, header=False, undeclared=options.undeclared)
        tables = _tables(file, ENTITY_SCHEMA, options, spaced=spaced)
        yield from (Entities(*batch) for batch in tables)
    elif role == LITERALS:
        yield from _literals(file)
    else:
        yield from _triples(file, role, options, spaced=spaced)


def _lists_ids(file: RowFile, options: TableOptions) -> bool:
    """Whether a file of entities has one column of numbers, without a header."""
    names = _names(file)
    plain = len(names) == 1 and options.header is None and not options.columns
    return plain and is_numeric(file.sample[0])


def triple_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that hold a graph, by their role, in the order to read them."""
    files: dict[str, Path] = {}
    for name in (*ENTITY_FILES, "relations", *TRIPLE_FILES, *EDGE_FILES):
        if file := _file_named(folder, name):
            files[name] = file
    for preferred, others in (("entities",), ENTITY_FILES[1:]), (tuple(TRIPLE_FILES), EDGE_FILES):
        if set(preferred) & set(files):
            for name in others:
                files.pop(name, None)
    literals = _file_named(folder, LITERALS)
    return {**files, LITERALS: literals} if files and literals else files


def _file_named(folder: Path, name: str) -> Path | None:
    """Return the first delimited file of a name, plain or packed."""
    suffixes = (suffix + packer for suffix in SUFFIXES for packer in ("", *PACKERS))
    files = (folder / f"{name}{suffix}" for suffix in suffixes)
    return next((file for file in files if file.is_file()), None)


def table_files(folder: Path) -> dict[str, Path]:
    """Return the files by role; where their names say nothing, their headers do."""
    files = triple_files(folder)
    if {*TRIPLE_FILES, *EDGE_FILES} & set(files):
        return files
    by_header = _files_by_header(folder)
    return by_header if any(name.startswith("edges") for name in by_header) else files


def _files_by_header(folder: Path) -> dict[str, Path]:
    """Return the tables of a folder as `nodes/FILE`, `edges/FILE`, `unknown/FILE`, edges last."""
    roles: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if plain_suffix(path) not in (".csv", ".tsv") or not path.is_file():
            continue
        if path.name.partition(".")[0] == LITERALS:
            roles[LITERALS] = path
            continue
        names = _names(DelimitedFile(path, Refusals(skip=True), Silent()))
        if edge_columns(names):
            roles[f"edges/{path.name}"] = path
        elif len(entity_columns(names, of="entity").keys() & {"id", "label", "types"}) > 1:
            roles[f"nodes/{path.name}"] = path
        else:
            roles[f"{UNKNOWN}/{path.name}"] = path
    return dict(sorted(roles.items(), key=lambda item: item[0].startswith("edges")))


def _tables(
    file: RowFile, schema: pa.Schema, options: TableOptions, *, spaced: bool
) -> Iterator[tuple[pa.Table, Origin]]:
    """Yield the rows of a table of entities or of relations with typed columns."""
    if not file.first:
        raise BadInput("the file is empty", file=str(file.path), remedy="give it a header line")
    names = _names(file)
    header = options.header is not False
    places = _places(file, names, schema, options)
    columns = _column_names(file, names if header else [], places)
    marks = _marks(file, names, places)
    space = id_space(names[places["id"]]) if spaced else ""
    counts = [k for k, column in columns.items() if column == "name_counts" in schema.names]
    for block in file.columns(header=header):
        for position in counts:
            block = _without_bad_counts(file, block, position)
        typed = _typed_columns(file, block, schema, columns, marks)
        if space:
            typed["id"] = _in_space(typed["id"], space)
        yield pa.table(typed), Origin(str(file.path), block.lines)


def _column_names(file: RowFile, names: list[str], places: dict[str, int]) -> dict[int, str]:
    """Return the name of each column that is read, by position; ours and those of the header."""
    columns = {k: column for column, k in places.items()}
    kinds = [neo4j_kind(name) for name in names]
    typed_names = "ID" in kinds  # as in name:string
    for position, name in enumerate(names):
        if position not in columns and (name or not file.quoted) and kinds[position] != "IGNORE":
            columns[position] = name.partition(":")[0] if typed_names and kinds[position] else name
    if len(set(columns.values())) < len(columns):
        raise _bad_header(file, "every name once")
    return columns


def _places(
    file: RowFile, names: list[str], schema: pa.Schema, options: TableOptions
) -> dict[str, int]:
    """Return the places of our columns, and note those that go by another name."""
    of: Literal["entity", "relation"] = "entity" if "types" in schema.names else "relation"
    named = options.columns_of(FIELDS)
    chosen = named_places(named, names, str(file.path)) if of == "entity" else {}
    places = {} if options.header is False else entity_columns(names, of=of)
    places = {c: k for c, k in places.items() if k not in chosen.values()} | chosen
    if "id" not in places:
        raise _bad_header(file, "a column named id, or --columns id=…,label=…")
    if options.header is not False:
        say_columns(places, names, file.path.name, file.refusals)
    return places


def _marks(file: RowFile, names: list[str], places: dict[str, int]) -> dict[str, str]:
    """Return for each of our columns what separates its items, were they lists."""
    return {column: _mark(file, position, names[position]) for column, position in places.items()}


def _mark(file: RowFile, position: int, name: str) -> str:
    """Return what separates the items of a list: `;` in Neo4j's, and where no cell has a `|`."""
    if neo4j_kind(name) == "LABEL" or neo4j_kind(name).endswith("[]"):
        return ";"
    cells = file.sample[position]
    ours = name in (*LISTS, "alias", "type")
    marked = [pc.any(pc.match_substring(cells, mark)).as_py() for mark in "|;"]
    return ";" if not ours and marked == [False, True] else "|"


def _in_space(ids: pa.Array, space: str) -> pa.Array:
    return pc.if_else(pc.equal(ids, ""), ids, pc.binary_join_element_wise(space, ids, ":"))


def _names(file: RowFile) -> list[str]:
    names = file.first or []
    return names if file.quoted else [unescape(name) for name in names]


def _typed_columns(
    file: RowFile, block: Columns, schema: pa.Schema, columns: dict[int, str], marks: dict[str, str]
) -> dict[str, pa.Array]:
    """Return the columns of a block by name, those of the schema with their types."""
    return {
        name: _typed(file, name, block.columns[k], marks.get(name, "|"))
        if name in schema.names
        else _text(file, block.columns[k])
        for k, name in sorted(columns.items())
    }


def _edge_columns(
    file: RowFile, names: list[str], role: str, options: TableOptions
) -> tuple[EdgeColumns, bool]:
    """Return the columns of triples, and whether the first row names them."""
    trusted = role in SPLIT_FILES
    edges = find_edges(names, file.sample, options, file.path, file.refusals, trusted=trusted)
    if edges is None:
        raise ask_for_columns(names, file.sample, file.path)
    return edges


def _triples(file: RowFile, role: str, options: TableOptions, *, spaced: bool) -> Iterator[Triples]:
    if file.first is None:
        return
    names, split = _names(file), TRIPLE_FILES.get(role, "train")
    columns, header = _edge_columns(file, names, role, options)
    rows = EdgeRows(columns, names if header else [""] * len(names), str(file.path), file.refusals)
    ends = {position: id_space(names[position]) for position in (columns.head, columns.tail)}
    for block in file.columns(header=header):
        cells = [_text(file, c) if k in columns.used else c for k, c in enumerate(block.columns)]
        for position, space in ends.items() if spaced and header else ():
            cells[position] = _in_space(cells[position], space) if space else cells[position]
        yield from rows.triples(cells, block.lines, split)


def _literals(file: RowFile) -> Iterator[Batch]:
    names = _names(file)
    check_columns(names, str(file.path))
    for block in file.columns(header=True):
        cells = (_text(file, column) for column in block.columns)
        columns = dict(zip(names, cells, strict=True))
        count_others(columns, names, file.refusals)
        yield from literal_batches(columns, Origin(str(file.path), block.lines), file.refusals)


def _without_bad_counts(file: RowFile, block: Columns, position: int) -> Columns:
    """Refuse the rows whose name_counts are anything but numbers joined by `|`, or nothing."""
    counts = block.columns[position]
    good = pc.match_substring_regex(counts, r"^([0-9]{1,18}(\|[0-9]{1,18})*)?$")
    bad = ~numbers(good)
    return _without(file, block, bad, "name_counts are not numbers", counts)


def _without(
    file: RowFile, block: Columns, bad: np.ndarray, kind: str, seen: pa.Array | None = None
) -> Columns:
    """Refuse some rows and return the others; `seen` holds what to report of each."""
    for row in np.flatnonzero(bad).tolist():
        file.refusals.refuse(
            kind,
            file=str(file.path),
            line=int(block.lines[row]),
            detail="" if seen is None else repr(seen[row].as_py()[:80]),
            text=block.text(row),
        )
    if not bad.any():
        return block
    keep = pa.array(~bad)
    return Columns([column.filter(keep) for column in block.columns], block.lines[~bad])


def _bad_header(file: RowFile, wanted: str) -> BadInput:
    seen = " ".join(" | ".join(file.first or []).split())[:200]
    remedy = f"it needs {wanted}"
    return BadInput(f"the header is: {seen}", file=str(file.path), line=1, remedy=remedy)


def _typed(file: RowFile, name: str, column: pa.Array, mark: str) -> pa.Array:
    if name in LISTS:
        row, items = _items(column, mark)
        return lists_from_rows(row, _text(file, items), len(column))
    return _counts(column) if name == "name_counts" else _text(file, column)


def _text(file: RowFile, column: pa.Array) -> pa.Array:
    if file.quoted or not pc.any(pc.match_substring(column, "\\")).as_py():
        return column
    escaped = pc.match_substring(column, "\\")
    texts = [unescape(text) for text in column.filter(escaped).to_pylist()]
    return pc.replace_with_mask(column, escaped, pa.array(texts, pa.string()))


def _items(column: pa.Array, mark: str = "|") -> tuple[np.ndarray, pa.Array]:
    """Return row and text of every item that is not empty."""
    row, items = list_rows(pc.split_pattern(column, mark))
    items = items if mark == "|" else pc.utf8_trim_whitespace(items)
    filled = pc.not_equal(items, "")
    return row[numbers(filled)], items.filter(filled)


def _counts(column: pa.Array) -> pa.Array:
    """Parse numbers joined by `|`; an empty cell means that nothing was counted."""
    row, items = _items(column)
    lists = lists_from_rows(row, items.cast(pa.int64()), len(column))
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, lists.type), lists)


def _has_tables(path: Path) -> bool:
    return path.is_dir() and bool(table_files(path))


FORMATS.register("tsv")(
    Format(
        open=TsvSource,
        suffixes=(*SUFFIXES, ".edges", ".edgelist"),
        signs={Sign.NAMES: triple_files, Sign.CONTENT: _has_tables},
    )
)
