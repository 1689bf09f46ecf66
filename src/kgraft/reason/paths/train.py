"""Fine-tune a reasoner on one graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph, TripleArrays
from kgraft.measure import Queries
from kgraft.progress import Progress
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.reasoner import Reasoner
from kgraft.reason.paths.task import ReasonerTask, ValidGraph
from kgraft.reason.settings import ReasonerSettings
from kgraft.tensors import tensor_digest
from kgraft.training import Epoch, Purpose, fit, stream

FEWEST = 10  # facts that can be learnt from
HELD_OUT, MOST = 20, 1000  # one of 20 facts is held out where there is no valid split
JUDGED = 500  # queries of the valid split that choose the epoch


def train_reasoner(
    graph: Graph,
    settings: ReasonerSettings,
    out: str | Path,
    *,
    reasoner: Reasoner | None = None,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Fine-tune a reasoner, by default the one that ships, and write it to `out`.

    Yields after each epoch. Interrupted or killed, the same call resumes at the last checkpoint and
    ends with the same bits.
    """
    train, valid = _splits(graph, settings.seed)
    size = graph.manifest
    learnt = PathGraph.of_arrays(train, size.entities, size.relations)
    queries = Queries.of(valid, size.relations)
    draw = stream(settings.seed, Purpose.VALID)
    judged = queries.select(np.sort(draw.permutation(len(queries))[:JUDGED]))
    all_queries = Queries.of(graph.whole().triples, size.relations)
    start = reasoner or Reasoner.load()
    origin = tensor_digest(start.state_dict())[:16]
    task = ReasonerTask(
        start,
        [learnt],
        [ValidGraph(learnt, judged, all_queries)],
        settings,
        facts={"graph": size.name, "version": size.version, "init_from": origin},
    )
    yield from fit(
        task,
        out,
        settings,
        overwrite=overwrite,
        checkpoint_minutes=checkpoint_minutes,
        progress=progress,
    )


def _splits(graph: Graph, seed: int) -> tuple[TripleArrays, TripleArrays]:
    """Return what is learnt from, and what judges it."""
    train, valid = graph.split("train").triples, graph.split("valid").triples
    if len(train) < FEWEST:
        reason = f"{graph.manifest.name} has {len(train)} training triples"
        raise BadInput(reason, remedy=f"give {FEWEST}, or use the reasoner as it is")
    if not len(valid):
        order = stream(seed, Purpose.SPLIT).permutation(len(train))
        count = max(min(len(train) // HELD_OUT, MOST), 1)
        train, valid = train.take(np.sort(order[count:])), train.take(np.sort(order[:count]))
    return train, valid
