"""The log of a run: one line of JSON an epoch, and one for each time it was resumed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kgraft.json_text import parse_json, to_json
from kgraft.storage import flush, new_file


class Log:
    """A log that, after any number of kills, reads as if there had been none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rewind(self, epoch: int) -> None:
        """Drop the lines of epochs after `epoch`, which will come again, and what was cut off."""
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        with new_file(self.path) as partial:
            kept = [f"{line}\n" for line in lines if _belongs(line, epoch)]
            partial.write_text("".join(kept), encoding="utf-8")

    def add(self, entry: Mapping[str, object]) -> None:
        """Append one line and see it safely on the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(to_json(dict(entry)) + "\n")
        flush(self.path)


def _belongs(line: str, epoch: int) -> bool:
    """Tell whether a line is whole and not past an epoch; notes without an epoch stay."""
    try:
        return int(parse_json(line).get("epoch", 0)) <= epoch
    except (ValueError, AttributeError):
        return False
