"""Open what completes a graph: the reasoner, and what else there is for it."""

from __future__ import annotations

from pathlib import Path

from kgraft.graph import Graph
from kgraft.measure import Score
from kgraft.reason.completer import Completer
from kgraft.reason.paths.reasoner import Reasoner
from kgraft.reason.paths.source import PathSource
from kgraft.reason.score_source import ScoreSource
from kgraft.reason.settings import CompleterConfig
from kgraft.reason.source import Source


def open_completer(
    graph: Graph,
    config: CompleterConfig | None = None,
    *,
    weights: str | Path | None = None,
    vectors: Score | None = None,
) -> Completer:
    """Open a completer of a graph with the sources that `config` names.

    Without weights that were learnt on the graph (a folder of `Completer.save_pretrained`), all
    sources count alike, and probabilities are those of the reasoner, fitted on other graphs.
    `vectors` scores by trained vectors.
    """
    config = config or CompleterConfig()
    reasoner = Reasoner.load(config.reasoner)
    sources: list[Source] = [PathSource(graph, reasoner)]
    if vectors is not None:
        sources.append(ScoreSource("vectors", vectors))
    if weights is not None:
        return Completer.from_pretrained(weights, graph=graph, sources=sources)
    calibration = reasoner.calibration
    return Completer(graph, sources, calibration=calibration, config=config)
