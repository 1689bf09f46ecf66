"""Train a text completer on a graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgraft.graph import Graph
from kgraft.progress import Progress
from kgraft.reason.text.completer import TextCompleter
from kgraft.reason.text.settings import TextSettings
from kgraft.reason.text.task import TextTask
from kgraft.storage import refuse_existing
from kgraft.text import Encoder
from kgraft.training import Epoch, fit


def train_text_completer(
    graph: Graph,
    out: str | Path,
    *,
    encoder: str | Path | None = None,
    settings: TextSettings | None = None,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train an encoder to complete a graph from texts, and write it to `out`.

    Only the train split is learnt from; the best state on the valid split is kept. Yields after
    each epoch. Interrupted or killed, the same call resumes at the last checkpoint and ends with
    the same bits. None is the default encoder.
    """
    settings = settings or TextSettings()
    refuse_existing(Path(out), TextCompleter.kind, overwrite=overwrite)
    loaded = Encoder.load(encoder, max_length=settings.tokens)
    completer = TextCompleter(loaded, temperature=settings.temperature)
    task = TextTask(completer, graph, settings)
    yield from fit(
        task,
        out,
        settings,
        overwrite=overwrite,
        checkpoint_minutes=checkpoint_minutes,
        progress=progress,
    )
