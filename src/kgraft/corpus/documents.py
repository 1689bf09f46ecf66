"""Streams of documents: a file of texts in, JSON Lines out, resumed where a run stopped."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import parse_json, read_json_file, to_json
from kgraft.progress import Progress, Silent
from kgraft.storage import check_name, naming, new_file, sha256

logger = logging.getLogger("kgraft.corpus")

JSON_LINES = {".jsonl", ".json", ".ndjson"}
MAX_DEPTH = 100  # lists and objects within each other in a line
BATCH = 64  # documents

Document = dict[str, Any]
"""An object with a "text", and other fields that are passed on."""
Process = Callable[[list[Document]], Iterable[Document]]
"""From a batch of documents to what is written of each, in their order."""


def read_documents(file: Path) -> Iterator[Document]:
    """Yield the documents of a file: objects of JSON Lines, or plain lines, each a text."""
    if not file.is_file():
        raise NotFound(f"no file {file}; give JSON Lines with a text, or plain lines")
    is_json = file.suffix in JSON_LINES
    with file.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield _parse(line, file, number) if is_json else {"text": line.rstrip("\n")}
        except UnicodeDecodeError as error:
            raise BadInput("is not UTF-8", file=str(file), remedy="iconv -t UTF-8") from error


def process_documents(
    file: Path,
    out: Path | TextIO,
    process: Process,
    *,
    identity: Callable[[], Mapping[str, str]],
    title: str,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> None:
    """Process a file of documents batch by batch, and write one line of JSON for each.

    To a file, finished lines are kept in OUT.partial, with a note of the input and the `identity`
    of what processes it: the same call resumes after them, and another one is refused.
    """
    progress = progress or Silent()
    if not file.is_file():
        raise NotFound(f"no file {file}; give JSON Lines with a text, or plain lines")

    def lines_after(finished: int) -> Iterator[str]:
        progress.start(title, _count_lines(file))
        progress.advance(finished)
        documents = islice(read_documents(file), finished, None)
        while rows := list(islice(documents, batch)):
            yield from (to_json(row) + "\n" for row in process(rows))
            progress.advance(len(rows))

    if isinstance(out, Path):
        _write_resumable(out, lines_after, lambda: {"input": sha256(file), **identity()})
    else:
        out.writelines(lines_after(0))


def _write_resumable(
    out: Path,
    lines_after: Callable[[int], Iterator[str]],
    identity: Callable[[], Mapping[str, str]],
) -> None:
    """Write lines to a file, after those that an earlier run of the same identity has finished."""
    check_name(out)
    if out.exists():
        raise BadInput(f"{out} exists already", remedy="name another file")
    partial = out.with_name(out.name + ".partial")
    note = partial.with_name(partial.name + ".json")
    with naming(partial, partial), partial.open("a", encoding="utf-8") as written:
        _lock(written, partial)
        for line in lines_after(_resume(partial, note, identity())):
            written.write(line)
        written.flush()
        os.fsync(written.fileno())
    partial.replace(out)
    note.unlink(missing_ok=True)


def _lock(file: TextIO, path: Path) -> None:
    """Claim a file until it is closed; two writers would mix their lines."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadInput(f"another process is writing {path}", remedy="wait for it") from error
    except OSError:  # some network disks have no locks
        return


def _resume(partial: Path, note: Path, identity: Mapping[str, str]) -> int:
    """Return how many lines an earlier run has finished; refuse to resume another run's."""
    if partial.exists() and partial.stat().st_size:
        changed = _changed(note, identity)
        if changed:
            raise BadInput(
                f"{partial} was begun with another {' and '.join(changed)}",
                remedy=f"remove it, or run the command that began it ({note.name} describes it)",
            )
        return _count_finished_lines(partial)
    with new_file(note) as written:
        written.write_text(to_json(dict(identity), indent=1) + "\n", encoding="utf-8")
    return 0


def _changed(note: Path, identity: Mapping[str, str]) -> list[str]:
    """Return what differs from the run that a note describes; all, if it cannot be read."""
    try:
        stored = dict(read_json_file(note))
    except (OSError, ValueError, TypeError) as error:
        logger.debug("%s cannot be read (%s)", note, error)
        stored = {}
    return [name for name in identity if stored.get(name) != identity[name]]


def _count_finished_lines(partial: Path) -> int:
    """Return how many lines are finished; half a line at the end is cut off."""
    with partial.open("rb+") as file:
        count, size = 0, 0
        for line in file:
            if line.endswith(b"\n"):
                count, size = count + 1, size + len(line)
        file.truncate(size)
    return count


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def _parse(line: str, file: Path, number: int) -> Document:
    reason = "no text"
    try:
        document = parse_json(line)
        _refuse_deep(line, document)
        if isinstance(document["text"], str):
            return dict(document)
    except ValueError as error:
        reason = f"bad JSON: {error}"
    except (KeyError, TypeError):
        pass
    raise BadInput(reason, file=str(file), line=number, remedy='write {"text": "…"}')


def _refuse_deep(line: str, document: object) -> None:
    """Refuse fields so deep that they could be read, but perhaps not written again."""
    if line.count("[") + line.count("{") <= MAX_DEPTH:
        return
    values: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        parts = [value.values() if isinstance(value, dict) else value for value in values]
        values = [v for part in parts for v in part if isinstance(v, dict | list)]
    if values:
        raise ValueError("nested too deeply")
