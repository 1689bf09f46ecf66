"""Queries against a dictionary of sets."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.graph import TripleArrays
from kgraft.measure import Queries, QueryBatch

ENTITIES, RELATIONS = 5, 3
triples = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 4), st.integers(0, 2)),
    max_size=30,
)
thorough = settings(max_examples=at_most(60), deadline=None)


def arrays(rows):
    columns = np.array(rows, np.int32).reshape(-1, 4).T
    return TripleArrays(*columns[:3], columns[3].astype(np.int8))


def naive(rows):
    answers = defaultdict(set)
    for head, relation, tail, _ in rows:
        answers[head, relation].add(tail)
        answers[tail, RELATIONS + relation].add(head)
    return answers


@thorough
@given(triples)
def test_queries_hold_every_answer_once(rows):
    queries, expected = Queries.of(arrays(rows), RELATIONS), naive(rows)
    asked = list(zip(queries.entity.tolist(), queries.relation.tolist(), strict=True))
    assert len(queries) == len(asked)
    assert asked == sorted(expected)
    for number, query in enumerate(asked):
        first, last = queries.bounds[number : number + 2]
        assert queries.answer[first:last].tolist() == sorted(expected[query])
    assert queries.bounds[-1] == len(queries.answer)


@thorough
@given(triples, st.randoms(use_true_random=False))
def test_answers_by_number(rows, random):
    queries, expected = Queries.of(arrays(rows), RELATIONS), naive(rows)
    numbers = [random.randrange(len(queries)) for _ in range(6)] if rows else []
    row, answer = queries.answers(np.array(numbers, np.int64))
    found = list(zip(row.tolist(), answer.tolist(), strict=True))
    asked = [(int(queries.entity[n]), int(queries.relation[n])) for n in numbers]
    assert found == [(i, a) for i, query in enumerate(asked) for a in sorted(expected[query])]


@thorough
@given(triples)
def test_answers_by_content(rows):
    queries, expected = Queries.of(arrays(rows), RELATIONS), naive(rows)
    asked = [(e, r) for e in range(ENTITIES) for r in range(2 * RELATIONS)]
    row, answer = queries.known(QueryBatch(*np.array(asked).T))
    found = list(zip(row.tolist(), answer.tolist(), strict=True))
    assert found == [(i, a) for i, q in enumerate(asked) for a in sorted(expected.get(q, ()))]


def test_numbers_beyond_32_bits_do_not_overflow():
    many = 2_000_000_000
    one = np.array([many], np.int32)
    zero = np.zeros(1, np.int32)
    queries = Queries.of(TripleArrays(one, zero + 999, zero, zero.astype(np.int8)), 1000)
    assert queries.entity.tolist() == [0, many]
    assert queries.relation.tolist() == [1999, 999]
    assert queries.known(QueryBatch(*np.array([[many], [999]], np.int32)))[1].tolist() == [0]
