"""Rules one by one, in words, each with an example from the graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgraft.reason.rules.groundings import ground
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.training import stream

TRIES = 50  # facts of the head in which an example is looked for


@dataclass(frozen=True)
class ShownRule:
    """A rule in words; the example is a chain of facts of the graph that it explains a fact by."""

    words: str
    confidence: float
    support: int
    body_count: int
    sampled: bool
    example: str

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as JSON has it."""
        return asdict(self)


def list_rules(
    source: RuleSource, *, relation: str | None = None, limit: int = 20, seed: int = 0
) -> list[ShownRule]:
    """Return the best rules of a source, or of one relation by id or label."""
    rules, size = source.rules, len(source.graph.relations)
    rows = np.arange(len(rules))
    if relation is not None:
        rows = rows[rules.head % size == source.graph.relation(relation).index]
    order = np.lexsort((-rules.support[rows], -rules.confidence[rows]))
    return [_shown(source, int(row), seed) for row in rows[order[:limit]]]


def _shown(source: RuleSource, row: int, seed: int) -> ShownRule:
    rules = source.rules
    return ShownRule(
        source.verbalise(row),
        round(float(rules.confidence[row]), 6),
        int(rules.support[row]),
        int(rules.body_count[row]),
        bool(rules.sampled[row]),
        _example(source, row, seed),
    )


def _example(source: RuleSource, row: int, seed: int) -> str:
    """Return the facts of one grounding in words, with the fact they explain."""
    edges, rules, graph = source.edges, source.rules, source.graph
    head = int(rules.head[row])
    entities = edges.sources[edges.source_bounds[head] : edges.source_bounds[head + 1]]
    for entity in stream(seed, row).permutation(entities)[:TRIES].tolist():
        for answer in edges.targets(entity, head).tolist():
            chain = ground(rules, row, edges, entity, head, answer)
            if chain is not None and chain[1]:
                fact = _fact(source, entity, head, answer)
                return f"{fact}, as {graph.path_of(*chain).verbalise()}"
    return ""


def _fact(source: RuleSource, entity: int, relation: int, answer: int) -> str:
    size = len(source.graph.relations)
    ends = (entity, answer) if relation < size else (answer, entity)
    labels = [each.label for each in source.graph.entities_at(ends)]
    return source.graph.all_relations[relation % size].verbalise(*labels).removesuffix(".")
