"""Train vectors for a graph's entities and relations: resumable, validated, calibrated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import inf
from pathlib import Path

from kgraft.embed.data import training_data
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.task import EmbedTask
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.progress import Progress
from kgraft.training import Epoch, Processes, fit


def train_embedding(
    graph: Graph,
    settings: EmbedSettings,
    out: str | Path,
    *,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train and write the vectors to `out`, yielding after each epoch (see `kgraft.training.fit`).

    A graph without validation triples has some of its training triples held out.
    """
    _refuse_too_large(settings, graph.manifest.entities)
    processes = Processes.here()
    task = EmbedTask(graph, training_data(graph, seed=settings.seed), settings, processes=processes)
    yield from fit(
        task,
        out,
        settings,
        overwrite=overwrite,
        checkpoint_minutes=checkpoint_minutes,
        processes=processes,
        progress=progress,
    )


def _refuse_too_large(settings: EmbedSettings, entities: int) -> None:
    """Refuse vectors that do not fit into the memory with their gradients and the optimiser's."""
    needed, available = 3 * 4 * entities * settings.dimension, memory()
    if needed > available:
        sizes = f"need {needed / 1e9:,.0f} GB to train, and there are {available / 1e9:,.0f}"
        reason = f"{settings.dimension} numbers for each of {entities:,} entities {sizes}"
        raise BadInput(reason, remedy="give a smaller dimension")


def memory() -> float:
    """Return how many bytes of memory the machine has; inf where it is not known."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return inf
