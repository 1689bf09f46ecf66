"""Files as streams: plain, .gz or .bz2, with progress counted in the bytes read from disk.

What a packed file unpacks to has a limit, and so has the length of a line: a file that was made to
fill the memory is refused before it does.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from pathlib import Path
from typing import IO, cast

from kgraft.errors import BadInput
from kgraft.progress import Progress

BUFFER = 1 << 20
PACKERS = {".gz": "gzip", ".bz2": "bzip2"}
BOM = b"\xef\xbb\xbf"
FREE = 1 << 26  # bytes that any packed file may unpack to
RATIO = 200  # times its own size that a packed file may unpack to: texts come to 5 to 50
LONGEST = 1 << 28  # bytes of a line

_ratio = ContextVar("ratio", default=float(RATIO))


@contextmanager
def unpack_ratio(times: float) -> Iterator[None]:
    """Let packed files unpack to so many times their size while the block runs."""
    before = _ratio.set(times)
    try:
        yield
    finally:
        _ratio.reset(before)


class _Counted(io.RawIOBase):
    """A file on disk that reports each read to `progress`."""

    def __init__(self, raw: io.FileIO, progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self._raw.readinto(buffer) or 0
        self._progress.advance(count)
        return count


class _Unpacked(io.RawIOBase):
    """The content of a stream; what goes wrong on the way becomes BadInput."""

    def __init__(self, inner: IO[bytes], path: Path, most: float, longest: float) -> None:
        self._inner, self._path = inner, path
        self._left, self._longest = most, longest
        self._line = 0  # bytes since the last line feed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error) as error:
            raise _broken(self._path, error) from error
        self._watch(data)
        buffer[: len(data)] = data
        return len(data)

    def _watch(self, data: bytes) -> None:
        """Refuse what is made to fill the memory."""
        self._left -= len(data)
        if self._left < 0:
            reason = f"it unpacks to more than {_ratio.get():g} times its size"
            remedy = "if it is meant to, unpack it first or raise --unpack-ratio"
            raise BadInput(reason, file=str(self._path), remedy=remedy)
        end = data.rfind(b"\n")
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._line > self._longest:
            reason = f"a line is longer than {LONGEST >> 20} MiB"
            remedy = "check that it is a file of lines"
            raise BadInput(reason, file=str(self._path), remedy=remedy)


def plain_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in small letters and without .gz or .bz2.

    >>> plain_suffix(Path("dump.NT.gz"))
    '.nt'
    """
    inner = path.with_suffix("") if path.suffix.lower() in PACKERS else path
    return inner.suffix.lower()


@contextmanager
def open_bytes(
    path: Path, progress: Progress, *, title: str = "", lines: bool = False
) -> Iterator[io.BufferedReader]:
    """Open a plain, .gz or .bz2 file for reading; the suffix decides, the bar counts disk bytes.

    With `lines`, a line that no memory could hold is refused.
    """
    try:
        raw = io.FileIO(path)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise BadInput("no such file", file=str(path), remedy="check the path") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with raw:
        progress.start(title or f"reading {path.name}", total=size)
        counted = cast(IO[bytes], io.BufferedReader(_Counted(raw, progress), BUFFER))
        packer = PACKERS.get(path.suffix.lower())
        if packer and size == 0:
            raise _broken(path, EOFError("the file is empty"))
        unpacked = _unpacked(counted, packer)
        most = max(FREE, size * _ratio.get()) if packer else inf
        longest = LONGEST if lines else inf
        yield io.BufferedReader(_Unpacked(unpacked, path, most, longest), BUFFER)


def _unpacked(counted: IO[bytes], packer: str | None) -> IO[bytes]:
    if packer == "gzip":
        return cast(IO[bytes], gzip.GzipFile(fileobj=counted))
    if packer == "bzip2":
        return cast(IO[bytes], bz2.BZ2File(counted))
    return counted


def _broken(path: Path, error: Exception) -> BadInput:
    packer = PACKERS.get(path.suffix.lower())
    if packer is None:
        return _unreadable(path, error)
    state = "truncated" if isinstance(error, EOFError) else "damaged"
    return BadInput(
        f"the {packer} file is {state} ({error})",
        file=str(path),
        remedy=f"check it with `{packer} -t`, and download it again",
    )


def _unreadable(path: Path, error: Exception) -> BadInput:
    reason = getattr(error, "strerror", None) or str(error)
    return BadInput(f"cannot be read ({reason})", file=str(path), remedy="check the path")
