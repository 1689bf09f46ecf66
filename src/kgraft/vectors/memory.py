"""The context memory: the first vectors of all entities and relations, refreshed now and then.

Yu et al. 2022: descriptions cannot be read at every step of training, so a memory holds what they
gave, and is refreshed after T(0), T(1), … steps with a momentum:

    T(i) = min(first · factor^⌊i / every⌋, most)             E ← m E + (1 - m) E_new

It lies on disk and is mapped, so that it may be larger than the main memory. Each refresh makes a
new version beside the old one; one that was killed resumes where it stopped.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.lib.format import open_memmap
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.json_text import read_json_file
from kgraft.progress import Progress, Silent
from kgraft.storage import flush, new_file

Part = Literal["entities", "relations"]
Read = Callable[[Part, np.ndarray], np.ndarray]
"""From a part and some of its indices (n,) to their vectors (n, F)."""

ROWS = 4096  # vectors that are read between two notes of how far a refresh is
logger = logging.getLogger("kgraft.vectors")
PARTS: tuple[Part, ...] = ("relations", "entities")
DONE = "done.json"  # how far the refresh under way is


class Memory:
    """The vectors of the entities and relations of a graph, in a folder.

    `version` is how often they were read; there is nothing in version 0.
    """

    def __init__(self, folder: Path, *, entities: int, relations: int, size: int) -> None:
        self.folder, self.size = Path(folder), size
        self.counts: dict[Part, int] = {"entities": entities, "relations": relations}
        self.version = 0
        self._mapped: dict[Part, np.ndarray] = {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, F); zeros below 0."""
        distinct, inverse = np.unique(entities.cpu().numpy(), return_inverse=True)
        vectors = np.array(self.rows_of("entities")[np.maximum(distinct, 0)], np.float32)
        vectors[distinct < 0] = 0.0
        rows = torch.from_numpy(inverse.reshape(entities.shape))
        return torch.nn.functional.embedding(rows, torch.from_numpy(vectors)).to(entities.device)

    @property
    def relations(self) -> Tensor:
        """The vectors of all relations, (R, F)."""
        return torch.from_numpy(np.array(self.rows_of("relations")))

    def rows_of(self, part: Part) -> np.ndarray:
        """Return the vectors of all entities or relations, mapped."""
        if not self.version:
            raise BadInput("the memory is empty", remedy="refresh it first")
        if part not in self._mapped:
            self._mapped[part] = np.load(self._file(part, self.version), mmap_mode="r")
        return self._mapped[part]

    def switch_to(self, version: int) -> bool:
        """Switch to another version, and return whether it exists."""
        there = version == 0 or all(self._file(part, version).is_file() for part in PARTS)
        if there:
            self.version, self._mapped = version, {}
        return there

    def delete_before(self, version: int) -> None:
        """Delete the versions before one."""
        for path in self.folder.glob("*.*.npy"):
            number = path.name.split(".")[1]
            if number.isdigit() and int(number) < min(version, self.version):
                path.unlink()

    def refresh(
        self, read: Read, *, momentum: float = 0.0, progress: Progress | None = None
    ) -> None:
        """Read all vectors again, and keep as much of the old ones as the momentum says.

        What was killed resumes where it stopped; `read` must be what it was. A version that is
        there already is used.
        """
        if not self.switch_to(self.version + 1):
            self._write(read, momentum if self.version else 0.0, progress or Silent())
            assert self.switch_to(self.version + 1)

    def _write(self, read: Read, momentum: float, progress: Progress) -> None:
        done = self._done(self.version + 1)
        progress.start("reading descriptions", sum(self.counts.values()))
        progress.advance(sum(done.values()))

        def blended(part: Part, rows: np.ndarray) -> np.ndarray:
            return self._blend(part, rows, read(part, rows), momentum)

        for part in PARTS:
            if not self._file(part, self.version + 1).is_file():
                self._write_part(part, blended, done, progress)
        (self.folder / DONE).unlink(missing_ok=True)

    def _write_part(
        self, part: Part, read: Read, done: dict[Part, int], progress: Progress
    ) -> None:
        """Write the file of entities or of relations, from where it was interrupted."""
        version = self.version + 1
        path = self._file(part, version)
        partial, shape = path.with_suffix(".partial"), (self.counts[part], self.size)
        new = open_memmap(partial, "r+" if done[part] else "w+", np.float32, shape)
        for first in range(done[part], shape[0], ROWS):
            rows = np.arange(first, min(first + ROWS, shape[0]))
            new[rows] = read(part, rows)
            new.flush()
            done[part] = first + len(rows)
            self._note(version, done)
            progress.advance(len(rows))
        del new
        flush(partial)
        partial.replace(path)

    def _blend(self, part: Part, rows: np.ndarray, new: np.ndarray, momentum: float) -> np.ndarray:
        """Return m E + (1 - m) E_new of some rows."""
        return momentum * self.rows_of(part)[rows] + (1 - momentum) * new if momentum else new

    def _done(self, version: int) -> dict[Part, int]:
        """Return how far the refresh to a version came before it was killed."""
        try:
            stored = read_json_file(self.folder / DONE)
        except FileNotFoundError:
            stored = {}
        except (OSError, ValueError) as error:
            logger.debug("%s cannot be read (%s); the refresh starts again", self.folder, error)
            stored = {}
        same = stored.get("of") == self._of(version)
        return {part: int(stored["done"][part]) if same else 0 for part in PARTS}

    def _note(self, version: int, done: dict[Part, int]) -> None:
        with new_file(self.folder / DONE) as partial:
            partial.write_text(json.dumps({"of": self._of(version), "done": done}), "utf-8")

    def _of(self, version: int) -> list[int]:
        """Return what a note of how far a refresh is belongs to."""
        return [version, self.size, *self.counts.values()]

    def _file(self, part: Part, version: int) -> Path:
        return self.folder / f"{part}.{version}.npy"
