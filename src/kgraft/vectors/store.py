"""The cache of vectors: append-only segments in a folder that many processes may share.

A segment appears whole, under a name of its own, and is never changed; so nobody sees half of
one. When there are many of like size they are joined into one, and the old ones are deleted: who
has them mapped keeps them. What is damaged counts as absent.
"""

from __future__ import annotations

import math
import os
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np

from kgraft.vectors.segment import SUFFIX, Segment

JOINED = 8  # segments of like size that become one
SMALL = 1 << 12  # rows of a segment that is large enough to be left alone


def cache_folder() -> Path:
    """Return where vectors are cached: $KGRAFT_CACHE, or kgraft's folder in the user's cache."""
    own = os.environ.get("KGRAFT_CACHE")
    shared = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "kgraft"
    return Path(own or shared).expanduser() / "vectors"


class VectorStore:
    """Vectors by key, on disk or, where the folder cannot be written, in memory."""

    def __init__(self, folder: Path | None, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._segments: list[Segment] = []
        self._seen: set[str] = set()  # names of files that were looked at
        self._lock = threading.RLock()
        self._refresh()

    def take(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of keys (n, 2), and which of them are there; zeros for the others."""
        vectors = np.zeros((len(keys), self.dimension), np.float32)
        found = np.zeros(len(keys), bool)
        with self._lock:
            self._gather(self._segments, keys, vectors, found)
            if not found.all():
                self._gather(self._refresh(), keys, vectors, found)
        return vectors, found

    def holds(self, keys: np.ndarray) -> np.ndarray:
        """Return which keys (n, 2) are there, without a look at their vectors."""
        found = np.zeros(len(keys), bool)
        with self._lock:
            for segments in (self._segments, self._refresh()):
                for segment in segments:
                    found |= segment.find(keys) >= 0
        return found

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Take vectors (n, D) in under their keys (n, 2), and keep them on disk if that works."""
        with self._lock:
            segment = Segment.of(keys, vectors)
            written = self._written(segment)
            self._segments.append(segment if written is None else written)
            self._join()

    def _gather(
        self, segments: list[Segment], keys: np.ndarray, vectors: np.ndarray, found: np.ndarray
    ) -> None:
        for segment in list(segments):
            wanted = np.flatnonzero(~found)
            if not len(wanted):
                break
            row = segment.find(keys[wanted])
            there = row >= 0
            if segment.sound(row[there]):
                vectors[wanted[there]] = segment.vectors[row[there]]
                found[wanted[there]] = True
            else:
                self._drop([segment])

    def _refresh(self) -> list[Segment]:
        """Return the segments that other processes have added since, and keep them."""
        new = []
        for path in self._files():
            self._seen.add(path.name)
            try:
                segment = Segment.read(path, self.dimension)
            except OSError:  # joined by another process just now, or not ours to read
                continue
            if segment is None:
                _delete(path)
            else:
                new.append(segment)
        self._segments += new
        return new

    def _files(self) -> list[Path]:
        try:
            paths = [] if self.folder is None else sorted(self.folder.iterdir())
        except OSError:
            return []
        return [path for path in paths if path.suffix == SUFFIX and path.name not in self._seen]

    def _written(self, segment: Segment) -> Segment | None:
        """Write a segment and return it mapped; where that fails, write nothing from now on."""
        try:
            written = None if self.folder is None else segment.write(self.folder)
        except FileNotFoundError:  # joined by another process just now
            written = None
        except OSError:
            self.folder = written = None
        if written is not None and written.path is not None:
            self._seen.add(written.path.name)
        return written

    def _join(self) -> None:
        """Join small segments of like size, those in memory and those on disk apart."""
        alike = defaultdict(list)
        for segment in self._segments:
            if len(segment) < SMALL:
                level = int(math.log(max(len(segment), 1), JOINED))
                alike[segment.path is None, level].append(segment)
        for (in_memory, _), group in alike.items():
            if len(group) >= JOINED:
                joined = Segment.joined(group)
                kept = joined if in_memory else self._written(joined)
                if kept is not None:
                    self._drop(group)
                    self._segments.append(kept)

    def _drop(self, segments: list[Segment]) -> None:
        gone = {id(segment) for segment in segments}
        self._segments = [s for s in self._segments if id(s) not in gone]
        for segment in segments:
            if segment.path is not None:
                _delete(segment.path)


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # a cache that may only be read
        return
