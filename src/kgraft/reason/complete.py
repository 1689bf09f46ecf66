"""Complete a graph: all that is missing of some relations, as a file of predicted facts.

The file is Parquet, one row per fact: head, relation and tail by id, their labels, the probability
and a reason. Finished parts are kept in OUT.parts, so that the same call resumes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.json_text import read_json_file
from kgraft.measure import QueryBatch, answer_probabilities
from kgraft.progress import Progress, Silent
from kgraft.reason.completer import Completer
from kgraft.storage import new_file

HEADS = 64  # asked for together; what an interruption may cost
RUN = "run.json"
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("head", "relation", "tail", "head_label", "tail_label")]
    + [("probability", pa.float64()), ("reason", pa.string())]
)


def complete_graph(
    completer: Completer,
    relations: Sequence[int],
    out: str | Path,
    *,
    min_probability: float = 0.9,
    with_reasons: bool = True,
    progress: Progress | None = None,
) -> int:
    """Write the facts of some relations that the graph lacks, and return how many there are.

    Asked for are the tails of all entities that can be a head: those with facts, and of a type
    that heads have.
    """
    path = Path(out)
    if path.exists():
        raise BadInput(f"{path} exists already", remedy="name another file")
    if completer.calibration is None:
        reason = "the sources give no probabilities"
        raise BadInput(reason, remedy="weigh them with 'kgraft reason combine'")
    folder = path.with_name(f"{path.name}.parts")
    options = {"min_probability": min_probability, "with_reasons": with_reasons}
    _open_run(folder, _identity(completer, relations) | options)
    work = [(relation, heads) for relation in relations for heads in _batches(completer, relation)]
    shown = progress or Silent()
    shown.start("completing", sum(len(heads) for _, heads in work))
    for number, (relation, heads) in enumerate(work):
        rows = _predict(completer, relation, heads, min_probability, with_reasons)
        _write_part(folder / f"{number:06d}.parquet", rows)
        shown.advance(len(heads))
    count = _join(sorted(folder.glob("*.parquet")), path)
    shutil.rmtree(folder, ignore_errors=True)
    return count


def _identity(completer: Completer, relations: Sequence[int]) -> dict[str, Any]:
    """Return what a run completes, and by what."""
    return {
        "graph": completer.graph.manifest.version,
        "sources": completer.weights.to_dict(),
        "relations": [completer.graph.relation(index).id for index in relations],
    }


def _write_part(part: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Write rows as a part, unless it is there already."""
    if not part.exists():
        table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
        with new_file(part) as partial:
            pq.write_table(table, partial)


def _open_run(folder: Path, run: dict[str, Any]) -> None:
    """Begin a run in a folder, or resume the one that is there; another one is refused."""
    if (folder / RUN).exists():
        if read_json_file(folder / RUN) != json.loads(json.dumps(run)):
            reason = f"{folder} holds an unfinished run over another graph, or with other options"
            raise BadInput(reason, remedy="remove it, or name another file")
        return
    folder.mkdir(parents=True, exist_ok=True)
    with new_file(folder / RUN) as partial:
        partial.write_text(json.dumps(run), encoding="utf-8")


def _batches(completer: Completer, relation: int) -> list[np.ndarray]:
    """Return the entities that can be a head, in batches."""
    heads = candidate_heads(completer, relation)
    return [heads[first : first + HEADS] for first in range(0, len(heads), HEADS)]


def candidate_heads(completer: Completer, relation: int) -> np.ndarray:
    """Return the entities with facts that can have tails of a relation which the graph lacks."""
    graph, plausibility = completer.graph, completer.plausibility
    can_be = graph.adjacency.degree() > 0
    can_be[plausibility.never_answers(relation + completer.relations)] = False
    if plausibility.respected("functional")[relation]:
        can_be[plausibility.queries.entity[plausibility.queries.relation == relation]] = False
    return np.flatnonzero(can_be)


def _predict(
    completer: Completer,
    relation: int,
    heads: np.ndarray,
    min_probability: float,
    with_reasons: bool,
) -> Iterator[dict[str, Any]]:
    """Yield the facts with some heads that are likely enough, as rows."""
    graph = completer.graph
    batch = QueryBatch(heads, np.full(len(heads), relation))
    for head, scores in zip(heads.tolist(), completer.score(batch), strict=True):
        query = QueryBatch(np.array([head]), np.array([relation]))
        answers = completer.known.known(query)[1]
        probability = answer_probabilities(completer.calibration, scores, answers)
        assert probability is not None
        probability[answers] = 0.0
        probability[completer.plausibility.implausible(query)[1]] = 0.0
        chosen = np.flatnonzero(probability >= min_probability)
        for tail in chosen[np.argsort(-probability[chosen])].tolist():
            reasons = completer.reasons(head, relation, tail, limit=1) if with_reasons else []
            words = reasons[0].words if reasons else ""
            yield _row(graph, head, relation, tail, float(probability[tail]), words)


def _row(
    graph: Graph, head: int, relation: int, tail: int, probability: float, reason: str
) -> dict[str, Any]:
    subject, target = graph.entities_at([head, tail])
    return {
        "head": subject.id,
        "relation": graph.relation(relation).id,
        "tail": target.id,
        "head_label": subject.label,
        "tail_label": target.label,
        "probability": probability,
        "reason": reason,
    }


def _join(parts: Sequence[Path], out: Path) -> int:
    """Write all parts as one file, and return how many rows they have."""
    count = 0
    with new_file(out) as partial, pq.ParquetWriter(partial, SCHEMA) as writer:
        for part in parts:
            table = pq.read_table(part)
            writer.write_table(table)
            count += len(table)
    return count
