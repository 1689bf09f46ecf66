"""`mine_rules`: rules from the train split of a graph, as many as the time allows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kgraft.arrays import rank_within, run_starts
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.progress import Progress, Silent
from kgraft.reason.kernels import SHARES
from kgraft.reason.rules.candidates import (
    chain_keys,
    chains_of,
    count_chains,
    draw_facts,
    fact_edges,
)
from kgraft.reason.rules.constants import mine_constant_rules
from kgraft.reason.rules.counting import BodyCounts, count_bodies
from kgraft.reason.rules.edges import Edges, inverse, make_edges
from kgraft.reason.rules.rule_set import LONGEST, RuleSet
from kgraft.reason.rules.settings import MiningSettings
from kgraft.training import stream

FACTS = 200  # of each relation that a round draws
BODIES = 20_000  # that a round counts
IDLE = 5  # rounds without a new chain, after which there are no more to expect
_DRAW, _COUNT = 0, 1  # purposes of random numbers


@dataclass
class Candidates:
    """Chains that were seen with a relation, and on how many facts; some are counted already."""

    key: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    hits: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    counted: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    def add(self, key: np.ndarray, hits: np.ndarray) -> None:
        """Add what another sample of facts has shown."""
        keys = np.concatenate([self.key, key])
        self.key, row = np.unique(keys, return_inverse=True)
        self.hits = np.bincount(row, np.concatenate([self.hits, hits])).astype(np.int64)
        counted = np.zeros(len(self.key), bool)
        counted[row[: len(self.counted)]] = self.counted
        self.counted = counted

    def choose(self, min_hits: int, most: int) -> np.ndarray:
        """Return the keys that were seen most and not counted yet; they count as counted now."""
        rows = np.flatnonzero(~self.counted & (self.hits >= min_hits))
        rows = rows[np.argsort(-self.hits[rows], kind="stable")[:most]]
        self.counted[rows] = True
        return np.sort(self.key[rows])


@dataclass(frozen=True)
class MinedRules:
    """Rules and how they were mined."""

    rules: RuleSet
    rounds: int
    samples: int  # facts from which chains of three were drawn
    minutes: float
    hubs: int = 0  # entities that did not count for rules with constants

    def facts(self) -> dict[str, Any]:
        """Return how the rules were mined, and how many of each form there are."""
        closed = int(self.rules.is_closed.sum())
        return {
            "closed_paths": closed,
            "with_constants": len(self.rules) - closed,
            "sampled": int(self.rules.sampled.sum()),
            "rounds": self.rounds,
            "samples": self.samples,
            "minutes": round(self.minutes, 3),
            "hubs": self.hubs,
        }


def mine_rules(
    graph: Graph, settings: MiningSettings | None = None, progress: Progress | None = None
) -> MinedRules:
    """Mine rules from the train split.

    Rules with constants and paths of one or two atoms are all counted. Paths of three atoms are
    drawn in rounds until the minutes are over, or for `rounds` rounds.
    """
    settings, progress = settings or MiningSettings(), progress or Silent()
    began = time.monotonic()
    triples = graph.split("train").triples
    edges = make_edges(triples, len(graph), len(graph.relations))
    check_sizes(edges)
    parts = [_constant_rules(edges, settings, progress), _short_paths(edges, settings, progress)]
    rounds = samples = 0
    for part, drawn in _rounds(edges, settings, began + 60 * settings.minutes, progress):
        parts.append(part)
        rounds, samples = rounds + 1, samples + drawn
    rules = best_long_paths(RuleSet.concat(parts, settings.pessimism).sorted(), settings.long_paths)
    minutes = (time.monotonic() - began) / 60
    return MinedRules(rules, rounds, samples, minutes, _count_hubs(edges, settings))


def best_long_paths(rules: RuleSet, most: int) -> RuleSet:
    """Return sorted rules without all but the best paths of three atoms of each relation."""
    rows = np.flatnonzero(rules.is_closed & (rules.length == LONGEST))
    rows = rows[np.argsort(rules.head[rows], kind="stable")]
    kept = np.ones(len(rules), bool)
    kept[rows[rank_within(rules.head[rows]) >= most]] = False
    return rules.take(kept)


def check_sizes(edges: Edges) -> None:
    """Refuse a graph with more relations than chains of them can be numbered."""
    if (2 * edges.relations + 1) ** (LONGEST + 1) >= 1 << 63:
        most = round((1 << 63) ** (1 / (LONGEST + 1))) // 2 - 1
        remedy = f"mine a graph of {most:,} relations or fewer"
        raise BadInput(f"the graph has {edges.relations:,} relations", remedy=remedy)


def _rounds(
    edges: Edges, settings: MiningSettings, deadline: float, progress: Progress
) -> Iterator[tuple[RuleSet, int]]:
    """Yield the rules of rounds of longer paths, and how many facts were drawn for them."""
    candidates, facts = Candidates(), len(fact_edges(edges))
    idle = number = 0
    while settings.longest == LONGEST and facts and _continues(settings, number, deadline):
        counted = candidates.counted.sum()
        yield _round(edges, candidates, settings, number, progress)
        number += 1
        idle = idle + 1 if candidates.counted.sum() == counted else 0
        if idle == IDLE and settings.rounds is None:
            break


def _continues(settings: MiningSettings, rounds: int, deadline: float) -> bool:
    if settings.rounds is not None:
        return rounds < settings.rounds
    return time.monotonic() < deadline


def _constant_rules(edges: Edges, settings: MiningSettings, progress: Progress) -> RuleSet:
    """Return all rules with constants, none if they are not wanted."""
    if not settings.constants:
        return RuleSet.concat([], settings.pessimism)
    progress.start("rules with constants", SHARES)
    return mine_constant_rules(edges, settings, progress)


def _count_hubs(edges: Edges, settings: MiningSettings) -> int:
    """Count the entities that did not count for rules with constants."""
    return int((edges.degrees() > settings.hub_edges).sum()) if settings.constants else 0


def _short_paths(edges: Edges, settings: MiningSettings, progress: Progress) -> RuleSet:
    """Return all path rules of one or two atoms."""
    progress.start("paths of two", SHARES)
    key, hits = count_chains(edges, fact_edges(edges), 2, 0, progress)
    key = key[hits >= settings.min_support]
    chains = chains_of(key, 3, 2 * edges.relations)
    key = key[(chains[:, 1:] >= 0).sum(1) <= settings.longest]
    return _rules(edges, chains_of(key, 3, 2 * edges.relations), settings, progress)


def _round(
    edges: Edges, candidates: Candidates, settings: MiningSettings, number: int, progress: Progress
) -> tuple[RuleSet, int]:
    """Draw chains of three, and count those seen most; return the rules, and the facts drawn."""
    progress.start(f"paths of three, round {number + 1}", 2 * SHARES)
    facts = draw_facts(edges, FACTS, stream(settings.seed, _DRAW, number))
    seed = int(stream(settings.seed, _COUNT, number).integers(1 << 31))
    candidates.add(*count_chains(edges, facts, LONGEST, seed, progress))
    key = candidates.choose(settings.min_support, BODIES)
    chains = chains_of(key, 4, 2 * edges.relations)
    return _rules(edges, chains, settings, progress), len(facts)


def _rules(
    edges: Edges, chains: np.ndarray, settings: MiningSettings, progress: Progress
) -> RuleSet:
    """Count chains (K, 1 + n) of a relation and a body, and return those that are good rules."""
    body = np.full((len(chains), LONGEST), -1, np.int32)
    body[:, : chains.shape[1] - 1] = chains[:, 1:]
    head, body = one_direction(chains[:, 0], body, edges.relations)
    key = chain_keys(body, 2 * edges.relations)
    order = np.lexsort((head, key))
    head, body, key = head[order], body[order], key[order]
    first = np.flatnonzero(run_starts(key)) if len(key) else np.zeros(0, np.int64)
    bounds = np.append(first, len(key))
    limits = settings.groundings, settings.min_confidence
    counts = count_bodies(edges, body[first], bounds, head, limits, progress)
    rules = _counted(head, body, counts, np.diff(bounds), settings.pessimism)
    return _good(forward(rules, edges.relations), settings)


def _good(rules: RuleSet, settings: MiningSettings) -> RuleSet:
    """Return the rules whose support and confidence suffice."""
    good = (rules.support >= settings.min_support) & (rules.confidence >= settings.min_confidence)
    return rules.take(good)


def _counted(
    head: np.ndarray, body: np.ndarray, counts: BodyCounts, heads: np.ndarray, pessimism: float
) -> RuleSet:
    """Return the path rules of bodies with some heads each."""
    owner = np.repeat(np.arange(len(heads)), heads)
    none = np.full(len(head), -1, np.int32)
    return RuleSet(
        head=head.astype(np.int32),
        constant=none,
        body=body,
        body_constant=none,
        support=counts.support,
        body_count=counts.body_count[owner],
        sampled=counts.sampled[owner],
        pessimism=pessimism,
    )


def reverse_bodies(body: np.ndarray, relations: int) -> np.ndarray:
    """Return the bodies (K, 3) read from Y to X."""
    length = (body >= 0).sum(1)[:, None]
    column = length - 1 - np.arange(LONGEST)  # negative behind the last atom
    reverse = np.take_along_axis(body, np.maximum(column, 0), axis=1)
    return np.where(column < 0, -1, inverse(reverse, relations)).astype(np.int32)


def one_direction(
    head: np.ndarray, body: np.ndarray, relations: int
) -> tuple[np.ndarray, np.ndarray]:
    """Turn rules so that a body and its reverse, which say the same, become one body."""
    reverse = reverse_bodies(body, relations)
    turn = chain_keys(reverse, 2 * relations) < chain_keys(body, 2 * relations)
    head = np.where(turn, inverse(head, relations), head)
    return head, np.where(turn[:, None], reverse, body)


def forward(rules: RuleSet, relations: int) -> RuleSet:
    """Turn path rules so that their heads are relations, not inverses."""
    turn = rules.is_closed & (rules.head >= relations)
    head = np.where(turn, rules.head - relations, rules.head).astype(np.int32)
    body = np.where(turn[:, None], reverse_bodies(rules.body, relations), rules.body)
    return replace(rules, head=head, body=body.astype(np.int32))
