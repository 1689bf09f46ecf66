"""One JSON object from one line of text, or the reason why it is not one."""

from __future__ import annotations

import json
from typing import Any

from kgraft.json_text import parse_json

JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; ValueError says in words what is wrong with it.

    >>> json_object('{"id": "Q1"}')
    {'id': 'Q1'}
    """
    try:
        value = parse_json(text)
        if "\\u" in text:
            # Half of an escaped surrogate pair is valid JSON but no character.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair (an escaped \\ud800 to \\udfff)") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"expected one object per line, found {json_kind(value)}")
    return value


def json_kind(value: object) -> str:
    """Name the kind of a JSON value.

    >>> json_kind([1, 2])
    'a list'
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object")
