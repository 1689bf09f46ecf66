"""What a text may be about."""

import numpy as np
import pytest

from kgraft.graph.names import NameMatcher
from kgraft.reason import RecallSettings
from kgraft.reason.memory.context import Context

SETTINGS = RecallSettings(prior=0.5, nested=0.25)


def context_of(graph, text, **changes):
    mentions = NameMatcher(graph).find([text], exact=True)
    made = Context.of_mentions(mentions, SETTINGS.replace(**changes))
    return dict(zip(graph.entities["id"].take(made.entity).to_pylist(), made.bonus, strict=True))


def test_candidates_by_prior_and_names_in_names_less(graph):
    bonus = context_of(graph, "from New York to Paris")
    assert set(bonus) == {"york", "new_york", "paris", "paris_tx"}
    assert bonus["new_york"] == 0
    assert bonus["york"] == pytest.approx(-0.25)
    prior = {c.entity.id: c.prior for c in graph.candidates("Paris")}
    for name in ("paris", "paris_tx"):
        assert bonus[name] == pytest.approx(0.5 * np.log(prior[name]), abs=1e-5)


def test_the_best_mention_counts(graph):
    assert context_of(graph, "New York and York")["york"] == 0


def test_only_the_likeliest_candidates(graph):
    first = graph.candidates("Paris")[0].entity.id
    assert set(context_of(graph, "in Paris", candidates=1)) == {first}


def test_scores_of_a_linker_count_instead(graph):
    mentions = NameMatcher(graph).find(["in Paris"], exact=True)
    scored = mentions.with_scores(np.array([0.9, 0.1]))
    made = Context.of_mentions(scored, SETTINGS)
    assert sorted(made.bonus) == pytest.approx(sorted(0.5 * np.log([0.9, 0.1])))


def test_nothing_is_named(graph):
    assert context_of(graph, "nothing at all") == {}


def test_entities_that_are_sure():
    made = Context.of_entities(np.array([4, 2, 4]))
    assert made.entity.tolist() == [2, 4]
    assert made.bonus_of(np.array([4, 2, 2])).tolist() == [0, 0, 0]
