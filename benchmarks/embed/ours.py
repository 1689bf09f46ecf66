"""kgraft's side of embed.speed: what it trains, on which triples, and how it ranks.

`python -m benchmarks.embed.ours FOLDER` trains and ranks the graph of a folder a little, and prints
the peak of its memory.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.peers.pykeen import Options, peak_megabytes
from kgraft.embed.data import TrainingData, training_data
from kgraft.embed.tables import EmbeddingTables
from kgraft.embed.evaluate import rank_queries
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.task import EmbedTask
from kgraft.graph import Graph, TripleArrays
from kgraft.measure import Queries
from kgraft.training import Processes, Schedule, stream, train

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
        seed=SHARED.seed,
    )


def learnt_data(graph: Graph, triples: int) -> TrainingData:
    """Return the data with at most so many triples to learn and a sample to validate on."""
    data = training_data(graph, seed=SHARED.seed)
    learnt = some_of(data.triples, triples, LEARNT)
    valid = some_of(rows_of(graph.split("valid").triples), VALID, JUDGED)
    return replace(data, triples=learnt, valid=queries_of(valid, data.relations))


def rows_of(triples: TripleArrays) -> np.ndarray:
    """Return triples as rows (T, 3) of head, relation, tail."""
    return np.stack([triples.head, triples.relation, triples.tail], axis=1).astype(np.int64)


def queries_of(rows: np.ndarray, relations: int) -> Queries:
    """Return the queries of rows of triples (T, 3)."""
    head, relation, tail = rows.T
    return Queries.of(TripleArrays(head, relation, tail, np.zeros(len(rows), np.int8)), relations)


def some_of(rows: np.ndarray, count: int, purpose: int) -> np.ndarray:
    """Choose so many rows at random, all where there are no more."""
    if len(rows) <= count:
        return rows
    return rows[np.sort(stream(SHARED.seed, purpose).choice(len(rows), count, replace=False))]


def our_epochs(embedding: EmbeddingTables, data: TrainingData) -> Iterator[float]:
    """Train in kgraft's loop; yield the seconds of each epoch."""
    epochs, spent = embedding.settings.epochs, 0.0
    trainee = EmbedTask(embedding, data, processes=Processes())
    schedule = Schedule(epochs=epochs, validate_every=epochs, checkpoint_minutes=60.0)
    with tempfile.TemporaryDirectory() as folder:
        for epoch in train(trainee, Path(folder), schedule, identity={}):
            yield epoch.seconds - spent
            spent = epoch.seconds


def rank_all(embedding: EmbeddingTables, triples: TripleArrays, known: Queries) -> dict[str, float]:
    """Rank triples with kgraft, from triples to figures."""
    return rank_queries(embedding, Queries.of(triples, known.relations), known).figures()


def train_and_rank(folder: Path) -> None:
    """Train TransE on a few batches and rank all test triples."""
    graph = Graph.open(folder)
    data = learnt_data(graph, MEMORY * SHARED.batch)
    embedding = EmbeddingTables.draw(settings_of("transe", 1), data.entities, data.relations)
    for _ in our_epochs(embedding, data):
        rank_all(embedding, graph.split("test").triples, data.known)


if __name__ == "__main__":
    train_and_rank(Path(sys.argv[1]))
    print(peak_megabytes())
