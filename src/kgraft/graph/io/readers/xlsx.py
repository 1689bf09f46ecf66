"""Excel workbooks (.xlsx): a sheet each for entities, relations and triples, or only one."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput, import_optional
from kgraft.graph.batches import ROWS, Batch, Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.readers.tsv import FILE_ROLES, holds_entities, read_rows
from kgraft.graph.io.tables.column_names import edge_columns
from kgraft.graph.io.tables.delimited import Cells, RowFile, cells_of
from kgraft.graph.io.tables.edges import ask_for_columns
from kgraft.progress import Progress

LARGEST = 1 << 30  # bytes of a workbook, unpacked
# What openpyxl lets through where a file is not what it says.
_BROKEN = (
    *(OSError, EOFError, ValueError, TypeError, AttributeError, LookupError, SyntaxError),
    *(RuntimeError, ArithmeticError, zipfile.BadZipFile, zlib.error),
)


class ExcelSource(GraphFile):
    """A workbook; sheets are known by their names or by the names of their columns."""

    format = "xlsx"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield the rows of the sheets, those of triples last."""
        openpyxl = import_optional("openpyxl", "excel")
        _check_size(self.path)
        progress.start(f"reading {self.path.name}", None)
        with _broken(self.path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            workbook = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        try:
            yield from self._sheets(workbook, refusals)
        finally:
            workbook.close()

    def _sheets(self, workbook: Any, refusals: Refusals) -> Iterator[Batch]:  # noqa: ANN401
        sheets = [SheetRows(self.path, sheet, refusals) for sheet in workbook.worksheets]
        sheets = [sheet for sheet in sheets if sheet.first is not None]
        roles = [self._role(sheet) for sheet in sheets]
        if not any(roles):
            if not sheets:
                raise BadInput("no sheet has a row", file=str(self.path), remedy="fill one")
            raise ask_for_columns(sheets[0].first or [], sheets[0].sample, sheets[0].path)
        for last in (False, True):
            for sheet, role in zip(sheets, roles, strict=True):
                if role and last == (role not in ("entities", "relations")):
                    yield from read_rows(sheet, role, self.options)
                elif not role and last:
                    refusals.leave_out(f"sheets whose columns are not known: {sheet.title}")

    def _role(self, sheet: SheetRows) -> str:
        named = FILE_ROLES.get(sheet.title.strip().casefold(), "")
        if named or self.options.columns_of(("head", "tail")):
            return named or "triples"
        if holds_entities(sheet, self.options):
            return "entities"
        return "triples" if edge_columns(sheet.first or []) else ""


class SheetRows(RowFile):
    """The rows of one sheet as strings."""

    quoted = True

    def __init__(self, path: Path, sheet: Any, refusals: Refusals) -> None:  # noqa: ANN401
        self.title = str(sheet.title)
        self._source = path
        super().__init__(path.with_name(f"{path.name} [{self.title[:40]}]"), refusals)
        self._start(self._cells(sheet))

    def _cells(self, sheet: Any) -> Iterator[Cells]:  # noqa: ANN401
        rows = self._rows(sheet)
        while block := list(islice(rows, ROWS)):
            yield cells_of([row for _, row in block], [line for line, _ in block])

    def _rows(self, sheet: Any) -> Iterator[tuple[int, list[str]]]:  # noqa: ANN401
        """Yield the number and the cells of every row that is not empty, as wide as the first."""
        width = 0
        with _broken(self._source), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
                row = [cell_text(value) for value in values]
                while row and not row[-1]:
                    row.pop()
                if row:
                    width = width or len(row)
                    yield number, row + [""] * (width - len(row))


def cell_text(value: object) -> str:
    """Return the value of a cell as text; a whole number has no point.

    >>> [cell_text(value) for value in (None, 3.0, 2.5, True, "x", date(2020, 1, 2))]
    ['', '3', '2.5', 'true', 'x', '2020-01-02']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return value.isoformat() if isinstance(value, (date, time)) else str(value).strip()


def _check_size(path: Path) -> None:
    """Refuse a workbook that unpacks to too much, or that declares entities."""
    with _broken(path), zipfile.ZipFile(path) as packed:
        parts = packed.infolist()
        size = sum(part.file_size for part in parts)
        starts = {part.filename: _start(packed, part) for part in parts if size <= LARGEST}
    if size > LARGEST:
        reason = f"the workbook unpacks to more than {LARGEST >> 20} MiB"
        raise BadInput(reason, file=str(path), remedy="save its sheets as CSV")
    for name, start in starts.items():
        if b"<!DOCTYPE" in start or b"<!ENTITY" in start:
            reason = f"{name} in the workbook declares a document type"
            raise BadInput(reason, file=str(path), remedy="save it again")


def _start(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    with packed.open(part) as stream:
        return stream.read(4096)


@contextmanager
def _broken(path: Path) -> Iterator[None]:
    """Turn what goes wrong in a file that is not a workbook into one line."""
    try:
        yield
    except BadInput:
        raise
    except _BROKEN as error:
        reason = f"cannot be read as Excel ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, file=str(path), remedy="save it again as .xlsx") from error


FORMATS.register("xlsx")(Format(open=ExcelSource, suffixes=(".xlsx",)))
