"""Rules with constants, counted exactly: how often two properties occur in one entity."""

from __future__ import annotations

import numpy as np

from kgraft.progress import Progress
from kgraft.reason.kernels import compiled, in_shares, with_room
from kgraft.reason.rules.edges import Edges, inverse, run_holds, run_of
from kgraft.reason.rules.rule_set import LONGEST, RuleSet
from kgraft.reason.rules.settings import MiningSettings


def mine_constant_rules(
    edges: Edges, settings: MiningSettings, progress: Progress | None = None
) -> RuleSet:
    """Return all rules with a constant in the head whose support and confidence suffice.

    Entities with more than `hub_edges` edges do not count towards support.
    """
    size = np.diff(edges.run_first)
    runs = np.flatnonzero(size >= settings.constant_support)
    random = np.random.Generator(np.random.PCG64(0))
    runs = random.permutation(runs)  # so that shares are of similar size
    limits = (settings.constant_support, settings.constant_confidence, settings.pessimism)
    singles = _single_targets(edges)
    is_hub = edges.degrees() > settings.hub_edges

    def mine(begin: int, end: int) -> RuleSet:
        rows = _mine(edges, singles, is_hub, runs[begin:end], limits)
        run = rows[:, 0]
        head = inverse(edges.run_relation[run], edges.relations)
        return _rule_set(head, edges.run_entity[run], rows[:, 1:], settings.pessimism)

    parts = in_shares(mine, len(runs), progress)
    return RuleSet.concat([*parts, _without_body(edges, settings)], settings.pessimism)


def _without_body(edges: Edges, settings: MiningSettings) -> RuleSet:
    """Return the rules r(X, c): of the entities with a fact of r, how many have it with c."""
    size = np.diff(edges.run_first)
    head = inverse(edges.run_relation, edges.relations)
    body_count = np.diff(edges.source_bounds)[head]
    none = np.full(len(head), -1)
    rows = np.stack([none, none, size, body_count], axis=1)
    return _rule_set(head, edges.run_entity, rows, settings.pessimism)


def _rule_set(
    head: np.ndarray,
    constant: np.ndarray,
    rows: np.ndarray,
    pessimism: float,
) -> RuleSet:
    """Return rules from columns of relation, constant, support and size of the body."""
    relation, body_constant, support, body_count = rows.T.astype(np.int32)
    body = np.full((len(head), LONGEST), -1, np.int32)
    body[:, 0] = relation
    return RuleSet(
        head=head.astype(np.int32),
        constant=constant.astype(np.int32),
        body=body,
        body_constant=body_constant,
        support=support.astype(np.int64),
        body_count=body_count.astype(np.int64),
        sampled=np.zeros(len(head), bool),
        pessimism=pessimism,
    )


@compiled
def _single_targets(edges: Edges) -> np.ndarray:
    """Count for each run (c, b) the targets X that have no other edge b⁻¹ than that to c."""
    singles = np.zeros(len(edges.run_relation), np.int64)
    for run in range(len(singles)):
        for edge in range(edges.run_first[run], edges.run_first[run + 1]):
            back = edges.inverse_run[edge]
            singles[run] += edges.run_first[back + 1] - edges.run_first[back] == 1
    return singles


@compiled
def _mine(
    edges: Edges,
    singles: np.ndarray,
    is_hub: np.ndarray,
    runs: np.ndarray,
    limits: tuple[float, float, float],
) -> np.ndarray:
    """Return rows of run of the head, relation, constant, support and size of the body."""
    features, relations = len(edges.run_relation), len(edges.source_bounds) - 1
    count = np.zeros(features, np.int32)
    by_relation = np.zeros(relations, np.int32)
    seen = np.empty(features, np.int64)
    seen_relations = np.empty(relations, np.int64)
    rows, made = np.empty((1024, 5), np.int64), 0
    for run in runs:
        sizes = _count_features(edges, is_hub, run, count, by_relation, seen, seen_relations)
        rows = with_room(rows, made + sizes[0] + sizes[1])
        made = _with_constant(edges, run, limits, count, seen[: sizes[0]], rows, made)
        part = seen_relations[: sizes[1]]
        made = _with_variable(edges, singles, run, limits, by_relation, part, rows, made)
    return rows[:made].copy()


