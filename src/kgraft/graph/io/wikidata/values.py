"""Wikidata's values as literals: quantities with their unit, times, texts, coordinates.

Times are as in Wikidata's RDF: days in the Gregorian calendar, years before 1 counted from 0 (1 BC)
downwards. What is known to the century or so only is said in words.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pyarrow as pa

from kgraft.graph.batches import ROWS, Literals
from kgraft.graph.io.json_objects import json_kind
from kgraft.graph.literals import XSD

DECIMAL, ADDRESS = f"{XSD}decimal", f"{XSD}anyURI"
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
EXTERNAL_IDS = "external ids"
VAGUE = "times vaguer than a millennium"

_AMOUNT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_UNIT = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")
_TIME = re.compile(r"([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})Z")
_JULIAN, _EARTH = "/Q1985786", "/Q2"
_MILLENNIUM, _CENTURY, _DECADE, _YEAR, _MONTH, _DAY = range(6, 12)


class Value(NamedTuple):
    """A literal; without a datatype it is a string."""

    text: str
    datatype: str = ""


def value_of(snak: dict[str, Any], *, external_ids: bool) -> Value | str | None:
    """Return the literal of a statement, or why it has none; None where it leads to an entity."""
    if snak["snaktype"] != "value":
        return None
    datavalue = snak["datavalue"]
    value = datavalue["value"]
    match datavalue["type"]:
        case "wikibase-entityid":
            return None
        case "string":
            kind = snak.get("datatype", "string")
            if kind == "external-id" and not external_ids:
                return EXTERNAL_IDS
            return Value(_string(value), ADDRESS if kind == "url" else "")
        case "monolingualtext":
            tag = _string(value["language"])
            return Value(_string(value["text"]), f"@{tag}" if _LANGUAGE.fullmatch(tag) else "")
        case "quantity":
            return _quantity(_string(value["amount"]), _string(value["unit"]))
        case "time":
            return _time(value)
        case "globecoordinate":
            return _place(value)
        case kind:
            return f"values of the type {_string(kind)!r}"


def _quantity(amount: str, unit: str) -> Value:
    if not _AMOUNT.fullmatch(amount):
        raise ValueError(f"the amount {amount[:40]!r} is not a number")
    if unit != "1" and not _UNIT.fullmatch(unit):
        raise ValueError(f"the unit {unit[:40]!r} is neither 1 nor an IRI")
    return Value(amount.removeprefix("+"), DECIMAL if unit == "1" else unit)


def _time(value: dict[str, Any]) -> Value | str:
    text, precision = _string(value["time"]), _number(value["precision"])
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ValueError(f"the time {text[:40]!r} cannot be read")
    before = parts[1] == "-"
    count, month, day = (int(part) for part in parts.group(2, 3, 4))
    if precision < _YEAR:
        return _in_words(count, precision, before=before)
    year = 1 - count if before and count else count
    if precision >= _DAY and month and day:
        if _string(value.get("calendarmodel", "")).endswith(_JULIAN):
            year, month, day = gregorian(year, month, day)
        date = f"{_written(year)}-{month:02}-{day:02}"
        if precision == _DAY:
            return Value(date, f"{XSD}date")
        return Value(f"{date}T{parts[5]}Z", f"{XSD}dateTime")
    if precision >= _MONTH and month:
        return Value(f"{_written(year)}-{month:02}", f"{XSD}gYearMonth")
    return Value(_written(year), f"{XSD}gYear")


def _written(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04}"


def _in_words(count: int, precision: int, *, before: bool) -> Value | str:
    """Return a decade, century or millennium as a string."""
    era = " BC" if before else ""
    if precision == _DECADE:
        return Value(f"{count // 10 * 10}s{era}")
    if precision == _CENTURY:
        return Value(f"{_ordinal((count + 99) // 100)} century{era}")
    if precision == _MILLENNIUM:
        return Value(f"{_ordinal((count + 999) // 1000)} millennium{era}")
    return VAGUE


def _ordinal(number: int) -> str:
    """Return a number as an ordinal.

    >>> [_ordinal(number) for number in (1, 2, 11, 23)]
    ['1st', '2nd', '11th', '23rd']
    """
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """Return the Gregorian date of a Julian one, by way of its Julian day number (Richards 2013).

    >>> gregorian(1917, 10, 25)
    (1917, 11, 7)
    """
    shift = (14 - month) // 12
    year, month = year + 4800 - shift, month + 12 * shift - 3
    number = day + (153 * month + 2) // 5 + 365 * year + year // 4 - 39
    century, rest = divmod(4 * number + 3, 146097)
    year, rest = divmod(4 * (rest // 4) + 3, 1461)
    month, rest = divmod(5 * (rest // 4) + 2, 153)
    over = month // 10
    return 100 * century + year - 4800 + over, month + 3 - 12 * over, rest // 5 + 1


def _place(value: dict[str, Any]) -> Value:
    latitude, longitude = (_number(value[name]) for name in ("latitude", "longitude"))
    globe = value.get("globe") or _EARTH
    mark = "" if _string(globe).endswith(_EARTH) else f"<{globe}> "
    return Value(f"{mark}Point({longitude} {latitude})", WKT)


def _number(value: object) -> Any:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, found {json_kind(value)}")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {json_kind(value)}")
    return value


class ItemValues:
    """Literals of items, gathered into batches."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str, str]] = []

    @property
    def full(self) -> bool:
        """Whether it is time to take a batch."""
        return len(self._rows) >= ROWS

    def add(self, item: str, property_: str, value: Value) -> None:
        """Take one value in."""
        self._rows.append((item, property_, value.datatype, value.text))

    def take(self) -> list[Literals]:
        """Return what was gathered, if anything, and start again."""
        if not self._rows:
            return []
        subject, property_, datatype, text = (
            pa.array(column, pa.string()) for column in zip(*self._rows, strict=True)
        )
        self._rows = []
        return [Literals(subject, property_, datatype, text, of="entity")]
