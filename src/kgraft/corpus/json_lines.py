"""JSON Lines: files with one JSON value per line, plain or packed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import parse_json
from kgraft.progress import Silent
from kgraft.streams import open_bytes

Record = TypeVar("Record")

FIRST_LINES = 20  # that show what the objects of a file have


def read_json_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, plain or .gz, with their line numbers; empty ones are left out.

    Where the file does not exist, one of the same name with .gz is read instead.
    """
    packed = path.with_name(f"{path.name}.gz")
    path = packed if packed.is_file() and not path.is_file() else path
    if not path.is_file():
        raise NotFound(f"no file {path}; give JSON Lines")
    with open_bytes(path, Silent(), lines=True) as file:
        for number, raw in enumerate(file, 1):
            line = _decode(raw, path, number)
            if line.strip():
                yield number, line


def has_field(path: Path, name: str) -> bool:
    """Tell whether the objects in the first lines of a file have a field, at any depth."""
    field = re.compile(rf'"{re.escape(name)}"\s*:')
    return any(field.search(line) for _, line in islice(read_json_lines(path), FIRST_LINES))


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        remedy = "convert it: iconv -t UTF-8"
        raise BadInput("is not UTF-8", file=str(path), line=number, remedy=remedy) from error


def read_records(path: Path, parse: Callable[[Any], Record], name: str) -> list[Record]:
    """Parse the objects of JSON Lines; one that is not a `name` is refused with its line."""
    records = []
    for number, line in read_json_lines(path):
        try:
            records.append(parse(parse_json(line)))
        except (ValueError, LookupError, TypeError) as error:
            reason = f"is not a {name} ({type(error).__name__}: {error})"
            raise BadInput(reason, file=str(path), line=number) from error
    return records
