"""Files of texts in, files of links out: one line per text, resumed where a run stopped."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import parse_json, read_json_file, to_json
from kgraft.link.linker import TEXTS_AT_ONCE, Linker
from kgraft.progress import Progress, Silent
from kgraft.storage import check_name, naming, new_file, sha256

JSON_LINES = {".jsonl", ".json", ".ndjson"}
DEEPEST = 100  # lists and objects within each other in a line


def link_file(
    linker: Linker,
    file: Path,
    out: Path | TextIO,
    *,
    threshold: float | None = None,
    progress: Progress | None = None,
) -> None:
    """Link a file of texts and write one line of JSON per text, to a file or a stream.

    What is done is kept in OUT.partial, with a note of input, model, graph and threshold: the same
    call resumes after it, and another one is refused.
    """
    progress = progress or Silent()
    if not file.is_file():
        raise NotFound(f"no file {file}; give JSON Lines with a text, or plain lines")
    if not isinstance(out, Path):
        for line in _linked_lines(linker, file, 0, threshold, progress):
            out.write(line)
        return
    check_name(out)
    if out.exists():
        raise BadInput(f"{out} exists already", remedy="name another file")
    partial = out.with_name(out.name + ".partial")
    note = partial.with_name(partial.name + ".json")
    with naming(partial, partial), partial.open("a", encoding="utf-8") as written:
        _lock(written, partial)
        done = _resume(partial, note, run_identity(linker, file, threshold))
        for line in _linked_lines(linker, file, done, threshold, progress):
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


def run_identity(linker: Linker, file: Path, threshold: float | None) -> dict[str, str]:
    """Return what a run is made of; a resumed run must be made of the same."""
    options = hashlib.sha256(repr(linker.options).encode()).hexdigest()[:16]
    least = linker.threshold if threshold is None else threshold
    return {
        "input": sha256(file),
        "model": linker.model.digest(),
        "graph": linker.knowledge.version,
        "threshold": f"{least:.6f}",
        "options": options,
    }


def _resume(partial: Path, note: Path, identity: dict[str, str]) -> int:
    """Return how many lines an earlier run has finished; refuse to resume another run's."""
    if partial.exists() and partial.stat().st_size:
        try:
            stored = dict(read_json_file(note))
        except (OSError, ValueError, TypeError):
            stored = {}
        changed = [name for name in identity if stored.get(name) != identity[name]]
        if changed:
            raise BadInput(
                f"{partial} was begun with another {' and '.join(changed)}",
                remedy=f"remove it, or run the command that began it ({note.name} describes it)",
            )
        return _count_whole_lines(partial)
    with new_file(note) as written:
        written.write_text(to_json(identity, indent=1) + "\n", encoding="utf-8")
    return 0


def _linked_lines(
    linker: Linker, file: Path, done: int, threshold: float | None, progress: Progress
) -> Iterator[str]:
    """Yield lines of links for the texts after those that are done."""
    progress.start("linking", _count_lines(file))
    progress.advance(done)
    examples = islice(read_texts(file), done, None)
    while batch := list(islice(examples, TEXTS_AT_ONCE)):
        linked = linker.link([example["text"] for example in batch], threshold=threshold)
        for example, links in zip(batch, linked, strict=True):
            line = {**example, "links": [link.to_dict() for link in links]}
            yield to_json(line) + "\n"
        progress.advance(len(batch))


def read_texts(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the texts of a file as objects; a plain line is a text."""
    if not file.is_file():
        raise NotFound(f"no file {file}; give JSON Lines with a text, or plain lines")
    as_json = file.suffix in JSON_LINES
    with file.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield _parse(line, file, number) if as_json else {"text": line.rstrip("\n")}
        except UnicodeDecodeError as error:
            raise BadInput("is not UTF-8", file=str(file), remedy="iconv -t UTF-8") from error


def _parse(line: str, file: Path, number: int) -> dict[str, Any]:
    reason = "no text"
    try:
        example = parse_json(line)
        _refuse_deep(line, example)
        if isinstance(example["text"], str):
            return dict(example)
    except ValueError as error:
        reason = f"bad JSON: {error}"
    except (KeyError, TypeError):
        pass
    raise BadInput(reason, file=str(file), line=number, remedy='write {"text": "…"}')


def _refuse_deep(line: str, example: object) -> None:
    """Refuse fields so deep that they could be read, but perhaps not written again."""
    if line.count("[") + line.count("{") <= DEEPEST:
        return
    values: list[Any] = [example]
    for _ in range(DEEPEST):
        held = [v.values() if isinstance(v, dict) else v for v in values]
        values = [v for several in held for v in several if isinstance(v, dict | list)]
    if values:
        raise ValueError("nested too deeply")


def _count_whole_lines(partial: Path) -> int:
    """Return how many lines are finished; half a line at the end is cut off."""
    with partial.open("rb+") as file:
        done, size = 0, 0
        for line in file:
            if line.endswith(b"\n"):
                done, size = done + 1, size + len(line)
        file.truncate(size)
    return done


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)
