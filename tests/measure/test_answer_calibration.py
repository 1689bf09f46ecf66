"""Probabilities: learnt from validation queries, used with the same features."""

import json
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.embed.tiny import build, few, quick

from kgraft.embed.data import training_data
from kgraft.embed.tables import EmbeddingTables
from kgraft.errors import BadInput
from kgraft.measure.answer_calibration import (
    FEWEST,
    TOP,
    answer_examples,
    answer_probabilities,
    calibrate_answers,
)
from kgraft.measure.calibration import Logistic


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Vectors that know about half of 200 validation triples, and the data."""
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    rows = [(f"e{n}", "r", f"e{n + 100}", "train") for n in range(100)]
    rows += [(f"e{n}", "s", f"e{n + 100}", "valid") for n in range(100)]
    rows += [(f"e{n}", "s", f"e{(n + 3) % 100}", "train") for n in range(100)]
    graph = build(tmp_path_factory.mktemp("judged") / "graph", rows)
    data = training_data(graph, seed=0)
    embedding = EmbeddingTables.draw(quick("distmult", dimension=16, scale=1.0), 200, 2)
    number = graph.indices_of([f"e{n}" for n in range(200)])
    known = random.random(100) < 0.5
    alike = embedding.entities[number[100:][known]]
    embedding.entities[number[:100][known]] = alike + 0.1 * torch.randn(alike.shape)
    embedding.relations[:] = 1.0
    return embedding, data


def examples_of(embedding, data):
    return answer_examples(embedding.score, data.valid, data.train, data.entities)


def calibrated(embedding, data):
    return calibrate_answers(embedding.score, data.valid, data.train, data.entities)


def naive_features(scores, rivals, answer):
    """Return log share and log rank of an answer among itself and its rivals."""
    total = sum(exp(scores[e]) for e in rivals | {answer})
    return [scores[answer] - log(total), log(1 + sum(scores[e] > scores[answer] for e in rivals))]


@few
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 3))
def test_known_answers_are_rivals_to_none(seed, entities, hidden):
    random = np.random.default_rng(seed)
    scores = random.integers(-4, 4, entities).astype(np.float64)
    known = random.choice(entities, min(hidden, entities), replace=False)
    stored = {"weights": [0.7, -0.9], "bias": 0.2}
    found = answer_probabilities(stored, scores, known)
    rivals = set(range(entities)) - set(known.tolist())
    features = [naive_features(scores, rivals - {e}, e) for e in range(entities)]
    expected = Logistic((0.7, -0.9), 0.2).probability(np.array(features))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "stored", ["x", {}, {"weights": [1.0, 2.0]}, {"weights": ["a", 1], "bias": 0}, {"weights": 1},
               {"weights": [1.0], "bias": 0.0}, {"weights": [1.0, None], "bias": 0.0}],
)  # fmt: skip
def test_a_spoilt_calibration_is_refused(stored):
    with pytest.raises(BadInput, match="the calibration"):
        answer_probabilities(stored, np.zeros(3), np.zeros(0, np.int64))


def test_without_a_calibration_there_is_no_probability():
    assert answer_probabilities(None, np.zeros(3), np.zeros(0, np.int64)) is None


def test_what_is_learnt_from_is_what_is_used(judged):
    """The features of an example are those its query has when a user asks it."""
    embedding, data = judged
    features, _, _ = examples_of(embedding, data)
    assert len(features) == len(data.valid) * TOP
    model = {"weights": [0.3, -0.5], "bias": 0.1}
    learnt = Logistic.from_dict(model).probability(features).reshape(len(data.valid), TOP)
    for number in range(0, len(data.valid), 7):
        query = data.valid.batch(np.array([number]))
        scores = embedding.score(query)[0]
        known = data.train.known(query)[1]
        found = answer_probabilities(model, scores, known)
        found[known] = 0
        np.testing.assert_allclose(np.sort(found)[::-1][:TOP], learnt[number], rtol=1e-4)


def test_labels_tell_the_right_answers(judged):
    embedding, data = judged
    _, labels, half = examples_of(embedding, data)
    for number, found in enumerate(labels.reshape(len(data.valid), TOP).tolist()):
        query = data.valid.batch(np.array([number]))
        scores = embedding.score(query)[0].tolist()
        known, right = (queries.known(query)[1].tolist() for queries in (data.train, data.valid))
        new = sorted(set(range(len(scores))) - set(known), key=lambda e: -scores[e])
        assert found == [entity in right for entity in new[:TOP]]
    assert half.reshape(len(data.valid), TOP).all(1).sum() == len(data.valid) / 2


def test_probabilities_add_up_to_the_right_answers(judged):
    embedding, data = judged
    features, labels, _ = examples_of(embedding, data)
    stored = json.loads(json.dumps(calibrated(embedding, data)))
    found = Logistic.from_dict(stored).probability(features)
    assert found.sum() == pytest.approx(labels.sum(), rel=0.05)
    assert found[labels].mean() > 5 * found[~labels].mean()
    assert 0 <= stored["error"] < 0.02


def test_a_better_answer_is_likelier(judged):
    embedding, data = judged
    stored = calibrated(embedding, data)
    scores = np.linspace(-3, 3, 50)
    found = answer_probabilities(stored, scores, np.zeros(0, np.int64))
    assert (np.diff(found) > 0).all()
    assert ((found > 0) & (found < 1)).all()


def test_from_few_answers_nothing_is_learnt(judged):
    embedding, data = judged
    number = FEWEST // 2 - 1
    fewer = replace(
        data.valid,
        entity=data.valid.entity[:number],
        relation=data.valid.relation[:number],
        bounds=data.valid.bounds[: number + 1],
        answer=data.valid.answer[: data.valid.bounds[number]],
    )
    assert calibrated(embedding, replace(data, valid=fewer)) is None
    none = replace(fewer, entity=fewer.entity[:0], relation=fewer.relation[:0],
                   bounds=fewer.bounds[:1], answer=fewer.answer[:0])  # fmt: skip
    assert calibrated(embedding, replace(data, valid=none)) is None
