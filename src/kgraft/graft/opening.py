"""Opening knowledge: of a graph's folder, or again as a saved graft was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.knowledge.graph import GraphKnowledge
from kgraft.graft.settings import KnowledgeConfig
from kgraft.graph import Graph
from kgraft.progress import Progress


def open_knowledge(
    graph: str | Path,
    vectors: Sequence[str | Path] = (),
    *,
    kind: str | None = None,
    mask_token: str | None = None,
    hypernym_relations: Sequence[str] = (),
    facts: str | Path | None = None,
    progress: Progress | None = None,
) -> GraphKnowledge:
    """Open the knowledge of a graph: its texts, names and neighbours, and trained vectors.

    `kind` is one of `kgraft.graft.KNOWLEDGE`; without one the graph decides: a graph of word
    senses, as `kgraft graph import` makes it of WordNet, is looked up by lemmas ("wordnet").
    "fact-recall" predicts the words behind a `mask_token` by the graph's facts. Along
    `hypernym_relations`, which lead to what an entity is a kind of, all its ancestors are known
    too. "paths" knows how the entities of a text are related, and "rules" also the `facts` that
    rules predict: a file of `kgraft reason apply`.
    """
    opened = Graph.open(graph)
    config = KnowledgeConfig(
        graph=str(graph),
        kind=kind or _kind_of(opened),
        vectors=tuple(map(str, vectors)),
        hypernym_relations=tuple(hypernym_relations),
        mask_token=mask_token,
        facts=None if facts is None else str(facts),
    )
    _check_facts(config)
    return KNOWLEDGE[config.kind].open(opened, config, progress)


def _check_facts(config: KnowledgeConfig) -> None:
    """Refuse predicted facts that nothing reads, and knowledge of them without any."""
    reads_facts = KNOWLEDGE[config.kind].reads_facts
    if reads_facts and config.facts is None:
        remedy = "write a file of them with 'kgraft reason apply', and give it as facts"
        raise BadInput(f"{config.kind} knowledge needs predicted facts", remedy=remedy)
    if config.facts is not None and not reads_facts:
        reason = f"{config.kind} knowledge reads no predicted facts"
        raise BadInput(reason, remedy="choose rules, or leave the facts out")


def _kind_of(graph: Graph) -> str:
    """Return the kind of knowledge that suits a graph."""
    return next((name for name in KNOWLEDGE if KNOWLEDGE[name].suits(graph)), "graph")


def reopen_knowledge(identity: Mapping[str, Any]) -> GraphKnowledge:
    """Open the knowledge that a graft was saved with."""
    if not identity.get("config"):
        raise BadInput(
            f"it is not stored how the knowledge of {identity.get('name')} was made",
            remedy="pass it yourself",
        )
    config = KnowledgeConfig.from_dict(identity["config"])
    return KNOWLEDGE[config.kind].open(Graph.open(config.graph), config)
