"""Tables of a SQLite or DuckDB database, by a mapping file in TOML.

    database = "company.db"           # beside this file; .duckdb and .ddb are DuckDB's

    [[entities]]
    table = "person"                  # or: query = "SELECT …"
    id = "id"
    prefix = "person:"                # before the ids, where tables share numbers
    label = "name"                    # also description, aliases (joined by |), types
    type = "Person"                   # a type that all of them have
    columns = ["email"]               # others to keep

    [[relations]]
    query = "SELECT id, name FROM role"
    id = "id"
    label = "name"

    [[triples]]
    table = "employment"
    head = "person_id"
    head_prefix = "person:"
    relation = "works for"            # or relation_column = "role"
    tail = "company_id"
    tail_prefix = "company:"

The database is opened for reading only. A row with NULL at an end of a triple is left out and
counted.
"""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput, import_optional
from kgraft.graph.batches import ROWS, Batch, Refusals
from kgraft.graph.io.foreign import texts
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.readers.xlsx import cell_text
from kgraft.graph.io.tables.column_names import RELATED
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.progress import Progress

DUCKDB = (".duckdb", ".ddb")
FIELDS = ("label", "description", "aliases", "types")
KEYS: dict[str, tuple[str, ...]] = {
    "entities": ("table", "query", "id", "prefix", "type", "columns", *FIELDS),
    "relations": ("table", "query", "id", "prefix", "columns", *FIELDS[:3]),
    "triples": (
        *("table", "query", "head", "relation", "tail", "relation_column"),
        *("head_prefix", "relation_prefix", "tail_prefix"),
    ),
}

Mapped = Mapping[str, Any]


class DatabaseSource(GraphFile):
    """The tables of a database that a mapping file names."""

    format = "sql"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield entities, relations and triples; a row of a table counts as a line."""
        mapping = _read_mapping(self.path)
        database = self.path.parent / mapping["database"]
        if not database.is_file():
            remedy = f"correct `database` in {self.path}"
            raise BadInput("no such database", file=str(database), remedy=remedy)
        with _errors(self.path), closing(_connect(database)) as connection:
            for kind in ("entities", "relations", "triples"):
                for part in mapping[kind]:
                    where = str(part.get("table") or part["query"])
                    progress.start(f"reading {where[:60]}", None)
                    rows = _rows(connection, part, kind)
                    if kind == "triples":
                        yield from _triples(rows, part, f"{database}: {where[:60]}", refusals)
                    else:
                        yield from _declared(rows, part, f"{database}: {where[:60]}", kind)


def _declared(
    rows: Iterator[tuple[int, dict[str, str]]], part: Mapped, file: str, kind: str
) -> Iterator[Batch]:
    gathered = TableRows("entity" if kind == "entities" else "relation", file)
    lists = [name for name in ("aliases", "types") if name in part]
    for line, row in rows:
        fields: dict[str, object] = {name: row[part[name]] for name in FIELDS if name in part}
        fields |= {name: texts(fields[name]) for name in lists}
        if "type" in part:
            fields["types"] = [part["type"], *(row[part["types"]].split("|") if lists[1:] else [])]
        number = row[part["id"]]
        fields["id"] = part.get("prefix", "") + number if number else ""
        fields |= {name: row[name] for name in part.get("columns", ())}
        gathered.add(fields, line)
        if gathered.full:
            yield from gathered.take()
    yield from gathered.take()


def _triples(
    rows: Iterator[tuple[int, dict[str, str]]], part: Mapped, file: str, refusals: Refusals
) -> Iterator[Batch]:
    gathered = TripleRows(file)
    for line, row in rows:
        head, tail = row[part["head"]], row[part["tail"]]
        relation = part.get("relation", RELATED)
        if "relation_column" in part:
            relation = row[part["relation_column"]]
            relation = part.get("relation_prefix", "") + relation if relation else ""
        if not head or not relation or not tail:
            refusals.leave_out("rows of triples with NULL or nothing in a part")
            continue
        ends = part.get("head_prefix", "") + head, part.get("tail_prefix", "") + tail
        gathered.add((ends[0], relation, ends[1]), line)
        if gathered.full:
            yield from gathered.take()
    yield from gathered.take()


def _rows(
    connection: Any,  # noqa: ANN401
    part: Mapped,
    kind: str,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of every row, and the columns that the mapping names as text."""
    query = part.get("query") or f"SELECT * FROM {_quoted(part['table'])}"
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description or ()]
    used = [part[key] for key in KEYS[kind] if key in part and _names_column(key)]
    wanted = dict.fromkeys([*used, *part.get("columns", ())])
    for name in wanted:
        if name not in names:
            shown = ", ".join(names)[:200]
            raise BadInput(f"no column {name!r} in {query[:60]}", remedy=f"there are: {shown}")
    places = {name: names.index(name) for name in wanted}
    number = 0
    while block := cursor.fetchmany(ROWS):
        for values in block:
            number += 1
            yield number, {name: cell_text(values[position]) for name, position in places.items()}