@compiled
def _count_features(
    edges: Edges,
    is_hub: np.ndarray,
    run: int,
    count: np.ndarray,
    by_relation: np.ndarray,
    seen: np.ndarray,
    seen_relations: np.ndarray,
) -> tuple[int, int]:
    """Count what the entities X of a head r(X, c) have in common: b(X, d) and b(X, Z), Z ≠ c."""
    constant, features, relations = edges.run_entity[run], 0, 0
    for edge in range(edges.run_first[run], edges.run_first[run + 1]):
        x = edges.target[edge]
        if is_hub[x]:
            continue
        for other in range(edges.run_bounds[x], edges.run_bounds[x + 1]):
            begin, end = edges.run_first[other], edges.run_first[other + 1]
            for k in range(begin, end):
                features = _count_one(edges.inverse_run[k], count, seen, features)
            if end - begin > 1 or edges.target[begin] != constant:
                relation = edges.run_relation[other]
                relations = _count_one(relation, by_relation, seen_relations, relations)
    return features, relations


@compiled
def _count_one(item: int, count: np.ndarray, seen: np.ndarray, size: int) -> int:
    """Count an item; return how many different ones were seen, the first `size` of `seen`."""
    if count[item] == 0:
        seen[size] = item
        size += 1
    count[item] += 1
    return size


@compiled
def _with_constant(
    edges: Edges,
    run: int,
    limits: tuple[float, float, float],
    count: np.ndarray,
    seen: np.ndarray,
    rows: np.ndarray,
    made: int,
) -> int:
    """Write the rules r(X, c) ⇐ b(X, d) of a head, and clear the counts."""
    min_support, min_confidence, pessimism = limits
    constant, half = edges.run_entity[run], (len(edges.source_bounds) - 1) // 2
    for feature in seen:
        support = count[feature]
        count[feature] = 0
        body = edges.run_first[feature + 1] - edges.run_first[feature]
        if feature == run or support < min_support:
            continue
        if support < min_confidence * (body - 1 + pessimism):
            continue
        body -= run_holds(edges, feature, constant)
        if support < min_confidence * (body + pessimism):
            continue
        relation = edges.run_relation[feature]
        rows[made, 0] = run
        rows[made, 1] = relation + half if relation < half else relation - half
        rows[made, 2] = edges.run_entity[feature]
        rows[made, 3] = support
        rows[made, 4] = body
        made += 1
    return made


@compiled
def _with_variable(
    edges: Edges,
    singles: np.ndarray,
    run: int,
    limits: tuple[float, float, float],
    by_relation: np.ndarray,
    seen: np.ndarray,
    rows: np.ndarray,
    made: int,
) -> int:
    """Write the rules r(X, c) ⇐ b(X, Z) of a head, and clear the counts."""
    min_support, min_confidence, pessimism = limits
    constant, half = edges.run_entity[run], (len(edges.source_bounds) - 1) // 2
    for relation in seen:
        support = by_relation[relation]
        by_relation[relation] = 0
        if support < min_support:
            continue
        body = edges.source_bounds[relation + 1] - edges.source_bounds[relation]
        body -= run_of(edges, constant, relation) >= 0
        back = run_of(edges, constant, relation + half if relation < half else relation - half)
        if back >= 0:
            body -= singles[back]
        if support < min_confidence * (body + pessimism):
            continue
        rows[made, 0], rows[made, 1], rows[made, 2] = run, relation, -1
        rows[made, 3], rows[made, 4] = support, body
        made += 1
    return made
