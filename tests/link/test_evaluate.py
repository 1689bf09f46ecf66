"""Evaluation: links at a threshold, and the threshold at which they are best."""

import numpy as np
import pytest
from tests.corpus.texts import annotated_texts
from tests.link.tiny import mentions_of

from kgraft.graph import IGNORED, Match
from kgraft.graph.names import Form
from kgraft.link import evaluate as evaluation
from kgraft.link.evaluate import THRESHOLDS, best_threshold, evaluate, proper_names, score_texts

TEXTS = ["Paris pays in euro.", "", "We went to New York City, 東京 and Zürich."] * 2


def scored(*rows):
    """Return mentions of rows (text, start, end, entity, score, forms)."""
    mentions = mentions_of([(*row[:3], [(row[3], Match.NAME, row[4])]) for row in rows])
    mentions.forms[:] = [row[5] for row in rows]
    return mentions


def gold_of(*spans):
    return annotated_texts(["?" * 20] * 3, *np.array(spans, np.int64).reshape(-1, 4).T)


PROPER, COMMON = Form.MIXED, Form.LOWER


@pytest.mark.parametrize("at_once", [1, 4, 64])
def test_texts_are_scored_part_by_part_as_the_linker_links_them(linker, monkeypatch, at_once):
    monkeypatch.setattr(evaluation, "TEXTS", at_once)
    mentions = score_texts(linker.model, linker.knowledge, TEXTS)
    links = mentions.select(evaluation.choose_links(mentions, 0.0))
    expected = [
        (number, link.start, link.end, link.entity.index)
        for number, of_text in enumerate(linker.link(TEXTS, threshold=0))
        for link in of_text
    ]
    columns = (links.text, links.start, links.end, links.entity[links.best])
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


def test_without_texts_there_is_nothing_to_score(linker):
    assert len(score_texts(linker.model, linker.knowledge, [])) == 0


def test_proper_names_are_exact_and_have_capitals():
    rows = [
        (0, 0, 3, 1, 0.9, Form.MIXED),
        (0, 4, 6, 1, 0.9, Form.UPPER | Form.LOWER),
        (0, 7, 9, 1, 0.9, Form.LOWER),
        (1, 0, 3, 1, 0.9, Form.MIXED),
    ]
    mentions = scored(*rows)
    mentions.match[3] = Match.VARIANT
    assert proper_names(mentions).tolist() == [True, True, False, False]


def test_where_annotation_is_partial_unmarked_names_do_not_count():
    mentions = scored(
        (0, 0, 5, 1, 0.9, PROPER), (0, 6, 9, 2, 0.9, PROPER), (1, 0, 4, 2, 0.9, COMMON)
    )  # right, an unmarked name, and an unmarked word
    gold = gold_of((0, 0, 5, 1))
    assert evaluate(mentions, gold, 0.5)["weak_precision"] == pytest.approx(1 / 3)
    assert evaluate(mentions, gold, 0.5, partial=True)["weak_precision"] == pytest.approx(1 / 2)


def test_a_wrong_link_at_an_annotated_mention_counts_however_partial():
    mentions, gold = scored((0, 0, 5, 2, 0.9, PROPER)), gold_of((0, 0, 5, 1))
    assert evaluate(mentions, gold, 0.5, partial=True)["weak_precision"] == 0
    assert evaluate(mentions, gold, 0.95)["weak_f1"] == 0


def test_links_on_ignored_spans_do_not_count():
    mentions = scored((0, 0, 5, 1, 0.9, PROPER), (0, 6, 9, 2, 0.9, COMMON))
    gold = gold_of((0, 0, 5, 1), (0, 6, 9, IGNORED))
    assert evaluate(mentions, gold, 0.5)["strong_f1"] == 1


def test_the_best_threshold_is_the_one_with_the_best_f1():
    mentions = scored(
        (0, 0, 5, 1, 0.9, PROPER), (0, 6, 9, 2, 0.6, PROPER), (1, 0, 4, 2, 0.3, PROPER)
    )  # right, right, wrong
    gold = gold_of((0, 0, 5, 1), (0, 6, 9, 2), (2, 0, 3, 1))
    best = best_threshold(mentions, gold, partial=False)
    tried = [evaluate(mentions, gold, float(t))["weak_f1"] for t in THRESHOLDS]
    assert best["weak_f1"] == max(tried) == pytest.approx(0.8)
    assert 0.3 < best["threshold"] <= 0.6


@pytest.mark.parametrize(("groups", "expected"), [(1, 0.9), (40, 0.6)])
def test_few_mentions_move_the_threshold_only_as_far_as_they_can_tell(groups, expected):
    rows, spans = [], []
    for start in range(0, 40 * groups, 40):  # four sure, one less sure, two not found
        places = [(0, start + 5 * place, start + 5 * place + 3, 1) for place in range(7)]
        scores = [0.9, 0.9, 0.9, 0.9, 0.6]
        spans += places
        rows += [(*place, score, PROPER) for place, score in zip(places, scores, strict=False)]
    near = best_threshold(scored(*rows), gold_of(*spans), partial=False, near=0.9)
    assert near["threshold"] == pytest.approx(expected)
