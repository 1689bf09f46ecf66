"""Pre-train graph and language together, and load models to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.joint.merge_norm import init_merge_norm
from kgraft.joint.model import JointModel
from kgraft.joint.settings import JointConfig, PretrainSettings
from kgraft.joint.task import JointTask
from kgraft.progress import Progress
from kgraft.text import Encoder
from kgraft.training import Epoch, Processes, fit, read_manifest


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


def load_untrained(
    folder: str | Path, graph: Graph, encoder: str | Path | None = None
) -> JointModel:
    """Return a model of the shape of one in a folder that is not trained on any graph.

    `encoder` is what that one was trained from, where it is no longer found by its name.
    """
    manifest = read_manifest(Path(folder), JointModel)
    config = JointConfig.from_dict(manifest.config)
    name = encoder or manifest.facts["encoder"]
    model = JointModel(Encoder.load(name, max_length=config.max_length), config)
    init_merge_norm(model, graph)
    return model
