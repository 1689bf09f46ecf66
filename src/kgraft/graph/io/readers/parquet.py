"""Parquet: a folder of tables of triples, entities, relations and literals, or one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgraft.errors import BadInput
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.column_names import edge_columns, entity_columns, named_places
from kgraft.graph.io.tables.in_memory import TablesSource

PARQUET_NAMES = {
    "triples": ("edges", "links", "relationships"),
    "entities": ("nodes", "vertices"),
    "relations": (),
    "literals": (),
}


def parquet_source(path: str | Path, options: TableOptions | None = None) -> TablesSource:
    """Return the source of a folder with triples.parquet, entities.parquet, relations.parquet.

    Triples and entities may also be called edges.parquet and nodes.parquet, and there may be
    literals.parquet; all but the triples may be missing. A file alone holds triples or entities, as
    its columns say.
    """
    path, options = Path(path), options or TableOptions()
    if path.is_file():
        table = _with_named(_read_parquet(path), options, path)
        names = table.column_names
        columns = entity_columns(names, of="entity")
        role = "entities" if edge_columns(names) is None and "id" in columns else "triples"
        if role == "triples" and edge_columns(names) is None:
            reason = f"no columns of triples are known among: {' | '.join(names)[:200]}"
            remedy = "name them: --columns head=1,tail=2, or id=1,label=2 for entities"
            raise BadInput(reason, file=str(path), remedy=remedy)
        return TablesSource(**{role: table}, name=path.name, undeclared=options.undeclared)
    if not path.is_dir():
        remedy = "name a Parquet file, or the folder that holds triples.parquet"
        raise BadInput("no such file or folder", file=str(path), remedy=remedy)
    files = parquet_files(path)
    files.setdefault("triples", path / "triples.parquet")
    tables = {role: _read_parquet(file) for role, file in files.items()}
    return TablesSource(**tables, name=path.name, undeclared=options.undeclared)


def parquet_files(folder: Path) -> dict[str, Path]:
    """Return the Parquet files of a folder that hold a graph, by their role."""
    files: dict[str, Path] = {}
    for role, others in PARQUET_NAMES.items():
        for name in (role, *others):
            if (folder / f"{name}.parquet").is_file():
                files.setdefault(role, folder / f"{name}.parquet")
    return files


def _with_named(table: pa.Table, options: TableOptions, path: Path) -> pa.Table:
    """Give our names to the columns that the user named; others of these names make room."""
    names = table.column_names
    places = named_places(options.columns, names, str(path))
    ours = {position: role for role, position in places.items()}
    others = [f"{name} (other)" if name in places else name for name in names]
    return table.rename_columns([ours.get(k, name) for k, name in enumerate(others)])


def _read_parquet(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        reason = f"cannot be read as Parquet ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, file=str(path), remedy="write the file again") from error


def _has_triples(path: Path) -> bool:
    return "triples" in parquet_files(path)


FORMATS.register("parquet")(
    Format(open=parquet_source, suffixes=(".parquet",), signs={Sign.NAMES: _has_triples})
)
