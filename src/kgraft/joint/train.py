"""Pre-train graph and language together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.joint.model import JointModel
from kgraft.joint.settings import PretrainSettings
from kgraft.joint.task import JointTask
from kgraft.progress import Progress
from kgraft.training import Epoch, Processes, fit


def pretrain(
    model: JointModel,
    graph: Graph,
    texts: AnnotatedTexts,
    out: str | Path,
    *,
    valid: AnnotatedTexts | None = None,
    settings: PretrainSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    use_knowledge: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Pre-train a joint model on a graph and linked texts, and write it to `out`.

    Yields after each epoch. Without `use_knowledge` the texts are read without the graph.
    `identity` says more of the data. Interrupted or killed, the same call resumes at the last
    checkpoint and ends with the same bits.
    """
    settings, processes = settings or PretrainSettings(), Processes.here()
    task = JointTask(
        model,
        graph,
        texts,
        valid,
        settings,
        identity=identity,
        use_knowledge=use_knowledge,
        processes=processes,
    )
    yield from fit(task, out, settings, overwrite=overwrite, processes=processes, progress=progress)
