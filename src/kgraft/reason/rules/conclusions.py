"""`apply_rules`: what rules conclude from a graph that it does not say yet, written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.json_text import to_json
from kgraft.progress import Progress, Silent
from kgraft.reason.kernels import in_shares
from kgraft.reason.rules.fire import best_answers
from kgraft.reason.rules.groundings import ground
from kgraft.reason.rules.rule_set import RuleSet
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.storage import new_file

SUFFIXES = (".tsv", ".jsonl", ".parquet")
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("head", "relation", "tail"), pa.string()),
        "confidence": pa.float64(),
        "support": pa.int64(),
        "body_count": pa.int64(),
        "rule": pa.string(),
        "facts": pa.list_(pa.list_(pa.string())),
    }
)
AT_ONCE = 8192  # entities per relation between two writes

Write = Callable[[list[dict[str, Any]]], None]


def apply_rules(
    graph: Graph,
    rules: RuleSet,
    out: str | Path,
    min_confidence: float = 0.8,
    progress: Progress | None = None,
) -> int:
    """Write the conclusions of rules of some confidence that no split of the graph has.

    Each comes with its best rule and the facts it rests on, as TSV, JSON Lines or Parquet by the
    suffix of `out`. Rules without a body conclude nothing. Returns how many there are.
    """
    progress = progress or Silent()
    out = Path(out)
    if out.suffix.lower() not in SUFFIXES:
        remedy = f"end it in one of {', '.join(SUFFIXES)}"
        raise BadInput(f"the name {out.name} implies no format", remedy=remedy)
    good = (rules.confidence >= min_confidence) & (rules.length > 0)
    source = RuleSource(graph, rules.take(good))
    count = 0
    with new_file(out) as partial, _writer(partial, out.suffix.lower()) as write:
        for rows in conclusions(source, progress):
            write([_record(source, *row) for row in rows.tolist()])
            count += len(rows)
    return count


def conclusions(source: RuleSource, progress: Progress) -> Iterator[np.ndarray]:
    """Yield rows of head, relation, tail, rule: what rules give and no split has."""
    graph, rules = source.graph, source.rules
    entities, relations = len(graph), len(graph.relations)
    triples = graph.whole().triples
    known_keys = np.sort(_keys(triples.head, triples.relation, triples.tail, entities, relations))
    used = np.unique(np.where(rules.head < relations, rules.head, rules.head - relations))
    progress.start("conclusions", len(used) * entities)
    for relation in used.tolist():
        for begin in range(0, entities, AT_ONCE):
            end = min(begin + AT_ONCE, entities)
            rows = _best(source, relation, begin, end)
            keys = _keys(rows[:, 0], rows[:, 1], rows[:, 2], entities, relations)
            yield rows[~_is_among(keys, known_keys)]
            progress.advance(end - begin)


def _keys(
    head: np.ndarray, relation: np.ndarray, tail: np.ndarray, entities: int, relations: int
) -> np.ndarray:
    pair = np.asarray(head, np.int64) * relations + relation
    return pair * entities + tail


def _is_among(keys: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Tell which keys are among others, which are in ascending order."""
    row = np.searchsorted(ascending, keys)
    among = row < len(ascending)
    among[among] = ascending[row[among]] == keys[among]
    return among


def _best(source: RuleSource, relation: int, begin: int, end: int) -> np.ndarray:
    """Return rows of head, relation, tail and best rule for some heads."""
    edges, index = source.edges, source.index

    def best(first: int, last: int) -> np.ndarray:
        return best_answers(edges, index, begin + first, begin + last, relation)

    parts = in_shares(best, end - begin)
    rows = np.concatenate([np.zeros((0, 3), np.int64), *parts])
    return np.insert(rows, 1, relation, axis=1)


def _record(source: RuleSource, head: int, relation: int, tail: int, rule: int) -> dict[str, Any]:
    """Return a conclusion by ids, with its rule in words and the facts it rests on."""
    graph, rules = source.graph, source.rules
    ids = graph.id_column
    names = [each.id for each in graph.all_relations]
    chain = ground(rules, rule, source.edges, head, relation, tail)
    facts = chain[1] if chain else []
    return {
        "head": ids[head],
        "relation": names[relation],
        "tail": ids[tail],
        "confidence": round(float(rules.confidence[rule]), 6),
        "support": int(rules.support[rule]),
        "body_count": int(rules.body_count[rule]),
        "rule": source.verbalise(rule),
        "facts": [[ids[fact.head], names[fact.relation], ids[fact.tail]] for fact in facts],
    }


@contextmanager
def _writer(path: Path, suffix: str) -> Iterator[Write]:
    """Open a file for records in the format of a suffix."""
    if suffix == ".parquet":
        with pq.ParquetWriter(path, SCHEMA) as writer:
            yield lambda rows: writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
        return
    line = _json_line if suffix == ".jsonl" else _tsv_line
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if suffix == ".tsv":
            file.write("\t".join(SCHEMA.names) + "\n")
        yield lambda rows: file.writelines(map(line, rows))


def _json_line(record: dict[str, Any]) -> str:
    return to_json(record) + "\n"


def _tsv_line(record: dict[str, Any]) -> str:
    facts = "; ".join(" ".join(fact) for fact in record["facts"])
    cells = [str(value) for value in {**record, "facts": facts}.values()]
    escaped = (cell.replace("\t", " ").replace("\n", " ").replace("\r", " ") for cell in cells)
    return "\t".join(escaped) + "\n"
