"""Files of texts in, files of links out: a line each, going on where it stopped."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgraft.errors import BadInput, NotFound

if TYPE_CHECKING:
    from kgraft.link import Link, Linker
    from kgraft.progress import Progress

AT_ONCE = 64  # texts linked together


def link_file(
    linker: Linker,
    file: Path,
    out: Path | None,
    *,
    threshold: float | None,
    progress: Progress,
) -> None:
    """Link a file of texts; without `out` the links go to standard output.

    What is done is kept in OUT.partial: the same call goes on behind it.
    """
    if not file.is_file():
        raise NotFound(f"no file {file}; give JSON Lines with a text, or plain lines")
    if out is None:
        for line in _linked(linker, file, 0, threshold, progress):
            sys.stdout.write(line)
        return
    if out.exists():
        raise BadInput(f"{out} exists already", remedy="name another file")
    partial = out.with_name(out.name + ".partial")
    done = _whole_lines(partial)
    # Half a surrogate pair is no UTF-8; its escape is what JSON has for it.
    with partial.open("a", encoding="utf-8", errors="backslashreplace") as written:
        for line in _linked(linker, file, done, threshold, progress):
            written.write(line)
        written.flush()
        os.fsync(written.fileno())
    partial.replace(out)


def _linked(
    linker: Linker, file: Path, done: int, threshold: float | None, progress: Progress
) -> Iterator[str]:
    """Yield lines of links for the texts behind those that are done."""
    progress.start("linking", _count(file))
    progress.advance(done)
    left = islice(_examples(file), done, None)
    while some := list(islice(left, AT_ONCE)):
        found = linker.link([example["text"] for example in some], threshold=threshold)
        for example, links in zip(some, found, strict=True):
            written = {**example, "links": [as_object(link) for link in links]}
            yield json.dumps(written, ensure_ascii=False) + "\n"
        progress.advance(len(some))


def _examples(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the texts of a file as objects; a plain line is a text."""
    as_json = file.suffix in {".jsonl", ".json", ".ndjson"}
    with file.open(encoding="utf-8") as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield _parsed(line, file, number) if as_json else {"text": line.rstrip("\n")}
        except UnicodeDecodeError as error:
            raise BadInput("is not UTF-8", file=str(file), remedy="iconv -t UTF-8") from error


def _parsed(line: str, file: Path, number: int) -> dict[str, Any]:
    try:
        example = json.loads(line)
        if isinstance(example["text"], str):
            return dict(example)
    except (ValueError, KeyError, TypeError):
        pass
    raise BadInput('no text; write {"text": "…"}', file=str(file), line=number)


def _whole_lines(partial: Path) -> int:
    """Return how many lines a run before has finished; half a line at the end is cut off."""
    if not partial.exists():
        return 0
    with partial.open("rb+") as file:
        done, whole = 0, 0
        for line in file:
            if line.endswith(b"\n"):
                done, whole = done + 1, whole + len(line)
        file.truncate(whole)
    return done


def _count(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def as_object(link: Link) -> dict[str, object]:
    """Return a link as JSON has it."""
    candidates = [
        {
            "id": scored.entity.id,
            "label": scored.entity.label,
            "description": scored.entity.description,
            "types": scored.entity.types,
            "score": scored.score,
            "prior": scored.prior,
            "fit": scored.fit,
        }
        for scored in link.candidates
    ]
    return {
        "start": link.start,
        "end": link.end,
        "surface": link.surface,
        "id": link.entity.id,
        "label": link.entity.label,
        "score": link.score,
        "candidates": candidates,
    }
