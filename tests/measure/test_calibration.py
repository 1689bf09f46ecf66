"""Probabilities: the logistic fit against its own conditions, the errors against naive loops."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput
from kgraft.measure.calibration import Logistic, brier, calibration_error, fit_logistic


def sample(count=400, width=3, seed=0):
    """Features of very different size with labels drawn from a known model."""
    random = np.random.default_rng(seed)
    features = (
        random.normal(size=(count, width)) * [0.01, 1.0, 500.0][:width] + [5, 0, -900][:width]
    )
    truth = Logistic((120.0, -1.5, 0.002)[:width], 1.0 - 120 * 5 + 1.8)
    labels = random.random(count) < truth.probability(features)
    return features, labels, truth


def gradient(model, features, labels, ridge):
    """The gradient of Platt's regularised loss, one example and one coordinate at a time."""
    true, false = int(labels.sum()), int((~labels).sum())
    deviation = features.std(0)
    slopes = [ridge * w * s for w, s in zip(model.weights, deviation, strict=True)] + [0.0]
    for row, label in zip(features, labels, strict=True):
        target = (true + 1) / (true + 2) if label else 1 / (false + 2)
        z = sum(w * x for w, x in zip(model.weights, row, strict=True)) + model.bias
        off = (1 / (1 + math.exp(-z)) - target) / len(labels)
        for i, x in enumerate(row):
            slopes[i] += off * (x - features[:, i].mean()) / deviation[i]
        slopes[-1] += off
    return slopes


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 0.0])
def test_the_gradient_is_zero_at_the_optimum(ridge):
    features, labels, _ = sample()
    model = fit_logistic(features, labels, ridge=ridge)
    assert gradient(model, features, labels, ridge) == pytest.approx([0] * 4, abs=1e-9)
    other = Logistic((model.weights[0] * 1.01, *model.weights[1:]), model.bias)
    assert max(map(abs, gradient(other, features, labels, ridge))) > 1e-4


def test_a_known_model_is_found_again():
    features, labels, truth = sample(50_000)
    found = fit_logistic(features, labels, ridge=0)
    assert found.weights == pytest.approx(truth.weights, rel=0.06)
    probable = truth.probability(features)
    assert np.abs(found.probability(features) - probable).max() < 0.02


def test_more_ridge_means_smaller_weights():
    features, labels, _ = sample()
    weights = [
        np.square(fit_logistic(features, labels, ridge=r).weights).sum() for r in (0, 0.1, 1)
    ]
    assert weights[0] > weights[1] > weights[2] > 0


@pytest.mark.parametrize("ridge", [1e-3, 0.0])
def test_classes_that_a_line_parts_stay_finite(ridge):
    features = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = fit_logistic(features, np.array([0, 0, 1, 1]), ridge=ridge)
    probable = model.probability(features)
    assert np.isfinite([*model.weights, model.bias]).all()
    assert (probable[:2] < 0.35).all()
    assert (probable[2:] > 0.65).all()


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("count", [1, 3, 998])
def test_one_class_gives_laplaces_rule(label, count):
    features = np.random.default_rng(0).normal(size=(count, 2))
    model = fit_logistic(features, np.full(count, label))
    expected = (count + 1) / (count + 2) if label else 1 / (count + 2)
    assert model.probability(features) == pytest.approx(np.full(count, expected), abs=1e-6)


def test_constant_and_repeated_features_do_no_harm():
    features, labels, _ = sample(width=1)
    twice = np.column_stack([features, features, np.full(len(features), 0.1)])
    alone, together = fit_logistic(features, labels, ridge=0), fit_logistic(twice, labels, ridge=0)
    assert together.weights[2] == pytest.approx(0, abs=1e-9)
    assert together.probability(twice) == pytest.approx(alone.probability(features), abs=1e-6)


def test_no_features_give_the_share_of_true_labels():
    model = fit_logistic(np.zeros((1000, 0)), np.arange(1000) < 300)
    assert model.weights == ()
    assert model.probability(np.zeros((2, 0))) == pytest.approx([0.3, 0.3], abs=1e-3)


def test_extreme_scores_neither_warn_nor_leave_the_range():
    far = Logistic((1.0,), 0.0).probability(np.array([[-1e6], [-800.0], [800.0], [1e6]]))
    assert far.tolist() == [0, 0, 1, 1]


def test_a_model_survives_json_to_the_bit():
    features, labels, _ = sample()
    model = fit_logistic(features, labels)
    assert Logistic.from_dict(json.loads(json.dumps(model.to_dict()))) == model


def test_bad_features_are_refused():
    with pytest.raises(BadInput, match="nothing to calibrate"):
        fit_logistic(np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(BadInput, match="not finite"):
        fit_logistic(np.array([[np.nan], [0.0]]), np.array([0, 1]))


# Errors


def naive_error(probabilities, labels, bins):
    """Groups of equal probability go, whole, to the bin their middle place falls in."""
    sums, place = [0.0] * bins, 0
    for value in sorted(set(probabilities)):
        group = [y for p, y in zip(probabilities, labels, strict=True) if p == value]
        middle = place + (len(group) - 1) / 2
        number = next(b for b in range(bins) if middle < (b + 1) * len(labels) / bins)
        sums[number] += sum(value - y for y in group)
        place += len(group)
    return sum(abs(s) for s in sums) / len(labels)


examples = st.lists(
    st.tuples(st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=40,
)


@settings(max_examples=at_most(60), deadline=None)
@given(examples, st.integers(1, 12), st.randoms())
def test_the_calibration_error_is_that_of_a_naive_loop(pairs, bins, random):
    p, y = zip(*pairs, strict=True)
    found = calibration_error(np.array(p), np.array(y), bins=bins)
    assert found == pytest.approx(naive_error(p, y, bins), abs=1e-12)
    random.shuffle(pairs)
    p, y = zip(*pairs, strict=True)
    assert calibration_error(np.array(p), np.array(y), bins=bins) == pytest.approx(found, abs=1e-12)


def test_distinct_probabilities_fill_the_bins_evenly():
    p, y = np.arange(100) / 100, np.arange(100) % 2
    expected = np.mean(
        [abs(p[b : b + 20].mean() - y[b : b + 20].mean()) for b in range(0, 100, 20)]
    )
    assert calibration_error(p, y, bins=5) == pytest.approx(expected)


def test_true_probabilities_are_calibrated_and_bold_ones_are_not():
    p = np.random.default_rng(0).random(20_000)
    y = np.random.default_rng(1).random(20_000) < p
    assert calibration_error(p, y) < 0.02
    assert calibration_error(np.round(p), y) == pytest.approx(0.25, abs=0.01)


@settings(max_examples=at_most(30), deadline=None)
@given(examples)
def test_the_brier_score_is_that_of_a_naive_loop(pairs):
    p, y = zip(*pairs, strict=True)
    naive = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    assert brier(np.array(p), np.array(y)) == pytest.approx(naive)


@pytest.mark.parametrize("measure", [calibration_error, brier])
def test_what_is_no_probability_is_refused(measure):
    for wrong in (1.5, -0.1, np.nan):
        with pytest.raises(BadInput, match="between 0 and 1"):
            measure(np.array([wrong]), np.array([1]))
    with pytest.raises(BadInput, match="no probabilities"):
        measure(np.zeros(0), np.zeros(0))
