"""What the readers of one file of another program have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kgraft.errors import BadInput
from kgraft.graph.io.options import TableOptions
from kgraft.progress import Progress
from kgraft.streams import BOM, open_bytes

LARGEST = 1 << 30  # bytes of a file that is read at once


class GraphFile:
    """One file with a graph, plain or packed."""

    format: str
    types_are_ids = False

    def __init__(self, path: Path, options: TableOptions | None = None) -> None:
        self.path, self.options = path, options or TableOptions()
        self.unknown: Literal["refuse", "add", "drop"] = self.options.undeclared

    def describe(self) -> str:
        """Return the name of the file."""
        return self.path.name


def read_text(path: Path, progress: Progress) -> str:
    """Return a whole file as text, in UTF-8 or, as older formats were made for, in ISO 8859-1."""
    with open_bytes(path, progress) as stream:
        data = stream.read(LARGEST + 1).removeprefix(BOM)
    if len(data) > LARGEST:
        reason = f"the file is larger than {LARGEST >> 20} MiB"
        raise BadInput(reason, file=str(path), remedy="write it as GraphML or as an edge list")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
