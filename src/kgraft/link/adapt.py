"""Adapting a linker to a graph: from annotated texts, or from the graph alone; never for the worse.

The linker is measured on held-out texts before and after. Where training does not help, what is
written is the linker as it was, with a threshold that suits the graph. Texts made from the graph
are plainer than real ones, and a small gain on them has been a loss on real ones: there, training
must help by more than chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgraft.corpus import AnnotatedTexts, graph_texts
from kgraft.graph import Graph
from kgraft.link.knowledge import Knowledge
from kgraft.link.learned_names import names_in
from kgraft.link.model import LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.train import train_linker
from kgraft.link.training_texts import FULL, TrainingTexts, Unmarked
from kgraft.progress import Progress
from kgraft.training import Epoch, read_manifest

COUNT = 4000  # texts made from a graph where none are given
SURELY = 2.0  # standard errors by which training on such texts must help


@dataclass(frozen=True)
class Adaptation:
    """Figures on held-out texts before and after adapting a linker."""

    before: dict[str, float]
    after: dict[str, float]
    improved: bool  # whether the trained weights were kept

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON has it."""
        return asdict(self)


def adapt_linker(
    graph: Graph,
    model: LinkModel,
    out: Path,
    *,
    texts: AnnotatedTexts | None = None,
    valid: AnnotatedTexts | None = None,
    count: int = COUNT,
    settings: LinkSettings | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train a linker further for a graph and write it to `out`, yielding on the way.

    What the texts call an entity is a name of it from then on. Without `texts` it learns from
    `count` sentences made of the graph's facts and descriptions.
    There, the trained weights are kept only if they help by more than chance.
    Without `valid` a tenth of the texts is held out. `read_adaptation(out)` returns the outcome.
    """
    settings = settings or LinkSettings()
    every = graph_texts(graph, count, seed=settings.seed) if texts is None else texts
    learnt, held_out = (every, valid) if valid else every.hold_out(seed=settings.seed)
    knowledge = Knowledge.of(graph, model)
    unmarked = FULL if settings.fully_annotated else Unmarked()
    yield from train_linker(
        model,
        [TrainingTexts(knowledge, learnt, unmarked)],
        out,
        valid=[TrainingTexts(knowledge, held_out, unmarked)],
        names=names_in(graph, learnt) if texts else (),
        settings=settings,
        errors_ahead=0.0 if texts else SURELY,
        overwrite=overwrite,
        progress=progress,
    )


def read_adaptation(folder: Path) -> Adaptation:
    """Return what training a linker came to."""
    return Adaptation(**read_manifest(folder, LinkModel).facts["adaptation"])
