"""Which rules fire for a query, and what they give."""

from __future__ import annotations

import numpy as np

from kgraft.reason.kernels import compiled, with_room
from kgraft.reason.rules.answers import (
    Answers,
    add,
    clear,
    make_answers,
    score_by_all,
    score_by_best,
)
from kgraft.reason.rules.edges import Edges, run_of
from kgraft.reason.rules.frontiers import Frontiers, follow, last_atom, make_frontiers
from kgraft.reason.rules.index import RuleIndex, key_rows

BY_BEST, BY_ALL, BY_CLUSTER = 0, 1, 2  # how the rules of an answer are put together
MOST_STEPS = 2_000_000  # entities that rules with a query's entity as constant may give


@compiled
def score_queries(
    edges: Edges,
    index: RuleIndex,
    entity: np.ndarray,
    relation: np.ndarray,
    aggregation: np.ndarray,
    width: int,
    scores: np.ndarray,
) -> None:
    """Write the scores (B, N) of queries; `aggregation` (2R,) tells how rules are put together."""
    answers = make_answers(scores.shape[1], width)
    frontiers = make_frontiers(scores.shape[1])
    for i in range(len(entity)):
        how = aggregation[relation[i]]
        clear(answers)
        fire(edges, index, frontiers, answers, entity[i], relation[i], how == BY_CLUSTER)
        _fire_without_body(edges, index, answers, entity[i], relation[i], scores[i])
        if how != BY_BEST:
            score_by_all(answers, scores[i])
        else:
            score_by_best(answers, scores[i])


@compiled
def best_answers(edges: Edges, index: RuleIndex, begin: int, end: int, relation: int) -> np.ndarray:
    """Return rows of entity, answer and best rule for the queries of some entities."""
    answers = make_answers(len(edges.run_bounds) - 1, 1)
    frontiers = make_frontiers(len(edges.run_bounds) - 1)
    rows, size = np.empty((1024, 3), np.int64), 0
    for x in range(begin, end):
        clear(answers)
        fire(edges, index, frontiers, answers, x, relation, False)
        rows = with_room(rows, size + answers.size[0])
        for entity in np.sort(answers.entity[: answers.size[0]]):
            rows[size, 0], rows[size, 1], rows[size, 2] = x, entity, answers.rule[entity, 0]
            size += 1
    return rows[:size].copy()


@compiled
def fired_rules(
    edges: Edges, index: RuleIndex, x: int, relation: int, answer: int, width: int
) -> np.ndarray:
    """Return the rules that give an answer, best first, those without a body last."""
    answers = make_answers(len(edges.run_bounds) - 1, width)
    frontiers = make_frontiers(len(edges.run_bounds) - 1)
    clear(answers)
    add(answers, answer, -1, -1.0, index.cluster, False)  # makes room for it; comes last
    fire(edges, index, frontiers, answers, x, relation, False)
    scores = np.empty(len(edges.run_bounds) - 1, np.float32)
    _fire_without_body(edges, index, answers, x, relation, scores)
    rules = answers.rule[answer, : answers.filled[answer]]
    return rules[rules >= 0]


@compiled
def fire(
    edges: Edges,
    index: RuleIndex,
    frontiers: Frontiers,
    answers: Answers,
    x: int,
    relation: int,
    once: bool,
) -> None:
    """Add all that rules give for the query (x, relation, ?)."""
    _fire_paths(edges, index, frontiers, answers, x, relation, once)
    size, runs = len(edges.source_bounds) - 1, len(edges.run_relation)
    for run in range(edges.run_bounds[x], edges.run_bounds[x + 1]):
        begin, end = edges.run_first[run], edges.run_first[run + 1]
        for edge in range(begin, end):
            feature = edges.inverse_run[edge]
            _fire_forward(index, answers, x, feature * size + relation, -1, once)
        only = edges.target[begin] if end - begin == 1 else -1
        feature = runs + edges.run_relation[run]
        _fire_forward(index, answers, x, feature * size + relation, only, once)
    _fire_backward(edges, index, answers, x, relation, once)


@compiled
def _fire_without_body(
    edges: Edges,
    index: RuleIndex,
    answers: Answers,
    x: int,
    relation: int,
    scores: np.ndarray,
) -> None:
    """Let rules without a body break ties, and score what no other rule gives."""
    size, runs = len(edges.source_bounds) - 1, len(edges.run_relation)
    begin, end = key_rows(index.forward_key, (runs + size) * size + relation)
    for i in range(begin, end):
        entity, rule = index.forward_constant[i], index.forward_rule[i]
        if answers.mark[entity] == answers.query[0]:
            add(answers, entity, rule, index.confidence[rule], index.cluster, False)
        elif entity != x:
            scores[entity] = index.confidence[rule]


@compiled
def _fire_paths(
    edges: Edges,
    index: RuleIndex,
    frontiers: Frontiers,
    answers: Answers,
    x: int,
    relation: int,
    once: bool,
) -> None:
    begin, end = key_rows(index.path_head, relation)
    for i in range(begin, end):
        body, atom = index.path_body[i], 0
        if i > begin:  # the frontiers of a common beginning are there
            before = index.path_body[i - 1]
            while body[atom] == before[atom] and before[atom] >= 0:
                atom += 1
        follow(edges, frontiers, x, body, atom)
        rule, last = index.path_rule[i], last_atom(body)
        confidence = index.confidence[rule]
        for k in range(frontiers.size[last]):
            add(answers, frontiers.entity[last, k], rule, confidence, index.cluster, once)


@compiled
def _fire_forward(
    index: RuleIndex, answers: Answers, x: int, key: int, only: int, once: bool
) -> None:
    """Add the constants of rules by feature and head; `only` is no answer, as Z must differ."""
    begin, end = key_rows(index.forward_key, key)
    for i in range(begin, end):
        entity, rule = index.forward_constant[i], index.forward_rule[i]
        if entity != x and entity != only:
            add(answers, entity, rule, index.confidence[rule], index.cluster, once)


@compiled
def _fire_backward(
    edges: Edges, index: RuleIndex, answers: Answers, x: int, relation: int, once: bool
) -> None:
    """Add the entities X of rules whose constant is the entity of the query."""
    size, runs = len(edges.source_bounds) - 1, len(edges.run_relation)
    back = relation + size // 2 if relation < size // 2 else relation - size // 2
    begin, end = key_rows(index.backward_key, x * size + back)
    steps = 0
    for i in range(begin, end):
        feature, rule = index.backward_feature[i], index.backward_rule[i]
        if steps > MOST_STEPS:
            break
        if feature < runs:
            entities = edges.target[edges.run_first[feature] : edges.run_first[feature + 1]]
        else:
            body = feature - runs
            entities = edges.sources[edges.source_bounds[body] : edges.source_bounds[body + 1]]
        steps += len(entities)
        for entity in entities:
            if entity != x and (feature < runs or _leads_elsewhere(edges, entity, body, x)):
                add(answers, entity, rule, index.confidence[rule], index.cluster, once)


@compiled
def _leads_elsewhere(edges: Edges, entity: int, relation: int, constant: int) -> bool:
    """Tell whether an entity has an edge of a relation to another entity than the constant."""
    run = run_of(edges, entity, relation)
    first = edges.run_first[run]
    return edges.run_first[run + 1] - first > 1 or edges.target[first] != constant
