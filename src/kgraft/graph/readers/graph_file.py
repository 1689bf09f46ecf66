"""What the readers of one file of another program have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kgraft.graph.readers.column_names import TableOptions


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
