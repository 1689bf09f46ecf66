"""Wikidata's JSON: items as entities, properties as relations, claims as triples or literals.

Dumps, lists of items and answers of the API are read (see `wikidata_json`). A triple can only be
kept where both its items are in the file, so the file is read twice: first for items with their
values and properties, then for claims that lead to items. Of the claims of a property the preferred
ones count, else the normal ones. An item that stands in the file again is left out. Properties and
classes that the file uses and lacks get their labels from a table of the common ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from kgraft.graph.batches import Batch, PropertyLabels, Refusals
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.json_objects import json_kind
from kgraft.graph.io.options import SourceOptions
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.graph.io.wikidata.ids import SeenIds, common_labels
from kgraft.graph.io.wikidata.json_entities import Object, entity_objects, holds_wikidata
from kgraft.graph.io.wikidata.values import ItemValues, Value, value_of
from kgraft.graph.structure import count_by_name
from kgraft.progress import Progress

INSTANCE_OF = "P31"
KINDS = {"item": "entity", "property": "relation"}
MALFORMED = (ValueError, KeyError, TypeError, AttributeError)


class _Item(NamedTuple):
    """An item or a property to declare: its line, `entity` or `relation`, its row and values."""

    line: int
    kind: str
    row: Object
    values: list[tuple[str, Value | str]]


class WikidataSource:
    """A file of Wikidata's JSON, plain or packed; names and descriptions in `lang`.

    A label falls back to the one for all languages (`mul`), then to English, then to the first
    there is; a description to `mul` and English. Aliases are those in `lang` and `mul`. How many
    pages of other sites an item has (its sitelinks) says how likely its names mean it. Ids that
    other sites have for an item are kept with `external_ids`, else counted.
    """

    format = "wikidata"
    unknown: Literal["refuse", "add", "drop"] = "drop"
    types_are_ids = True

    def __init__(self, path: str | Path, *, lang: str = "en", external_ids: bool = False) -> None:
        self.path, self.lang, self.external_ids = Path(path), lang, external_ids
        self._left: set[int] = set()  # places in the file of entities that the triples do without

    @property
    def labels(self) -> dict[str, str]:
        """Labels of types that are not in the file."""
        return common_labels()

    def describe(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield items, properties and values, then, in a second reading, the triples."""
        self._left.clear()
        seen = SeenIds()
        yield from self._declared(seen, refusals, progress)
        yield from self._triples(seen, refusals, progress)

    def _declared(self, seen: SeenIds, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        file = str(self.path)
        rows = {"entity": TableRows("entity", file), "relation": TableRows("relation", file)}
        literals = _LiteralRows()
        for line, kind, row, values in self._items(seen, refusals, progress):
            rows[kind].add(row, line)
            if rows[kind].full:
                yield from rows[kind].take()
            literals.add(row["id"], values)
            if literals.values.full:
                yield from literals.values.take()
        for gathered in rows.values():
            yield from gathered.take()
        yield from literals.finish(refusals)

    def _items(self, seen: SeenIds, refusals: Refusals, progress: Progress) -> Iterator[_Item]:
        """Yield the items and properties to declare; others are refused or left out."""
        title = f"reading items of {self.path.name}"
        read = entity_objects(self.path, refusals, progress, title=title)
        for position, (line, text, value) in enumerate(read):
            try:
                kind, row = self._row(value)
                values = self._values(value) if kind == "entity" and row is not None else []
                reason = kind if row is None else "" if seen.add(row["id"]) else "repeated items"
            except MALFORMED as error:
                self._left.add(position)
                self._refuse(refusals, error, line, text)
                continue
            if row is None or reason:
                self._left.add(position)
                refusals.leave_out(reason)
                continue
            yield _Item(line, kind, row, values)

    def _values(self, value: Object | ValueError) -> list[tuple[str, Value | str]]:
        """Return property and value of each claim that leads to no entity."""
        assert not isinstance(value, ValueError)
        values = (
            (property_, value_of(snak, external_ids=self.external_ids))
            for property_, snak in _best(value, Counter())
        )
        return [(property_, literal) for property_, literal in values if literal is not None]

    def _row(self, value: Object | ValueError) -> tuple[str, Object | None]:
        """Return what an entity becomes, with its row; without a row, what it is instead."""
        if isinstance(value, ValueError):
            raise value
        if "missing" in value and "type" not in value:
            return "entities that Wikidata lacks", None
        kind = KINDS.get(_string(value["type"]))
        if kind is None:
            return "lexemes and other entities", None
        return kind, _row(value, kind, self.lang)

    def _triples(self, seen: SeenIds, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        file = str(self.path)
        triples, used = TripleRows(file), dict[str, int]()
        left_out: Counter[str] = Counter()
        title = f"reading claims of {self.path.name}"
        read = entity_objects(self.path, Refusals(skip=True), progress, title=title)
        for position, (line, _, value) in enumerate(read):
            if isinstance(value, ValueError) or position in self._left or value["type"] != "item":
                continue
            for triple in _claims(value, left_out):
                triples.add(triple, line)
                used.setdefault(triple[1], line)
            if triples.full:
                yield from triples.take()
        yield from triples.take()
        yield from self._properties(used, seen)
        for kind, count in left_out.items():
            refusals.leave_out(kind, count)

    def _properties(self, used: Mapping[str, int], seen: SeenIds) -> Iterator[Batch]:
        """Yield the properties, by the line of their first use, that only we have a label for."""
        properties, labels = TableRows("relation", str(self.path)), common_labels()
        for relation, line in used.items():
            if relation in labels and seen.add(relation):
                properties.add({"id": relation, "label": labels[relation]}, line)
        yield from properties.take()

    def _refuse(self, refusals: Refusals, error: Exception, line: int, text: str) -> None:
        match error:
            case KeyError():
                detail = f"no {error}"
            case ValueError():
                detail = str(error)
            case _:
                detail = "its parts are not as in a dump"
        file = str(self.path)
        refusals.refuse("bad entity", file=file, line=line or None, detail=detail, text=text)


def _row(value: Object, kind: str, lang: str) -> Object:
    languages = dict.fromkeys([lang, "mul", "en"])
    labels = _map(value, "labels")
    label = _text(labels, [*languages, *sorted(labels)])
    names = [_string(alias["value"]) for tag in (lang, "mul") for alias in _aliases(value, tag)]
    row: Object = {
        "id": _id(value),
        "label": label,
        "description": _text(_map(value, "descriptions"), languages),
        "aliases": [name for name in dict.fromkeys(names) if name != label],
    }
    if kind == "entity":
        claims = list(_claims(value, Counter()))  # also finds out whether they are well-formed
        types = (tail for _, relation, tail in claims if relation == INSTANCE_OF)
        row["types"] = list(dict.fromkeys(types))
        if sitelinks := len(_map(value, "sitelinks")):
            row["name_counts"] = [sitelinks] * (1 + len(row["aliases"]))
    return row


def _id(value: Object) -> str:
    if not _string(value["id"]):
        raise ValueError("the id is empty")
    return _string(value["id"])


def _map(value: Object, name: str) -> Object:
    """Return a map of an entity; an empty one may be missing or written as an empty list."""
    entries = value.get(name) or {}
    if not isinstance(entries, dict):
        raise ValueError(f"{name} is not an object")
    return entries


def _text(texts: Object, languages: Iterable[str]) -> str | None:
    tag = next((tag for tag in languages if tag in texts), None)
    return None if tag is None else _string(texts[tag]["value"])


def _aliases(value: Object, tag: str) -> list[Object]:
    entries = _map(value, "aliases").get(tag, [])
    if not isinstance(entries, list):
        raise ValueError("aliases are not a list")
    return entries


class _LiteralRows:
    """The values of all items, what was left out by property, and labels of the properties."""

    def __init__(self) -> None:
        self.values = ItemValues()
        self._properties = set[str]()
        self._left_out: dict[str, Counter[str]] = {}

    def add(self, item: str, values: list[tuple[str, Value | str]]) -> None:
        """Take the values of an item in."""
        for property_, value in values:
            if isinstance(value, Value):
                self.values.add(item, property_, value)
                self._properties.add(property_)
            else:
                self._left_out.setdefault(value, Counter())[property_] += 1

    def finish(self, refusals: Refusals) -> Iterator[Batch]:
        """Yield the last values and labels of common properties; count what was left out."""
        yield from self.values.take()
        labels = common_labels()
        labelled = sorted(self._properties & labels.keys())
        names = (labelled, [labels[item] for item in labelled])
        yield PropertyLabels(*(pa.array(column, pa.string()) for column in names))
        for reason, counts in self._left_out.items():
            ids = [f"{item} {labels[item]}" if item in labels else item for item in counts]
            count_by_name(refusals, reason, np.array(list(counts.values())), ids.__getitem__)


def _claims(value: Object, left_out: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the best claims between items; count the others that are not literals."""
    head = _id(value)
    for relation, snak in _best(value, left_out):
        tail, kind = _item(snak)
        if tail is not None:
            yield head, relation, tail
        elif kind:
            left_out[kind] += 1


def _best(value: Object, left_out: Counter[str]) -> Iterator[tuple[str, Object]]:
    """Yield property and main snak of the claims of best rank; count the others."""
    for relation, statements in _map(value, "claims").items():
        if not relation:
            raise ValueError("the id of a property is empty")
        ranks = [statement.get("rank", "normal") for statement in statements]
        best = "preferred" if "preferred" in ranks else "normal"
        for statement, rank in zip(statements, ranks, strict=True):
            if rank != best:
                left_out["claims of lower rank"] += 1
            else:
                yield relation, statement["mainsnak"]


def _item(snak: Object) -> tuple[str | None, str]:
    """Return the item a claim leads to, or None and what it is instead; nothing for a literal."""
    if snak["snaktype"] != "value":
        return None, "claims without a value"
    value = snak["datavalue"]
    if value["type"] != "wikibase-entityid":
        return None, ""
    target = value["value"]
    if target.get("entity-type", "item") != "item":
        return None, "claims that lead to no item"
    return _string(target["id"]) if "id" in target else _numbered(target["numeric-id"]), ""


def _numbered(entry: object) -> str:
    """Return an item's id from its number, all that dumps of old give."""
    if not isinstance(entry, int) or isinstance(entry, bool):
        raise ValueError(f"expected a whole number, found {json_kind(entry)}")
    return f"Q{entry}"


def _string(text: object) -> str:
    if not isinstance(text, str):
        raise ValueError(f"expected a string, found {json_kind(text)}")
    return text


def _open(path: Path, options: SourceOptions) -> WikidataSource:
    return WikidataSource(path, lang=options.lang, external_ids=options.external_ids)


FORMATS.register("wikidata")(Format(open=_open, signs={Sign.CONTENT: holds_wikidata}))