def _names_column(key: str) -> bool:
    return key in ("id", "head", "tail", "relation_column", *FIELDS)


def _quoted(table: str) -> str:
    """Return the name of a table, or of one in a schema, in quotes."""
    return ".".join(f'"{part}"' for part in table.replace('"', '""').split("."))


def _connect(database: Path) -> Any:  # noqa: ANN401
    if database.suffix.lower() in DUCKDB:
        return import_optional("duckdb", "duckdb").connect(str(database), read_only=True)
    connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
    connection.execute("PRAGMA query_only = ON")
    return connection


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Turn what a database says into one line."""
    try:
        yield
    except BadInput as error:
        if error.file is not None:
            raise
        raise BadInput(error.reason, file=str(path), remedy=error.remedy) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("sqlite3", "duckdb", "_duckdb"):
            raise
        reason = f"the database says: {' '.join(str(error).split())[:200]}"
        raise BadInput(reason, file=str(path), remedy="correct the mapping") from error


def _read_mapping(path: Path) -> dict[str, Any]:
    try:
        mapping = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = f"cannot be read as TOML ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, file=str(path), remedy="correct the file") from error
    if not isinstance(mapping.get("database"), str):
        remedy = 'it needs a line like: database = "company.db"'
        raise BadInput("the mapping names no database", file=str(path), remedy=remedy)
    if unknown := mapping.keys() - {"database", *KEYS}:
        remedy = f"it may have database, {', '.join(KEYS)}"
        raise BadInput(f"unknown key {min(unknown)!r}", file=str(path), remedy=remedy)
    return {"database": mapping["database"]} | {
        kind: [_checked(part, kind, path) for part in _parts(mapping.get(kind, []), kind, path)]
        for kind in KEYS
    }


def _parts(value: object, kind: str, path: Path) -> list[Any]:
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return value
    raise BadInput(f"{kind} are not tables", file=str(path), remedy=f"write [[{kind}]]")


def _checked(part: dict[str, Any], kind: str, path: Path) -> dict[str, Any]:
    """Return one mapped table, or say what is wrong with it."""
    for name, value in part.items():
        if name not in KEYS[kind]:
            remedy = f"[[{kind}]] may have {', '.join(KEYS[kind])}"
            raise BadInput(f"unknown key {name!r} in [[{kind}]]", file=str(path), remedy=remedy)
        many = name == "columns" and isinstance(value, list)
        if not all(isinstance(item, str) for item in (value if many else [value])):
            raise BadInput(f"{name} in [[{kind}]] is not a text", file=str(path), remedy="quote it")
    needed = ("head", "tail") if kind == "triples" else ("id",)
    missing = [name for name in needed if name not in part]
    if missing or ("table" in part) == ("query" in part):
        reason = f"[[{kind}]] without {missing[0]}" if missing else f"[[{kind}]] without a source"
        remedy = f"it needs table or query, and {' and '.join(needed)}"
        raise BadInput(reason, file=str(path), remedy=remedy)
    return part


FORMATS.register("sql")(Format(open=DatabaseSource, suffixes=(".toml",)))
