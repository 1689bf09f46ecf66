"""`Answers`: the entities that rules give for one query, each with its best rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgraft.reason.kernels import compiled


class Answers(NamedTuple):
    """Room for the answers of one query after another: the best rules of each, best first."""

    size: np.ndarray  # (1,) how many answers there are
    entity: np.ndarray  # (N,) the first `size` are answers
    mark: np.ndarray  # (N,) the query that an entity last was an answer of
    query: np.ndarray  # (1,)
    filled: np.ndarray  # (N,) how many rules give each entity, up to W
    confidence: np.ndarray  # (N, W)
    rule: np.ndarray  # (N, W)


@compiled
def make_answers(entities: int, width: int) -> Answers:
    """Return room for the answers of queries, up to `width` rules each."""
    return Answers(
        np.zeros(1, np.int64),
        np.empty(entities, np.int32),
        np.zeros(entities, np.int64),
        np.zeros(1, np.int64),
        np.empty(entities, np.int32),
        np.empty((entities, width), np.float32),
        np.empty((entities, width), np.int32),
    )


@compiled
def clear(answers: Answers) -> None:
    """Begin with another query."""
    answers.query[0] += 1
    answers.size[0] = 0


@compiled
def _make_entry(answers: Answers, entity: int) -> None:
    """Make an entity an answer, without rules so far, unless it is one already."""
    if answers.mark[entity] != answers.query[0]:
        answers.mark[entity] = answers.query[0]
        answers.entity[answers.size[0]] = entity
        answers.size[0] += 1
        answers.filled[entity] = 0


@compiled
def add(
    answers: Answers, entity: int, rule: int, confidence: float, cluster: np.ndarray, once: bool
) -> None:
    """Add a rule that gives an entity; with `once` only the best rule of a cluster is kept."""
    _make_entry(answers, entity)
    confidences, rules = answers.confidence[entity], answers.rule[entity]
    last, width = answers.filled[entity], len(confidences)
    if last == width and confidence <= confidences[width - 1]:
        return
    end = min(last, width - 1)  # the entry that is given up
    if once:
        for i in range(last):
            if cluster[rules[i]] == cluster[rule]:
                if confidences[i] >= confidence:
                    return
                end = i
                last -= 1
                break
    while end > 0 and confidences[end - 1] < confidence:
        confidences[end], rules[end] = confidences[end - 1], rules[end - 1]
        end -= 1
    confidences[end], rules[end] = confidence, rule
    answers.filled[entity] = min(last + 1, width)


@compiled
def order_answers(answers: Answers) -> np.ndarray:
    """Return the answers, worst first, compared by their best rule, then the next, and so on."""
    size = answers.size[0]
    order, other = answers.entity[:size].copy(), np.empty(size, np.int32)
    width = 1
    while width < size:
        for begin in range(0, size, 2 * width):
            middle, end = min(begin + width, size), min(begin + 2 * width, size)
            i, j = begin, middle
            for k in range(begin, end):
                first = j >= end or (i < middle and compare(answers, order[i], order[j]) <= 0)
                other[k] = order[i] if first else order[j]
                i, j = i + first, j + 1 - first
        order, other = other, order
        width *= 2
    return order


@compiled
def compare(answers: Answers, one: int, other: int) -> int:
    """Return −1, 0 or 1 as the first answer is worse, as good or better."""
    counts = answers.filled[one], answers.filled[other]
    for i in range(min(counts)):
        a, b = answers.confidence[one, i], answers.confidence[other, i]
        if a != b:
            return 1 if a > b else -1
    return (counts[0] > counts[1]) - (counts[0] < counts[1])


@compiled
def score_by_best(answers: Answers, scores: np.ndarray) -> None:
    """Write scores in the order of the best rules: the confidence of the best, and a little more.

    Answers that differ in a later rule only differ in the last bits.
    """
    order = order_answers(answers)
    last = np.float32(0)
    for i in range(len(order)):
        entity = order[i]
        if i == 0 or compare(answers, order[i - 1], entity) != 0:
            last = max(answers.confidence[entity, 0], np.nextafter(last, np.float32(2)))
        scores[entity] = last


@compiled
def score_by_all(answers: Answers, scores: np.ndarray) -> None:
    """Write 1 − Π (1 − confidence) over the rules of each answer: one of them is right."""
    size = answers.size[0]
    entities, doubt = answers.entity[:size], np.zeros(size)
    for i in range(size):
        for k in range(answers.filled[entities[i]]):
            doubt[i] += np.log(max(1 - answers.confidence[entities[i], k], 1e-12))
    order = np.argsort(-doubt)
    last = np.float32(0)
    for i in range(size):
        if i == 0 or doubt[order[i]] != doubt[order[i - 1]]:
            last = max(np.float32(-np.expm1(doubt[order[i]])), np.nextafter(last, np.float32(2)))
        scores[entities[order[i]]] = last
