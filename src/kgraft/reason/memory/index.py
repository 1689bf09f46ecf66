"""All slots of a graph by the vectors of their words, for texts that name no entity.

The vectors are in the cache folder. For a version of the graph that shares most slots with one that
was encoded before, its table is used as it is, and what is new is kept in memory beside it.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch

from kgraft.arrays import expand
from kgraft.columns import arrow_numbers
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.measure import Queries
from kgraft.progress import Progress, Silent
from kgraft.reason.memory.slots import SlotWords
from kgraft.reason.memory.table import Encode, KeyTable, make_table
from kgraft.storage import cache_folder
from kgraft.vectors import TextCache, text_keys

FORMAT = 1  # of the tables in the cache
WORDS = 65_536  # slots whose words are in memory at once
ADDED = 10_000  # new texts from which on the table is written again
OTHERS = 8  # tables of other versions that are looked at
logger = logging.getLogger("kgraft.reason")


def table_folder(encoder_identity: str, cache: bool | str | Path) -> Path | None:
    """Return where the tables of an encoder are cached, None where they are not."""
    if cache is False:
        return None
    where = cache_folder() / "facts" if cache is True else Path(cache).expanduser() / "facts"
    name = hashlib.sha256(f"{FORMAT} {encoder_identity}".encode()).hexdigest()[:32]
    return where / name


@dataclass(frozen=True)
class SlotKeys:
    """The distinct texts of slots, by their keys, and which slots each belongs to."""

    keys: np.ndarray  # (T, 2) uint64, ascending
    first: np.ndarray  # (T,) a slot of each text
    text: np.ndarray  # (S,) of each slot
    order: np.ndarray  # (S,) slots by text
    bounds: np.ndarray  # (T + 1,) where the slots of each text begin in the order

    @classmethod
    def of(cls, slots: Queries, words: SlotWords) -> SlotKeys:
        """Hash the words of all slots."""
        keys = np.zeros((len(slots), 2), np.uint64)
        for begin in range(0, len(slots), WORDS):
            rows = slice(begin, begin + WORDS)
            keys[rows] = text_keys(words(slots.entity[rows], slots.relation[rows]))
        distinct, first, inverse, count = np.unique(
            keys, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        text = inverse.ravel()
        order = np.argsort(text, kind="stable")
        return cls(distinct, first, text, order, np.append(0, np.cumsum(count)))

    @property
    def digest(self) -> str:
        """A name for all the texts together."""
        return hashlib.sha256(self.keys.tobytes()).hexdigest()[:32]


class SlotIndex:
    """The slots of a graph, searched by vectors; nothing is encoded before `fill`."""

    def __init__(
        self, graph: Graph, words: SlotWords, cache: TextCache, folder: Path | None
    ) -> None:
        self.graph, self._words, self._cache = graph, words, cache
        self._folder = folder
        self._lock = threading.Lock()
        self._filled: _Filled | None = None

    @cached_property
    def slots(self) -> Queries:
        """All slots of the graph."""
        return Queries.of(self.graph.triples, self.graph.manifest.relations)

    @cached_property
    def _texts(self) -> SlotKeys:
        return SlotKeys.of(self.slots, self._words)

    @property
    def is_filled(self) -> bool:
        """Whether all slots are encoded and can be searched."""
        return self._filled is not None

    def fill(self, *, progress: Progress | None = None) -> int:
        """Encode all that is missing, and return how many texts that was."""
        with self._lock:
            if self._filled is not None or not len(self.slots):
                return 0
            if self._folder is not None:
                return self._fill(self._folder, progress or Silent())
            # What is mapped stays readable when its file is gone.
            with TemporaryDirectory(prefix="kgraft-", ignore_cleanup_errors=True) as folder:
                return self._fill(Path(folder), progress or Silent())

    def _fill(self, folder: Path, progress: Progress) -> int:
        own = folder / self._texts.digest
        table, row = self._best_table(own)
        missing = int((row < 0).sum())
        if table is None or missing > ADDED:
            make_table(own, self._texts.keys, self._encoder(table, row), progress)
            table = KeyTable.open(own)
            row = table.rows(self._texts.keys)
        self._filled = self._complete(table, row)
        return missing

    def _best_table(self, own: Path) -> tuple[KeyTable | None, np.ndarray]:
        """Return the table that has most of the texts, and the row of each text in it or -1."""
        best, best_row = None, np.full(len(self._texts.keys), -1, np.int64)
        for folder in [own] if own.exists() else _newest(own.parent):
            table = _open(folder)
            if table is None:
                continue
            row = table.rows(self._texts.keys)
            if (row >= 0).sum() > (best_row >= 0).sum():
                best, best_row = table, row
        return best, best_row

    def _encoder(self, table: KeyTable | None, row: np.ndarray) -> Encode:
        """Return what gives the vectors of texts: those that a table has are copied."""

        def encode(texts: np.ndarray) -> np.ndarray:
            vectors = np.zeros((len(texts), self._cache.encoder.dimension), np.float32)
            new = np.flatnonzero(row[texts] < 0)
            if table is not None:
                shared = np.flatnonzero(row[texts] >= 0)
                vectors[shared] = table.vectors(row[texts[shared]])
            if len(new):
                words = self._say(self._texts.first[texts[new]]).to_pylist()
                vectors[new] = self._cache.encoder.encode(words)
            return vectors

        return encode

    def _complete(self, table: KeyTable, row: np.ndarray) -> _Filled:
        """Add to the index of a table what it lacks, and remove what the graph lacks."""
        new = np.flatnonzero(row < 0)
        row_of_text = row.copy()
        row_of_text[new] = len(table) + np.arange(len(new))
        text = np.full(len(table) + len(new), -1)
        text[row_of_text] = np.arange(len(row))
        added = np.zeros((0, self._cache.encoder.dimension), np.float32)
        if len(new):
            added = self._cache.take(self._say(self._texts.first[new]))
            table.index.add(row_of_text[new], torch.from_numpy(added))
        table.index.remove(np.flatnonzero(text < 0))
        return _Filled(table, added, row_of_text, text)

    def search(self, query: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the slots whose words are nearest to a query (D,), best first, and their dots.

        There are none before `fill`.
        """
        if self._filled is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        ids, dots = self._filled.table.index.search(torch.from_numpy(query[None]), limit)
        hits = np.flatnonzero(ids[0] >= 0)
        text = self._filled.text[ids[0, hits]]
        owner, position = expand(self._texts.bounds[text], self._texts.bounds[text + 1])
        return self._texts.order[position][:limit], dots[0, hits[owner]][:limit]

    def take(self, texts: pa.Array) -> np.ndarray:
        """Return the vectors of any texts, (n, D); what is nowhere yet is encoded now."""
        if self._filled is None:
            return self._cache.take(texts)
        row = self._filled.table.rows(text_keys(texts))
        missing = np.flatnonzero(row < 0)
        vectors = self._filled.table.vectors(np.maximum(row, 0))
        if len(missing):
            vectors[missing] = self._cache.take(texts.take(arrow_numbers(missing)))
        return vectors

    def vectors(self, slots: np.ndarray) -> np.ndarray:
        """Return the vectors of slots, (n, D); before `fill` those not cached are encoded."""
        filled = self._filled
        if filled is None:
            return self._cache.take(self._say(slots))
        row = filled.row[self._texts.text[slots]]
        vectors = np.empty((len(slots), self._cache.encoder.dimension), np.float32)
        is_added = row >= len(filled.table)
        vectors[~is_added] = filled.table.vectors(row[~is_added])
        vectors[is_added] = filled.added[row[is_added] - len(filled.table)]
        return vectors

    def _say(self, slots: np.ndarray) -> pa.Array:
        return self._words(self.slots.entity[slots], self.slots.relation[slots])


class _Filled(NamedTuple):
    """A table that is searched, with what was added to it in memory."""

    table: KeyTable
    added: np.ndarray  # (A, D), behind the rows of the table
    row: np.ndarray  # (T,) by text
    text: np.ndarray  # by row, -1 for texts that the graph lacks


def _newest(folder: Path) -> list[Path]:
    """Return the tables of other graphs and versions, the newest first."""
    tables = [path for path in folder.glob("*") if (path / "index.faiss").is_file()]
    return sorted(tables, key=lambda path: -path.stat().st_mtime)[:OTHERS]


def _open(folder: Path) -> KeyTable | None:
    """Open a table; a damaged one is passed over."""
    try:
        return KeyTable.open(folder)
    except (BadInput, OSError, ValueError) as error:
        logger.warning("%s cannot be read (%s); its vectors are made again", folder, error)
        return None
