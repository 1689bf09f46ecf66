"""Lines of text files with their numbers; those that are not UTF-8 are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgraft.graph.batches import Refusals
from kgraft.progress import Progress
from kgraft.streams import BOM, open_bytes


def numbered_lines(
    path: Path, refusals: Refusals, progress: Progress, *, title: str = ""
) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of each line of a UTF-8 file; lines that are no UTF-8 are refused.

    Only a line feed ends a line; one carriage return before it is dropped, as is a byte order mark
    at the start of the file.
    """
    with open_bytes(path, progress, title=title, lines=True) as stream:
        for number, raw in enumerate(stream, 1):
            if number == 1:
                raw = raw.removeprefix(BOM)
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                refuse_encoding(raw, error, refusals, file=str(path), line=number)
            else:
                yield number, text


def refuse_encoding(
    raw: bytes, error: UnicodeDecodeError, refusals: Refusals, *, file: str, line: int
) -> None:
    """Refuse a line that is not UTF-8."""
    refusals.refuse(
        "invalid UTF-8",
        file=file,
        line=line,
        detail=f"byte 0x{raw[error.start]:02x} at column {error.start + 1}",
        remedy="convert it to UTF-8 (iconv -t UTF-8), or leave such lines out (--skip-bad)",
        text=raw.decode("utf-8", errors="backslashreplace"),
    )
