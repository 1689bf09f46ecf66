"""A graph as Turtle, for people and other programs: well-known prefixes, one block a subject.

It holds the statements that N-Triples would; only the order of the graph is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.writers import WRITERS
from kgraft.graph.io.writers.ntriples import statements
from kgraft.graph.iri_names import PREFIXES, short_iri
from kgraft.progress import Progress

_IRI = re.compile(r"<([^>]*)>")
_LINE = re.compile(r"(\S+) (\S+) (.*) \.\Z", re.DOTALL)
_NAME = re.compile(r"[a-z]+:[A-Za-z_][A-Za-z0-9_-]*")


def write_turtle(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write the whole graph; of a kgraft graph it keeps the statements, not the numbering."""
    with path.open("w", encoding="utf-8", newline="") as out:
        for prefix, namespace in PREFIXES.items():
            out.write(f"@prefix {prefix}: <{namespace}> .\n")
        for block in statements(graph, progress):
            for texts in block.to_pylist():
                _write_lines(out.write, texts)


def _write_lines(write: Callable[[str], object], texts: str) -> None:
    """Write lines of N-Triples, those of one subject together; comments are left out."""
    lines = (line for line in texts.split("\n") if line and not line.startswith("#"))
    parts = (match.groups() for line in lines if (match := _LINE.match(line)))
    for subject, group in groupby(parts, key=itemgetter(0)):
        phrases = [f"{_short(predicate)} {_value(value)}" for _, predicate, value in group]
        write(f"\n{_short(subject)} " + " ;\n    ".join(phrases) + " .\n")


def _value(value: str) -> str:
    """Return the object of a statement; of a literal only the datatype is shortened."""
    if value.startswith("<"):
        return _short(value)
    text, mark, datatype = value.rpartition('"^^')
    return f"{text}{mark}{_short(datatype)}" if mark else value


def _short(term: str) -> str:
    """Return an IRI with its prefix where what follows is a plain name."""
    match = _IRI.fullmatch(term)
    short = short_iri(match.group(1)) if match else ""
    same = _NAME.fullmatch(short) and match and match.group(1).startswith(_namespace(short))
    return short if same else term


def _namespace(short: str) -> str:
    return PREFIXES.get(short.partition(":")[0], " ")


WRITERS.register("turtle")(Writer(write_turtle, folder=False, suffix=".ttl"))
