"""The cache of vectors: an SQLite file that many processes may read and fill at once.

A transaction is on disk completely or not at all, also after a kill, and the checksum of each
vector reveals damage. A damaged file stays where it is and one with the next number replaces it:
no process loses a file that it is using.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kgraft import storage
from kgraft.errors import BadInput

FORMAT = 1
SECONDS = 20.0  # how long to wait for another writer
PAGE = 16384  # bytes: vectors of the usual sizes fill it well
CHUNK = 512  # keys per query
RECENT = 1 << 24  # bytes of vectors that are read from disk once
DAMAGES = 3  # damaged files in a row after which a store keeps to memory

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_NAME = re.compile(r"vectors-(\d{1,9})\.sqlite")
_SCHEMA = f"""
PRAGMA page_size = {PAGE};
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, first INTEGER NOT NULL, second INTEGER NOT NULL,
    checksum INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (first, second)
);
PRAGMA user_version = {FORMAT};
COMMIT;
"""

Result = TypeVar("Result")
logger = logging.getLogger("kgraft.vectors")


class Damaged(Exception):
    """The file is not a store of vectors of this size, or no longer one."""


def cache_folder() -> Path:
    """Return where vectors are cached."""
    return storage.cache_folder() / "vectors"


class VectorStore:
    """Vectors (n, D) float32 by keys (n, 2) uint64, in a folder or else in memory.

    Threads may share a store, and processes its folder. What cannot be written stays in memory.
    """

    def __init__(self, folder: Path | None, dimension: int) -> None:
        self.dimension = dimension
        self.path = folder and folder / f"vectors-{_newest(folder)}.sqlite"
        self._writable = True
        self._lock = threading.RLock()
        self._unsaved: dict[bytes, np.ndarray] = {}
        self._recent: dict[bytes, np.ndarray] = {}  # read from disk

    def take(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of keys (n, 2), and which of them are there; zeros for the others."""
        names = _key_bytes(keys)
        with self._lock:
            absent = [n not in self._recent and n not in self._unsaved for n in names]
            if any(absent):
                self._remember(keys[absent])
            rows = [self._recent.get(name, self._unsaved.get(name)) for name in names]
        there = np.array([row is not None for row in rows], bool)
        vectors = np.zeros((len(keys), self.dimension), np.float32)
        if there.any():
            vectors[there] = [row for row in rows if row is not None]
        return vectors, there

    def holds(self, keys: np.ndarray) -> np.ndarray:
        """Return which keys (n, 2) are there, without reading their vectors."""
        with self._lock:
            stored = self._on_disk(lambda file: _keys_of(_select(file, "first, second", keys)))
            names = self._unsaved.keys() | set(_key_bytes(stored) if stored is not None else ())
        return np.array([name in names for name in _key_bytes(keys)], bool)

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Store vectors (n, D) under their keys (n, 2); a key that is there keeps its vector."""
        if np.shape(vectors) != (len(keys), self.dimension):
            raise BadInput(
                f"vectors of shape {np.shape(vectors)} for {len(keys)} keys",
                remedy=f"give shape ({len(keys)}, {self.dimension})",
            )
        values = np.array(vectors, np.float32, order="C")
        with self._lock:
            saved = self._writable and self._on_disk(
                lambda file: _insert(file, keys, values), writing=True
            )
            if not saved:
                for name, vector in zip(_key_bytes(keys), values, strict=True):
                    self._unsaved.setdefault(name, vector)

    def _remember(self, keys: np.ndarray) -> None:
        """Read vectors from disk into memory, and forget earlier ones where they are too many."""
        stored = self._on_disk(lambda file: _read_vectors(file, keys, self.dimension))
        if stored is not None:
            if len(self._recent) * self.dimension * 4 > RECENT:
                self._recent = {}
            self._recent.update(zip(_key_bytes(stored[0]), stored[1], strict=True))

    def _on_disk(
        self, work: Callable[[sqlite3.Connection], Result], *, writing: bool = False
    ) -> Result | None:
        """Return the result of some work on the file, None where the file cannot be used.

        A connection lives as long as the work: it is never shared with a thread or a child.
        """
        for _ in range(DAMAGES):
            if self.path is None or not (writing or self.path.exists()):
                return None
            try:
                return _with_file(work, self.path, writing=writing)
            except Damaged as error:
                self.path = _set_aside(self.path, error)
            except (OSError, sqlite3.Error) as error:
                verb = "written" if writing else "read"
                logger.info("%s cannot be %s (%s)", self.path, verb, error)
                self._writable = False
                self.path = self.path if writing else None
                return None
        self.path = None
        return None


def _with_file(
    work: Callable[[sqlite3.Connection], Result], path: Path, *, writing: bool
) -> Result | None:
    """Return the result of some work on a file; None if it is only read and still empty."""
    if writing:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with contextlib.closing(_connect(path)) as connection:
            if _is_new(connection):
                if not writing:
                    return None
                connection.executescript(_SCHEMA)
            return work(connection)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 255 in _DAMAGE:
            raise Damaged(str(error)) from error
        raise


def _set_aside(path: Path, error: Damaged) -> Path:
    """Leave a damaged file alone, delete what was set aside before it, and return the next one."""
    logger.warning("%s is damaged (%s); its vectors are made again", path, error)
    number = int(path.stem.rpartition("-")[2])
    for other_number, other in list(_numbered(path.parent)):
        if other_number < number:
            with contextlib.suppress(OSError):
                other.unlink()
    return path.with_name(f"vectors-{number + 1}.sqlite")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=SECONDS, isolation_level=None)


def _is_new(connection: sqlite3.Connection) -> bool:
    """Tell whether a file is still empty; raise `Damaged` for one of another kind."""
    connection.execute("BEGIN")  # both are of one moment
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("COMMIT")
    if version != FORMAT and (version, tables) != (0, 0):
        raise Damaged(f"not vectors of format {FORMAT}")
    return version != FORMAT


def _read_vectors(
    connection: sqlite3.Connection, keys: np.ndarray, dimension: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return those of the keys that are there, in any order, and their vectors."""
    rows = _select(connection, "first, second, checksum, vector", keys)
    try:
        stored = _keys_of(rows)
        content = b"".join(row[3] for row in rows)
        vectors = np.frombuffer(content, np.float32).reshape(len(rows), dimension)
        sound = np.array_equal(_checksums(stored, vectors), [row[2] for row in rows])
    except (TypeError, ValueError, OverflowError) as error:
        raise Damaged("vectors of another size or kind") from error
    if not sound:
        raise Damaged("vectors that do not fit their checksums")
    return stored, vectors


