"""AnyBURL's text format: one rule per line, with predicted, support and confidence before it.

    100	72	0.72	speaks(X,Y) <= livesIn(X,A), language(A,Y)
    50	40	0.8	speaks(X,french) <= livesIn(X,paris)

Variables are single capital letters; all other terms are ids. A character of an id that would end
a term is written as in a URL (%2C is a comma).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from kgraft.graph import Graph, Refusals
from kgraft.progress import Silent
from kgraft.reason.rules.rule_set import LONGEST, RuleSet
from kgraft.reason.rules.text import Atom, rule_atoms
from kgraft.storage import new_file
from kgraft.streams import open_bytes

ARROW = " <="
_ATOM = re.compile(r"([^(]+)\(([^,()]+),([^,()]+)")
_RESERVED = re.compile(r"[(),\t\r\n<]|^[A-Z]$|^\s|\s$")
_SUPPORTED = "kgraft reads paths of up to three atoms and rules with constants"

Row = tuple[int, int, tuple[int, ...], int]
"""Head, constant, body and constant of the body, as `RuleSet` has them."""


def write_anyburl(path: str | Path, rules: RuleSet, graph: Graph) -> None:
    """Write rules for AnyBURL and its kin, the best first.

    As in AnyBURL's files the confidence is support / predicted, without pessimism.
    """
    relations = [_term(item) for item in graph.relations["id"].to_pylist()]
    rules = rules.sorted()
    used = np.unique(np.concatenate([rules.constant, rules.body_constant, [-1]]))[1:]
    ids = {int(i): _term(graph.id_column[int(i)]) for i in used}
    with new_file(Path(path)) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        for row in range(len(rules)):
            head, body = rule_atoms(rules, row, len(relations))
            words = ", ".join(_atom_text(atom, relations, ids) for atom in body)
            count, support = int(rules.body_count[row]), int(rules.support[row])
            confidence = support / max(count, 1)
            text = f"{_atom_text(head, relations, ids)}{ARROW} {words}"
            file.write(f"{count}\t{support}\t{confidence}\t{text}\n")


def _atom_text(atom: Atom, relations: list[str], ids: Mapping[int, str]) -> str:
    first, second = (end if isinstance(end, str) else ids[end] for end in atom[1:])
    return f"{relations[atom[0]]}({first},{second})"


def _term(name: str) -> str:
    """Return an id as the format has it."""
    return _RESERVED.sub(lambda match: "".join(f"%{x:02X}" for x in match[0].encode()), name)


def read_anyburl(
    path: str | Path, graph: Graph, *, pessimism: float = 5.0, refusals: Refusals | None = None
) -> RuleSet:
    """Read rules for a graph.

    A line that cannot be read, or names what the graph lacks, is refused; `refusals` may skip it.
    """
    refusals = refusals or Refusals()
    rows = list(_rows(Path(path), graph, refusals))
    columns = [np.array(column) for column in zip(*rows, strict=True)] if rows else []
    if not columns:
        return RuleSet.empty(pessimism)
    head, constant, body, body_constant, support, count = columns
    return RuleSet(
        head=head.astype(np.int32),
        constant=constant.astype(np.int32),
        body=body.astype(np.int32),
        body_constant=body_constant.astype(np.int32),
        support=support.astype(np.int64),
        body_count=count.astype(np.int64),
        sampled=np.zeros(len(rows), bool),
        pessimism=pessimism,
    )


def _rows(
    path: Path, graph: Graph, refusals: Refusals
) -> Iterator[tuple[int, int, tuple[int, ...], int, int, int]]:
    """Yield the columns of each rule of a file."""
    relations = _finder(graph.relation_indices.get, "relation")
    entities = _finder(lambda name: _entity(graph, name), "entity")
    with open_bytes(path, Silent(), lines=True) as stream:
        for number, raw in enumerate(stream, 1):
            line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
            if not line.strip():
                continue
            try:
                count, support, text = _fields(line)
                row = _rule(text, relations, entities, len(graph.relations))
            except ValueError as error:
                refusals.refuse(
                    "bad rule", file=str(path), line=number, detail=str(error), text=line
                )
            else:
                yield (*row, support, count)


def _entity(graph: Graph, name: str) -> int | None:
    index = int(graph.indices_of([name])[0])
    return index if index >= 0 else None


def _finder(find: Callable[[str], int | None], kind: str) -> Callable[[str], int]:
    """Return a function from names, as they are written, to indices."""
    cached: dict[str, int] = {}

    def index_of(name: str) -> int:
        if name not in cached:
            index = find(name)
            index = find(unquote(name)) if index is None else index
            if index is None:
                raise ValueError(f"the graph has no {kind} {name!r}")
            cached[name] = index
        return cached[name]

    return index_of


def _fields(line: str) -> tuple[int, int, str]:
    columns = line.split("\t")
    if len(columns) != 4:
        raise ValueError(f"{len(columns)} columns instead of predicted, support, confidence, rule")
    try:
        count, support = int(columns[0]), int(columns[1])
    except ValueError:
        raise ValueError(f"{columns[0]!r} or {columns[1]!r} is not a whole number") from None
    if not 0 <= support <= count < 1 << 62:
        raise ValueError(f"support {support} of {count} predicted")
    return count, support, columns[3]


def _rule(
    text: str, relations: Callable[[str], int], entities: Callable[[str], int], size: int
) -> Row:
    """Return a rule by index, from its text."""
    head_text, arrow, body_text = text.partition(ARROW)
    if not arrow:
        raise ValueError(f"no {ARROW.strip()!r} in {text!r}")
    heads, atoms = _atoms(head_text), _atoms(body_text)
    if len(heads) != 1 or len(atoms) > LONGEST:
        raise ValueError(f"{text!r} has {len(heads)} heads and {len(atoms)} atoms; {_SUPPORTED}")
    named = [(relations(name), first, second) for name, first, second in (*heads, *atoms)]
    head, body = named[0], named[1:]
    if {head[1], head[2]} == {"X", "Y"}:
        row = _closed(head, body, size)
    else:
        row = _with_constant(head, body, entities, size)
    if row is None:
        raise ValueError(f"{text!r} is of another form; {_SUPPORTED}")
    return row


def _atoms(text: str) -> list[tuple[str, str, str]]:
    text = text.strip()
    parts = [part.removesuffix(")") for part in text.split("), ")] if text else []
    matches = [_ATOM.fullmatch(part) for part in parts]
    atoms = [(match[1], match[2], match[3]) for match in matches if match]
    if len(atoms) < len(parts):
        raise ValueError(f"{text!r} is not a list of atoms r(X,Y)")
    return atoms


def _is_variable(term: str) -> bool:
    return len(term) == 1 and "A" <= term <= "Z"


def _towards(atom: tuple[int, str, str], start: str, size: int) -> tuple[int, str] | None:
    """Return the relation and the other end of an atom read from one of its terms."""
    if atom[1] == start:
        return atom[0], atom[2]
    return (atom[0] + size, atom[1]) if atom[2] == start else None


def _closed(head: tuple[int, str, str], body: list[tuple[int, str, str]], size: int) -> Row | None:
    """Return a path rule, whose atoms lead from X to Y."""
    chain, term, seen = [], head[1], {head[1]}
    for atom in body:
        step = _towards(atom, term, size)
        if step is None or step[1] in seen or not _is_variable(step[1]):
            return None
        chain.append(step[0])
        term = step[1]
        seen.add(term)
    if term != head[2] or chain == [head[0]]:
        return None
    return head[0], -1, (*chain, *[-1] * (LONGEST - len(chain))), -1


def _with_constant(
    head: tuple[int, str, str],
    body: list[tuple[int, str, str]],
    entities: Callable[[str], int],
    size: int,
) -> Row | None:
    """Return a rule with a constant in its head."""
    variables = [term for term in head[1:] if _is_variable(term)]
    if len(variables) != 1 or len(body) > 1:
        return None
    step = _towards(head, variables[0], size)
    inner = _towards(body[0], variables[0], size) if body else (-1, "A")
    if step is None or inner is None or inner[1] == variables[0]:
        return None
    constant = entities(step[1])
    end = -1 if _is_variable(inner[1]) else entities(inner[1])
    if (inner[0], end) == (step[0], constant):
        return None
    return step[0], constant, (inner[0], *[-1] * (LONGEST - 1)), end
