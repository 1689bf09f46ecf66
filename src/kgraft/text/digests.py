"""Digests of files: computed once per machine and kept in the cache folder."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path

from kgraft.json_text import read_json_file
from kgraft.storage import cache_folder, new_file, sha256

logger = logging.getLogger("kgraft.text")
RECORD = "digests.json"
MOST = 201  # files on record

Stamp = tuple[Path, int, int]  # resolved path, size, mtime_ns: they change when the file does


def stamp(file: Path) -> Stamp:
    """Return what shows whether a file has changed, without reading it."""
    stat = file.stat()
    return file.resolve(), stat.st_size, stat.st_mtime_ns


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file; an unchanged file is read only once per machine."""
    return _digest(*stamp(file))


@cache
def _digest(file: Path, size: int, mtime_ns: int) -> str:
    """Return the digest on record, else hash the file and record it."""
    record = cache_folder() / RECORD
    entry = _read(record).get(str(file))
    if isinstance(entry, list) and entry[:2] == [size, mtime_ns] and isinstance(entry[-1], str):
        return entry[-1]
    digest = sha256(file)
    if stamp(file) == (file, size, mtime_ns):  # not changed meanwhile
        entries = _read(record)
        entries.pop(str(file), None)
        entries[str(file)] = [size, mtime_ns, digest]
        _write(record, dict(list(entries.items())[-MOST:]))
    return digest


def _read(record: Path) -> dict[str, object]:
    """Return the record, empty if it is absent or damaged."""
    try:
        entries = read_json_file(record)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        logger.debug("%s cannot be read (%s); files are hashed again", record, error)
        return {}
    return entries if isinstance(entries, dict) else {}


def _write(record: Path, entries: dict[str, object]) -> None:
    """Write the record; if that fails the next process hashes again."""
    try:
        with new_file(record) as partial:
            partial.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    except OSError as error:
        logger.debug("%s cannot be written (%s)", record, error)