def _select(connection: sqlite3.Connection, columns: str, keys: np.ndarray) -> list[Any]:
    """Return columns of the rows whose first half of the key is that of a key."""
    first = np.ascontiguousarray(keys[:, 0], np.uint64).view(np.int64)
    rows: list[Any] = []
    for begin in range(0, len(first), CHUNK):
        part = first[begin : begin + CHUNK].tolist()
        marks = ",".join("?" * len(part))
        query = f"SELECT {columns} FROM vectors WHERE first IN ({marks})"
        rows += connection.execute(query, part)
    return rows


def _insert(connection: sqlite3.Connection, keys: np.ndarray, vectors: np.ndarray) -> bool:
    """Store vectors under their keys; a key that is there already keeps its vector."""
    halves = np.ascontiguousarray(keys, np.uint64).view(np.int64)
    columns = halves[:, 0].tolist(), halves[:, 1].tolist(), _checksums(keys, vectors).tolist()
    insert = "INSERT OR IGNORE INTO vectors (first, second, checksum, vector) VALUES (?, ?, ?, ?)"
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        connection.executemany(insert, zip(*columns, vectors, strict=True))
    return True


def _keys_of(rows: list[Any]) -> np.ndarray:
    return np.array([row[:2] for row in rows], np.int64).reshape(-1, 2).view(np.uint64)


def _key_bytes(keys: np.ndarray) -> list[bytes]:
    parts: list[bytes] = np.ascontiguousarray(keys, np.uint64).view("V16").ravel().tolist()
    return parts


def _checksums(keys: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return one checksum per row that any single changed number changes."""
    bits = np.ascontiguousarray(vectors, np.float32).view(np.int32)
    halves = np.ascontiguousarray(keys, np.uint64).view(np.int64)
    return bits.sum(1, dtype=np.int64) + 3 * halves[:, 0] + halves[:, 1] + 1


def _numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the files of vectors in a folder with their numbers; nothing where it is unreadable."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            match = _NAME.fullmatch(path.name)
            if match:
                yield int(match[1]), path


def _newest(folder: Path) -> int:
    """Return the highest number of a file in a folder, 1 where there is none."""
    return max((number for number, _ in _numbered(folder)), default=1)
