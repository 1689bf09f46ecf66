"""Open what completes a graph: the reasoner, and what else there is for it."""

from __future__ import annotations

from pathlib import Path

from kgraft.graph import Graph
from kgraft.measure import Score
from kgraft.reason.completer import Completer
from kgraft.reason.paths.reasoner import Reasoner
from kgraft.reason.paths.source import PathSource
from kgraft.reason.rules.anyburl import read_anyburl
from kgraft.reason.rules.folder import Rules
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.reason.score_source import ScoreSource
from kgraft.reason.settings import CompleterConfig
from kgraft.reason.source import Source
from kgraft.reason.text.completer import TextCompleter
from kgraft.reason.text.source import TextSource


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
    if config.rules is not None:
        sources.append(_open_rules(graph, Path(config.rules)))
    if config.text is not None:
        sources.append(TextSource(TextCompleter.from_pretrained(config.text), graph))
    if vectors is not None:
        sources.append(ScoreSource("vectors", vectors))
    if weights is not None:
        return Completer.from_pretrained(weights, graph=graph, sources=sources)
    calibration = reasoner.calibration
    return Completer(graph, sources, calibration=calibration, config=config)


def _open_rules(graph: Graph, path: Path) -> RuleSource:
    """Open a folder of rules, or a file in AnyBURL's format."""
    if path.is_file():
        return RuleSource(graph, read_anyburl(path, graph))
    return Rules.from_pretrained(path).on(graph)
