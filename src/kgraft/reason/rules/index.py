"""`RuleIndex`: rules in the orders in which queries look them up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgraft.reason.kernels import compiled
from kgraft.reason.rules.edges import Edges, inverse
from kgraft.reason.rules.mine import reverse_bodies
from kgraft.reason.rules.rule_set import RuleSet

WITHOUT_BODY = 1e-4  # weight of rules without a body, so that any other rule comes first


class RuleIndex(NamedTuple):
    """Rules by what makes them fire; every column is sorted by its key.

    The feature of a rule with a constant is the run of its body b(X, d), or U + b for b(X, Z), or
    U + 2R for no body, U being the number of runs and R that of relations.
    """

    path_head: np.ndarray  # (P,) relation of the query; each rule is there in both directions
    path_body: np.ndarray  # (P, 3)
    path_rule: np.ndarray  # (P,) row of the rule in its set
    forward_key: np.ndarray  # (F,) feature · 2R + head
    forward_constant: np.ndarray  # (F,)
    forward_rule: np.ndarray  # (F,)
    backward_key: np.ndarray  # (G,) constant · 2R + head; the best rules of a key first
    backward_feature: np.ndarray  # (G,)
    backward_rule: np.ndarray  # (G,)
    confidence: np.ndarray  # (K,) float32, by row of the rule
    cluster: np.ndarray  # (K,) int32: rules of one cluster explain the same facts


def make_index(rules: RuleSet, edges: Edges, cluster: np.ndarray) -> RuleIndex:
    """Index rules for the facts of a graph, without those that cannot fire there."""
    confidence = rules.confidence.astype(np.float32)
    confidence[rules.length == 0] *= np.float32(WITHOUT_BODY)
    forward, feature = rule_features(rules, edges)
    size = 2 * edges.relations
    key = feature * size + rules.head[forward]
    order = np.argsort(key, kind="stable")
    backward, back_feature = (
        column[feature < len(edges.sources) + size] for column in (forward, feature)
    )
    back_key = rules.constant[backward] * np.int64(size) + rules.head[backward]
    back_order = np.lexsort((-confidence[backward], back_key))
    return RuleIndex(
        *_paths(rules, edges.relations),
        key[order],
        rules.constant[forward[order]],
        forward[order],
        back_key[back_order],
        back_feature[back_order],
        backward[back_order],
        confidence,
        cluster.astype(np.int32),
    )


def _paths(rules: RuleSet, relations: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return head, body and row of the path rules, read in both directions, sorted."""
    row = np.flatnonzero(rules.is_closed)
    head, body = rules.head[row], rules.body[row]
    heads = np.concatenate([head, inverse(head, relations)]).astype(np.int32)
    bodies = np.concatenate([body, reverse_bodies(body, relations)])
    order = np.lexsort((*bodies.T[::-1], heads))
    return heads[order], np.ascontiguousarray(bodies[order]), np.concatenate([row, row])[order]


def rule_features(rules: RuleSet, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of rules with a constant, and the feature of each."""
    row = np.flatnonzero(~rules.is_closed)
    relation, constant = rules.body[row, 0].astype(np.int64), rules.body_constant[row]
    size, runs = 2 * edges.relations, len(edges.sources)
    back = inverse(relation, edges.relations)
    keys = edges.run_entity.astype(np.int64) * size + edges.run_relation
    run = np.searchsorted(keys, constant * np.int64(size) + back)
    hit = (run < runs) & (constant >= 0)
    hit[hit] = keys[run[hit]] == constant[hit] * np.int64(size) + back[hit]
    feature = np.where(hit, run, runs + np.where(relation < 0, size, relation))
    fires = hit | (constant < 0)
    return row[fires], feature[fires]


@compiled
def key_rows(keys: np.ndarray, key: int) -> tuple[int, int]:
    """Return where a key begins and ends in an ascending column."""
    bounds = np.zeros(2, np.int64)
    for side in range(2):
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key + side:
                low = middle + 1
            else:
                high = middle
        bounds[side] = low
    return bounds[0], bounds[1]
