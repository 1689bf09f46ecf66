"""OBO, the format of biomedical ontologies: terms with names, synonyms, definitions, relations.

`is_a` and `relationship` lines become triples, `[Typedef]` stanzas relations, the namespace of a
term its type. Obsolete terms are left out; what has no place in a graph is counted by its tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.formats import Format
from kgraft.graph.io.graph_file import GraphFile
from kgraft.graph.io.lines import numbered_lines
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.progress import Progress

KNOWN = {"is_a": "is a", "instance_of": "instance of"}
STANZAS = ("Term", "Typedef", "Instance")
_STANZA = re.compile(r"^\[([^\]]*)\]\s*$")
_ESCAPES = {"n": "\n", "W": " ", "t": "\t"}


@dataclass
class Stanza:
    """The lines of one term, relation or instance by their tags."""

    kind: str
    line: int
    tags: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def first(self, tag: str) -> str:
        """Return the first value of a tag, unescaped, or nothing."""
        values = self.tags.get(tag)
        return plain_value(values[0][1]) if values else ""


class OboSource(GraphFile):
    """An .obo file, plain or packed, read as a stream."""

    format = "obo"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield terms, relations, then triples."""
        rows = _Rows(self.path, refusals)
        triples: list[Batch] = []
        for stanza in _stanzas(self.path, refusals, progress):
            rows.add(stanza)
            if rows.terms.full:
                yield from rows.terms.take()
            if rows.triples.full:
                triples += rows.triples.take()
        rows.add_known()
        yield from rows.terms.take()
        yield from rows.relations.take()
        yield from triples
        yield from rows.triples.take()


class _Rows:
    """Terms, relations and triples of stanzas."""

    def __init__(self, path: Path, refusals: Refusals) -> None:
        self.path, self.refusals = path, refusals
        self.terms = TableRows("entity", str(path))
        self.relations = TableRows("relation", str(path))
        self.triples = TripleRows(str(path))
        self._namespace = ""
        self._declared: set[str] = set()
        self._used: set[str] = set()

    def add_known(self) -> None:
        """Declare the relations that every OBO file may use without a word."""
        for item in sorted(self._used - self._declared):
            if item in KNOWN:
                self.relations.add({"id": item, "label": KNOWN[item], "aliases": []}, 1)

    def add(self, stanza: Stanza) -> None:
        """Take one stanza in."""
        if stanza.kind == "":
            self._namespace = stanza.first("default-namespace")
            return
        if stanza.kind not in STANZAS:
            self.refusals.leave_out(f"[{stanza.kind[:40]}] stanzas")
            return
        item = stanza.first("id")
        if not item:
            self._refuse("no id", stanza.line, f"in [{stanza.kind}]")
        elif stanza.first("is_obsolete") == "true":
            self.refusals.leave_out("obsolete terms and relations")
        elif stanza.kind == "Typedef":
            self._add_relation(item, stanza)
        else:
            self._add_term(item, stanza)

    def _add_relation(self, item: str, stanza: Stanza) -> None:
        label = stanza.first("name") or item.replace("_", " ")
        row = {"id": item, "label": label, "description": self._quoted("def", stanza)}
        self._declared.add(item)
        self.relations.add({**row, "aliases": self._synonyms(stanza)}, stanza.line)
        self._count(stanza, ("id", "name", "def", "synonym"), "relations")

    def _add_term(self, item: str, stanza: Stanza) -> None:
        namespace = stanza.first("namespace") or self._namespace
        row: dict[str, object] = {
            "id": item,
            "label": stanza.first("name"),
            "description": self._quoted("def", stanza),
            "aliases": self._synonyms(stanza),
            "types": [namespace] if namespace else [],
        }
        for tag in ("alt_id", "subset"):
            if tag in stanza.tags:
                row[tag] = "|".join(plain_value(value) for _, value in stanza.tags[tag])
        if "comment" in stanza.tags:
            row["comment"] = stanza.first("comment")
        self.terms.add(row, stanza.line)
        self._add_triples(item, stanza)
        used = ("id", "name", "def", "synonym", "namespace", "alt_id", "subset", "comment")
        self._count(stanza, (*used, *KNOWN, "relationship"), "terms")

    def _add_triples(self, item: str, stanza: Stanza) -> None:
        for tag in KNOWN:
            for line, value in stanza.tags.get(tag, ()):
                target = plain_value(value).split(" ")[0]
                if target:
                    self._used.add(tag)
                    self.triples.add((item, tag, target), line)
                else:
                    self._refuse(f"{tag} without a term", line, repr(value[:80]))
        for line, value in stanza.tags.get("relationship", ()):
            parts = plain_value(value).split()
            if len(parts) >= 2:
                self.triples.add((item, parts[0], parts[1]), line)
            else:
                self._refuse("relationship without a term", line, repr(value[:80]))

    def _quoted(self, tag: str, stanza: Stanza) -> str:
        values = stanza.tags.get(tag)
        return quoted_text(values[0][1]) or plain_value(values[0][1]) if values else ""

    def _synonyms(self, stanza: Stanza) -> list[str]:
        names = (quoted_text(value) for _, value in stanza.tags.get("synonym", ()))
        return list(dict.fromkeys(name for name in names if name))

    def _count(self, stanza: Stanza, used: tuple[str, ...], kind: str) -> None:
        for tag, values in stanza.tags.items():
            if tag not in used:
                self.refusals.leave_out(f"{tag} lines of {kind}", len(values))

    def _refuse(self, kind: str, line: int, detail: str) -> None:
        self.refusals.refuse(kind, file=str(self.path), line=line, detail=detail, text=detail)


def _stanzas(path: Path, refusals: Refusals, progress: Progress) -> Iterator[Stanza]:
    """Yield the header as a stanza without a name, then every stanza."""
    stanza = Stanza("", 1)
    lines = 0
    for number, text in numbered_lines(path, refusals, progress):
        if not text.strip() or text.lstrip().startswith(("!", "#")):
            continue
        lines += 1
        if match := _STANZA.match(text.strip()):
            yield stanza
            stanza = Stanza(match[1], number)
            continue
        tag, mark, value = text.partition(":")
        if mark and tag.strip():
            stanza.tags.setdefault(tag.strip(), []).append((number, value.strip()))
        elif lines == 1:
            reason = f"the first line is not a tag of OBO: {' '.join(text.split())[:80]}"
            raise BadInput(reason, file=str(path), line=number, remedy="is it an OBO file?")
        else:
            refusals.refuse(
                "not a tag of OBO", file=str(path), line=number, detail=repr(text[:80]), text=text
            )
    yield stanza


def plain_value(text: str) -> str:
    r"""Return a value without its comment and modifiers, unescaped.

    >>> plain_value(r"GO:0001 {source=\"x\"} ! a name"), plain_value(r"a \"b\" \{c\}")
    ('GO:0001', 'a "b" {c}')
    """
    end = 0
    while end < len(text):
        if text[end] == "\\":
            end += 1
        elif text[end] in "!{" and (end == 0 or text[end - 1] == " "):
            break
        end += 1
    return unescape(text[:end].strip())


def quoted_text(text: str) -> str:
    r"""Return the text in quotes that a value begins with, unescaped, or nothing.

    >>> quoted_text(r'"a \"b\" c" EXACT [X:1]')
    'a "b" c'
    """
    match = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    return " ".join(unescape(match[1]).split()) if match else ""


def unescape(text: str) -> str:
    r"""Resolve escaped characters.

    >>> unescape(r"a\:b\nc\W\\")
    'a:b\nc \\'
    """
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)


FORMATS.register("obo")(Format(open=OboSource, suffixes=(".obo",)))
