"""JSON from others and for others: read with a limit, written so that all can read it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from kgraft.errors import BadInput

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON (write null)")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_json(text: str) -> Any:  # noqa: ANN401
    """Parse JSON as its standard has it; ValueError says in words what is wrong.

    >>> parse_json('{"id": "Q1"}')
    {'id': 'Q1'}
    """
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_json_file(path: Path) -> Any:  # noqa: ANN401
    """Parse a small file of our own or of a model; ValueError says what is wrong with it.

    Python's own NaN is let through, as older versions wrote it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return strict JSON: null for what is not finite, U+FFFD for half a surrogate pair.

    >>> to_json({"share": float("nan"), "text": "half \\ud83d"})
    '{"share": null, "text": "half \ufffd"}'
    """
    try:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
        except ValueError:  # a number is not finite
            text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    except RecursionError as error:
        raise BadInput("a value is nested too deeply to be written as JSON") from error
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _finite(value: object) -> object:
    """Return a value with None in place of numbers that are not finite."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
