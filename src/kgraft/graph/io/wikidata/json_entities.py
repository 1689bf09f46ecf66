"""The entities of a file of Wikidata's JSON, in whichever of its shapes they are written.

A dump has an entity per line, in one array or plainly. A saved answer of `wbgetentities` or of
`Special:EntityData` is an object with `entities`; there may be one per line. A list or an answer
that is spread over lines is read as a whole, up to `LARGEST` bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graph.batches import Refusals
from kgraft.graph.io.json_objects import JSON_SUFFIXES, json_kind, json_object
from kgraft.graph.io.lines import numbered_lines
from kgraft.progress import Progress, Silent
from kgraft.streams import open_bytes, plain_suffix

Object = dict[str, Any]
Read = tuple[int, str, Object | ValueError]

HEAD = 1 << 16  # bytes of a line that are looked at to find the shape of a file
LARGEST = 1 << 30  # bytes of JSON that are read as a whole
WIKIDATA_KEYS = re.compile(rb'"type"\s*:\s*"(item|property|lexeme)"|"entities"\s*:\s*[{]')


def entity_objects(
    path: Path, refusals: Refusals, progress: Progress, *, title: str
) -> Iterator[Read]:
    """Yield each entity with its line (0: unknown) and text, or why it cannot be read."""
    if not _is_one_text(path):
        for line, text in numbered_lines(path, refusals, progress, title=title):
            bare = text.strip().removesuffix(",")
            if bare not in ("", "[", "]"):
                yield from _of_line(line, text, bare)
        return
    for value in _entities(_whole(path, progress, title)):
        yield 0, json.dumps(value), _checked(value)


def _is_one_text(path: Path) -> bool:
    """Whether one JSON text is spread over lines, or is a list in one line."""
    with open_bytes(path, Silent()) as stream:
        first, second = _line(stream), b""
        if first == b"[":
            second = _line(stream)
    return first == b"{" or second == b"{" or (first.startswith(b"[") and len(first) > 1)


def _line(stream: Any) -> bytes:  # noqa: ANN401
    """Return the beginning of the next line that is not empty."""
    while raw := stream.readline(HEAD):
        line: bytes = raw.removeprefix(b"\xef\xbb\xbf").strip()
        if line:
            return line
    return b""


def _of_line(line: int, text: str, bare: str) -> Iterator[Read]:
    try:
        value = json_object(bare)
    except ValueError as error:
        yield line, text, error
        return
    if "type" in value or "entities" not in value:
        yield line, text, value
        return
    for entity in _entities(value):
        yield line, json.dumps(entity), _checked(entity)


def _whole(path: Path, progress: Progress, title: str) -> object:
    with open_bytes(path, progress, title=title) as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        remedy = "write one entity per line, as in Wikidata's dumps"
        raise BadInput(
            f"one JSON text of more than {LARGEST:,} bytes", file=str(path), remedy=remedy
        )
    remedy = "save it again"
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        reason = f"this is not JSON: {error.msg}"
        raise BadInput(reason, file=str(path), line=error.lineno, remedy=remedy) from error
    except RecursionError as error:
        raise BadInput("nested too deeply", file=str(path), remedy=remedy) from error
    except ValueError as error:
        raise BadInput(f"this is not JSON: {error}", file=str(path), remedy=remedy) from error


def _entities(value: object) -> list[object]:
    """Return what stands in a list or an answer; an entity alone is one."""
    if isinstance(value, dict) and "entities" in value and "type" not in value:
        value = value["entities"]
        return list(value.values()) if isinstance(value, dict) else _listed(value)
    return _listed(value)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _checked(value: object) -> Object | ValueError:
    """Return an entity if it is an object whose texts are made of characters."""
    if not isinstance(value, dict):
        return ValueError(f"expected an entity, found {json_kind(value)}")
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return ValueError("half of a surrogate pair (an escaped \\ud800 to \\udfff)")
    return value


def holds_wikidata(path: Path) -> bool:
    """Whether the first entity of a JSON file is Wikidata's: labels are objects by language."""
    if path.is_dir() or plain_suffix(path) not in JSON_SUFFIXES:
        return False
    with open_bytes(path, Silent(), lines=True) as stream:
        for _ in range(3):
            line = stream.readline().strip().rstrip(b",")
            if line == b"{":  # an object over several lines, which JSON Lines does not have
                return WIKIDATA_KEYS.search(stream.read(HEAD)) is not None
            if line not in (b"", b"["):
                return _is_wikidata_entity(line)
    return False


def _is_wikidata_entity(line: bytes) -> bool:
    try:
        item: Any = json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b"[") or b'"claims"' in line
    if isinstance(item, dict) and isinstance(item.get("entities"), dict):
        return "type" not in item  # an answer of the API
    if isinstance(item, list) and item:
        item = item[0]
    return isinstance(item, dict) and item.get("type") in ("item", "property", "lexeme")
