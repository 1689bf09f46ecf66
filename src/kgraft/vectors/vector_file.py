"""A SQLite file of vectors by key, which several processes may read and fill at once.

Its write-ahead log lets readers and one writer work at the same time, and after a kill at any
moment the file holds all that was committed. A checksum of each vector tells a damaged one.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

FORMAT = 1
SECONDS = 20.0  # how long to wait for another writer
PAGE = 16384  # bytes: vectors of the usual sizes fill it well
CHUNK = 512  # keys of one query
TRIALS = 50  # to open a file that another process is making

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (first, second)
)
"""


class Damaged(Exception):
    """The file is not a store of vectors of this size, or no longer one."""


class VectorFile:
    """Vectors (n, D) float32 by keys (n, 2) uint64, in a file, or in memory where it has no path.

    It may be used by one thread at a time. Errors are `Damaged`, `OSError` or `sqlite3.Error`.
    """

    def __init__(self, path: Path | None, dimension: int, *, read_only: bool = False) -> None:
        self.path, self.dimension, self.read_only = path, dimension, read_only
        self._process = os.getpid()
        with _telling_damage():
            self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        for trial in range(TRIALS):
            try:
                return _reader(self.path) if self.read_only and self.path else _writer(self.path)
            except sqlite3.OperationalError as error:  # SQLite does not wait while a log is begun
                if error.sqlite_errorcode & 255 not in _BUSY or trial == TRIALS - 1:
                    raise
                time.sleep(0.02)
        raise AssertionError

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()

    def take(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those of the keys that are there, in any order, and their vectors."""
        rows = self._select("first, second, checksum, vector", keys)
        if not rows:
            return np.empty((0, 2), np.uint64), np.empty((0, self.dimension), np.float32)
        try:
            first, second, checksums, blobs = zip(*rows, strict=True)
            stored, content = _keys(first, second), b"".join(blobs)
            vectors = np.frombuffer(content, np.float32).reshape(len(rows), self.dimension)
            sound = np.array_equal(_checksums(stored, vectors), checksums)
        except (TypeError, ValueError, OverflowError) as error:
            raise Damaged("vectors of another size or kind") from error
        if not sound:
            raise Damaged("vectors that do not fit their checksums")
        return stored, vectors

    def holds(self, keys: np.ndarray) -> np.ndarray:
        """Return those of the keys that are there, in any order."""
        rows = self._select("first, second", keys)
        return _keys(*zip(*rows, strict=True)) if rows else np.empty((0, 2), np.uint64)

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Keep vectors under their keys; a key that is there already keeps its vector."""
        vectors = np.ascontiguousarray(vectors, np.float32)
        signed = np.ascontiguousarray(keys, np.uint64).view(np.int64)
        columns = signed[:, 0].tolist(), signed[:, 1].tolist(), _checksums(keys, vectors).tolist()
        insert = "INSERT OR IGNORE INTO vectors (first, second, checksum, vector)"
        with _telling_damage(), self._transaction() as connection:
            rows = zip(*columns, vectors, strict=True)
            connection.executemany(f"{insert} VALUES (?, ?, ?, ?)", rows)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._own_connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _select(self, columns: str, keys: np.ndarray) -> list[tuple[int, ...]]:
        """Return columns of the rows whose first half of the key is that of a key."""
        first = np.ascontiguousarray(keys[:, 0], np.uint64).view(np.int64)
        rows: list[tuple[int, ...]] = []
        with _telling_damage():
            connection = self._own_connection()
            for begin in range(0, len(first), CHUNK):
                part = first[begin : begin + CHUNK]
                count = 1 << (len(part) - 1).bit_length()  # few different queries are prepared
                marks = ",".join("?" * count)
                query = f"SELECT {columns} FROM vectors WHERE first IN ({marks})"
                rows += connection.execute(query, np.resize(part, count).tolist())
        return rows

    def _own_connection(self) -> sqlite3.Connection:
        """Return the connection, a new one after a fork: SQLite's must not be shared."""
        if self.path is not None and self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connection, self._process = self._open(), os.getpid()
        return self._connection


_INHERITED: list[sqlite3.Connection] = []  # kept open: closing them would disturb the parent


def _writer(path: Path | None) -> sqlite3.Connection:
    """Open a file for reading and writing, and make it where it is absent."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connect(":memory:" if path is None else str(path))
    with _closing_on_error(connection):
        if _is_empty(connection):
            _make(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if path is not None and not os.access(path, os.W_OK):
            raise PermissionError(f"{path} cannot be written")
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a file is still to be made, and raise `Damaged` where it is another kind."""
    connection.execute("BEGIN")  # both are of one moment
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("COMMIT")
    if version != FORMAT and (version, tables) != (0, 0):
        raise Damaged(f"not vectors of format {FORMAT}")
    return version != FORMAT


def _make(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SCHEMA)
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _reader(path: Path) -> sqlite3.Connection:
    """Open a file that cannot be written, and that nobody writes."""
    connection = _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    with _closing_on_error(connection):
        connection.execute("SELECT id FROM vectors LIMIT 1")
    return connection


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        name, timeout=SECONDS, isolation_level=None, check_same_thread=False, uri=uri
    )


@contextmanager
def _closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def _telling_damage() -> Iterator[None]:
    """Raise `Damaged` for SQLite's errors that mean it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 255 in _DAMAGE:
            raise Damaged(str(error)) from error
        raise


def _keys(first: tuple[int, ...], second: tuple[int, ...]) -> np.ndarray:
    return np.array([first, second], np.int64).T.copy().view(np.uint64)


def _checksums(keys: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return a checksum of each row that any one changed number changes."""
    bits = np.ascontiguousarray(vectors, np.float32).view(np.int32)
    halves = np.ascontiguousarray(keys, np.uint64).view(np.int64)
    return bits.sum(1, dtype=np.int64) + 3 * halves[:, 0] + halves[:, 1] + 1
