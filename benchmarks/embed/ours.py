"""kgraft's side of embed.speed: what it trains, on which triples, and how it ranks.

`python -m benchmarks.embed.ours FOLDER` trains and ranks the graph of a folder a little, and prints
the peak of its memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.peers.pykeen import Options, peak_megabytes
from kgraft.embed import EmbeddingTables, EmbedSettings, rank_queries
from kgraft.embed.data import TrainingData, training_data
from kgraft.embed.task import EmbedTask
from kgraft.graph import Graph, TripleArrays
from kgraft.measure import Queries
from kgraft.training import fit, stream

SHARED = Options()
CHUNK = 128  # queries that share their negatives
VALID = 1000  # validation triples that judge the vectors
MEMORY = 10  # batches of training in the measure of memory
LEARNT, JUDGED, RANKED = 0, 1, 2  # what a sample of triples is for


def settings_of(model: str, epochs: int) -> EmbedSettings:
    """Return kgraft's settings for what both sides train."""
    return EmbedSettings(
        model=model,
        similarity="l2",
        dimension=SHARED.dimension,
        reciprocal=False,
        loss="self-adversarial",
        negatives=SHARED.negatives,
        chunk=CHUNK,
        corruption="uniform",
        margin=SHARED.margin,
        temperature=SHARED.temperature,
        optimiser="adam",
        learning_rate=SHARED.rate,
        batch=SHARED.batch,
        epochs=epochs,
        validate_every=epochs,
        seed=SHARED.seed,
    )


def learnt_data(graph: Graph, triples: int) -> TrainingData:
    """Return the data with at most so many triples to learn and a sample to validate on."""
    data = training_data(graph, seed=SHARED.seed)
    learnt = sample_rows(data.triples, triples, LEARNT)
    valid = sample_rows(rows_of(graph.split("valid").triples), VALID, JUDGED)
    return replace(data, triples=learnt, valid=queries_of(valid, data.relations))


def rows_of(triples: TripleArrays) -> np.ndarray:
    """Return triples as rows (T, 3) of head, relation, tail."""
    return np.stack([triples.head, triples.relation, triples.tail], axis=1).astype(np.int64)


def queries_of(rows: np.ndarray, relations: int) -> Queries:
    """Return the queries of rows of triples (T, 3)."""
    head, relation, tail = rows.T
    return Queries.of(TripleArrays(head, relation, tail, np.zeros(len(rows), np.int8)), relations)


def sample_rows(rows: np.ndarray, count: int, purpose: int) -> np.ndarray:
    """Choose so many rows at random, all where there are no more."""
    if len(rows) <= count:
        return rows
    return rows[np.sort(stream(SHARED.seed, purpose).choice(len(rows), count, replace=False))]


def epoch_seconds(task: EmbedTask) -> Iterator[float]:
    """Train in kgraft's loop; yield the seconds of each epoch."""
    spent = 0.0
    for epoch in fit(task, None, task.settings, checkpoint_minutes=60.0):
        yield epoch.seconds - spent
        spent = epoch.seconds


def rank_all(tables: EmbeddingTables, triples: TripleArrays, known: Queries) -> dict[str, float]:
    """Rank triples with kgraft, from triples to figures."""
    return rank_queries(tables, Queries.of(triples, known.relations), known).figures()


def train_and_rank(folder: Path) -> None:
    """Train TransE on a few batches and rank all test triples."""
    graph = Graph.open(folder)
    data = learnt_data(graph, MEMORY * SHARED.batch)
    task = EmbedTask(graph, data, settings_of("transe", 1))
    for _ in epoch_seconds(task):
        rank_all(task.tables, graph.split("test").triples, data.known)


if __name__ == "__main__":
    train_and_rank(Path(sys.argv[1]))
    print(peak_megabytes())
