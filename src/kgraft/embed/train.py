"""Train an embedding of a graph into a folder of vectors: resumable, validated, calibrated."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

from kgraft.embed.calibrate import calibrate
from kgraft.embed.data import TrainingData, training_data
from kgraft.embed.embedding import Embedding
from kgraft.embed.evaluate import rank_queries
from kgraft.embed.settings import Settings
from kgraft.embed.trainee import EmbedTrainee
from kgraft.errors import BadInput, KgraftError
from kgraft.graph import Graph
from kgraft.measure import PROTOCOL
from kgraft.progress import Progress
from kgraft.storage import new_folder, refuse_existing
from kgraft.training import Epoch, Processes, Schedule, train
from kgraft.training.folder import RunFolder, run_folder
from kgraft.vectors import VECTORS, write_table_vectors


def train_embedding(
    graph: Graph,
    settings: Settings,
    out: Path,
    *,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train and write the vectors to `out`, yielding after each epoch.

    Interrupted or killed, the same call goes on at the last checkpoint and ends with the same bits.
    """
    refuse_existing(out, VECTORS, overwrite=overwrite)
    _refuse_too_large(settings, graph.manifest.entities)
    data = training_data(graph, seed=settings.seed)
    embedding = Embedding.draw(settings, data.entities, data.relations)
    processes = Processes.here()
    trainee = EmbedTrainee(embedding, data, processes=processes)
    folder = run_folder(out)
    identity = {**settings.as_dict(), "graph": graph.manifest.version}
    if overwrite and processes.main:
        RunFolder(folder, identity).make_way()
    processes.wait()
    yield from train(
        trainee,
        folder,
        _schedule(settings, data, checkpoint_minutes),
        identity=identity,
        remedy=f"lower the learning rate: --learning-rate {settings.learning_rate / 3:.2g}",
        processes=processes,
        progress=progress,
    )
    if processes.main:
        _finish(graph, embedding, data, out, overwrite=overwrite)
        shutil.rmtree(folder, ignore_errors=True)
    processes.wait()


def _refuse_too_large(settings: Settings, entities: int) -> None:
    """Refuse vectors that do not fit into the memory with their gradients and the optimiser's."""
    needed, there = 3 * 4 * entities * settings.dimension, memory()
    if needed > there:
        sizes = f"need {needed / 1e9:,.0f} GB to train, and there are {there / 1e9:,.0f}"
        reason = f"{settings.dimension} numbers for each of {entities:,} entities {sizes}"
        raise BadInput(reason, remedy="give a smaller dimension")


def memory() -> float:
    """Return how many bytes of memory the machine has; inf where it does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return inf


def _schedule(settings: Settings, data: TrainingData, minutes: float) -> Schedule:
    return Schedule(
        epochs=settings.epochs,
        patience=settings.patience if len(data.valid) else None,
        validate_every=settings.validate_every,
        checkpoint_minutes=minutes,
    )


def _finish(
    graph: Graph, embedding: Embedding, data: TrainingData, out: Path, *, overwrite: bool
) -> None:
    """Write the vectors; if that fails the checkpoints stay, so that nothing is lost."""
    facts = _facts(embedding, data)
    log = run_folder(out) / "log.jsonl"
    try:
        with new_folder(out, VECTORS, overwrite=overwrite) as folder:
            shutil.copyfile(log, folder / log.name)
            write_table_vectors(
                folder,
                entities=embedding.entities,
                entity_ids=graph.entities["id"],
                relations=embedding.relations,
                relation_ids=graph.relations["id"],
                graph_name=graph.manifest.name,
                graph_version=graph.manifest.version,
                facts=facts,
            )
    except OSError as error:
        raise KgraftError(
            f"{out}: the vectors could not be written ({error.strerror or error}); the training "
            f"is whole in {run_folder(out)}: free some space and run the same command again"
        ) from error


def _facts(embedding: Embedding, data: TrainingData) -> dict[str, Any]:
    settings = embedding.settings
    return {
        "model": settings.model,
        "settings": settings.as_dict(),
        "held_out": data.held_out,
        "valid": rank_queries(embedding, data.valid, data.known).figures(),
        "protocol": PROTOCOL,
        "calibration": calibrate(embedding, data),
    }
