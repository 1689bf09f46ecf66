"""The cache of vectors: a file in a folder that many processes may share, and memory.

The vectors that were used last are kept in memory. A damaged file is set aside and its vectors are
made again; a folder that cannot be written costs nothing but memory.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
import threading
from pathlib import Path

import numpy as np

from kgraft import storage
from kgraft.errors import BadInput
from kgraft.vectors.recent import RecentVectors, find_rows, key_bytes
from kgraft.vectors.vector_file import Damaged, VectorFile

FAILURES = (OSError, sqlite3.Error)
DAMAGES = 3  # of files that one store sets aside before it keeps to memory

_NAME = re.compile(r"vectors-(\d{1,9})\.sqlite")

logger = logging.getLogger("kgraft.vectors")


def cache_folder() -> Path:
    """Return where vectors are cached."""
    return storage.cache_folder() / "vectors"


class VectorStore:
    """Vectors by key, in a folder or, where that cannot be written, in memory.

    It may be used from several threads at once, and the folder by several processes. A damaged
    file stays where it is, and one with the next number takes its place: no process loses a file
    that it is using.
    """

    def __init__(self, folder: Path | None, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._recent = RecentVectors(dimension)
        self._lock = threading.RLock()
        self._damages = 0
        self._files: list[VectorFile] = []  # all are read, the last is written
        self._open_file(_newest(folder))

    def take(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of keys (n, 2), and which of them are there; zeros for the others."""
        vectors = np.zeros((len(keys), self.dimension), np.float32)
        with self._lock:
            there = self._recent.take(key_bytes(keys), vectors)
            for file in tuple(self._files):
                missing = np.flatnonzero(~there)
                stored = self._read(file, keys[missing]) if len(missing) else None
                if stored is not None:
                    rows = find_rows(_rows(stored[0]), key_bytes(keys[missing]))
                    there[missing] = rows >= 0
                    vectors[missing[rows >= 0]] = stored[1][rows[rows >= 0]]
                    self._recent.add(key_bytes(stored[0]), stored[1])
        return vectors, there

    def holds(self, keys: np.ndarray) -> np.ndarray:
        """Return which keys (n, 2) are there, without a look at their vectors."""
        with self._lock:
            there = self._recent.holds(key_bytes(keys))
            for file in tuple(self._files):
                missing = np.flatnonzero(~there)
                stored = self._read_keys(file, keys[missing]) if len(missing) else None
                if stored is not None:
                    there[missing] = find_rows(_rows(stored), key_bytes(keys[missing])) >= 0
        return there

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Take vectors (n, D) in under their keys (n, 2), and keep them on disk if that works.

        A key that is there already keeps its vector.
        """
        if np.shape(vectors) != (len(keys), self.dimension):
            raise BadInput(
                f"vectors of shape {np.shape(vectors)} for {len(keys)} keys",
                remedy=f"give shape ({len(keys)}, {self.dimension})",
            )
        with self._lock:
            while not self._written(self._files[-1], keys, vectors):
                pass

    def _read(self, file: VectorFile, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return those of the keys that a file has, and their vectors; None if it is unusable."""
        try:
            return file.take(keys)
        except Damaged as error:
            self._set_aside(file, error)
        except FAILURES as error:
            self._give_up(file, error)
        return None

    def _read_keys(self, file: VectorFile, keys: np.ndarray) -> np.ndarray | None:
        """Return those of the keys that a file has; None if it is unusable."""
        try:
            return file.holds(keys)
        except Damaged as error:
            self._set_aside(file, error)
        except FAILURES as error:
            self._give_up(file, error)
        return None

    def _written(self, file: VectorFile, keys: np.ndarray, vectors: np.ndarray) -> bool:
        """Write to a file; where that fails, see to it that there is another one to write to."""
        try:
            file.add(keys, vectors)
        except Damaged as error:
            self._set_aside(file, error)
            return False
        except FAILURES as error:  # what is there can still be read
            logger.info("%s cannot be written (%s); vectors stay in memory", file.path, f"{error}")
            self._files.append(VectorFile(None, self.dimension))
            return False
        return True

    def _open_file(self, number: int) -> None:
        """Open a file to write to, the next one if that is damaged, or else memory."""
        if self.folder is not None and self._damages < DAMAGES:
            path = _path(self.folder, number)
            try:
                self._files.append(VectorFile(path, self.dimension))
            except Damaged as error:
                self._begin_next(path, error)
            except FAILURES as error:
                logger.info("%s cannot be written (%s); vectors stay in memory", path, f"{error}")
                with contextlib.suppress(Damaged, *FAILURES):
                    self._files.append(VectorFile(path, self.dimension, read_only=True))
                self._files.append(VectorFile(None, self.dimension))
        else:
            self._files.append(VectorFile(None, self.dimension))

    def _set_aside(self, file: VectorFile, error: Damaged) -> None:
        self._files.remove(file)
        if file.read_only or file.path is None:
            return
        self._begin_next(file.path, error)

    def _begin_next(self, path: Path, error: Damaged) -> None:
        """Leave a damaged file alone and open the next; what was set aside before it is deleted."""
        logger.warning(
            "%s is damaged (%s); it is set aside and a new one is begun", path, f"{error}"
        )
        self._damages += 1
        _delete_before(path)
        self._open_file(max(_number(path) + 1, _newest(self.folder)))

    def _give_up(self, file: VectorFile, error: Exception) -> None:
        """Stop using a file that cannot be read."""
        logger.info("%s cannot be read (%s)", file.path, f"{error}")
        self._files.remove(file)
        if not self._files or self._files[-1].read_only:
            self._files.append(VectorFile(None, self.dimension))


def _rows(keys: np.ndarray) -> dict[bytes, int]:
    return dict(zip(key_bytes(keys), range(len(keys)), strict=True))


def _path(folder: Path, number: int) -> Path:
    return folder / f"vectors-{number}.sqlite"


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def _newest(folder: Path | None) -> int:
    """Return the highest number of a file in a folder, 1 where there is none."""
    try:
        names = [] if folder is None else [path.name for path in folder.iterdir()]
    except OSError:
        names = []
    matches = map(_NAME.fullmatch, names)
    return max((int(match[1]) for match in matches if match), default=1)


def _delete_before(path: Path) -> None:
    """Delete the files with lower numbers, which nobody reads any more."""
    with contextlib.suppress(OSError):
        for other in path.parent.iterdir():
            match = _NAME.match(other.name)
            if match and int(match[1]) < _number(path):
                other.unlink()
