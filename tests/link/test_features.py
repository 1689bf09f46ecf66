"""Features of mentions and candidates are those of a slow look at each of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import TRIPLES, build, quick
from tests.link.tiny import mentions_of, nested_spans

from kgraft.graph import Match
from kgraft.graph.names import Form, NameMatcher, english_words
from kgraft.link.features import (
    FEATURES,
    MENTION_FEATURES,
    NOTHING,
    FeatureReader,
    Habits,
    nesting,
)
from kgraft.link.surface import Surface


@given(nested_spans(), st.data())
@quick
def test_nesting_is_that_of_all_pairs(spans, data):
    match = [data.draw(st.sampled_from([None, *Match])) for _ in spans]
    rows = [(*s, [] if m is None else [(0, m, 0.5)]) for s, m in zip(spans, match, strict=True)]
    around, contains, overlaps = nesting(mentions_of(rows))

    def holds(outer, inner):
        return outer != inner and outer[1] <= inner[1] and inner[2] <= outer[2]

    for row, span in enumerate(spans):
        others = [
            (o, m) for o, m in zip(spans, match, strict=True) if o[0] == span[0] and o != span
        ]
        crossing = [
            o for o, _ in others
            if o[1] < span[2] and span[1] < o[2] and not holds(o, span) and not holds(span, o)
        ]  # fmt: skip
        outer = [Match.NEIGHBOUR if m is None else m for o, m in others if holds(o, span)]
        assert around[row] == min(outer, default=NOTHING)
        assert contains[row] == any(holds(span, other) for other, _ in others)
        assert overlaps[row] == bool(crossing)


def test_habits_are_shares_of_ordinary_names(tmp_path):
    names = ["heart disease", "water", "Gold", "Zorblax", "Texas"]
    entities = [{"id": name, "label": name} for name in names]
    habits = Habits.of(build(tmp_path / "habits", [], entities, None))
    assert habits.ordinary == pytest.approx(3 / 5)
    assert habits.lower == pytest.approx((2 + 1) / (3 + 2))
    assert habits.case_matters == habits.lower


def test_capitals_mean_something_where_hardly_any_name_is_an_ordinary_word():
    assert Habits(0.0, lower=0.1, coverage=0).case_matters == 1
    assert Habits(0.015, lower=0.1, coverage=0).case_matters == pytest.approx(0.5)
    assert Habits(0.5, lower=0.1, coverage=0).case_matters == 0.1  # "Colitis": capitals are a habit


def test_coverage_is_the_share_of_english_that_is_named_in_other_than_capitals(tmp_path):
    entities = [{"id": name, "label": name} for name in ("of", "THE", "And", "of the")]
    words, frequency = english_words()
    occurrences = dict(zip(words, 10.0**frequency, strict=True))
    expected = (occurrences["of"] + occurrences["and"]) / sum(occurrences.values())
    habits = Habits.of(build(tmp_path / "covering", [], entities, None))
    assert habits.coverage == pytest.approx(expected)


def test_a_graph_without_entities_has_habits(nothing):
    habits = Habits.of(nothing)
    assert (habits.ordinary, habits.coverage) == (0, 0)
    assert FeatureReader(nothing)([""], mentions_of([])).shape == (0, len(FEATURES))


TEXT = "Paris pays Euro, not the lone star state or new york; 東京 and New York City."


@pytest.fixture(scope="module")
def features(graph):
    """Mentions of a text, and their features by name."""
    mentions = NameMatcher(graph).find([TEXT])
    values = FeatureReader(graph)([TEXT], mentions)
    return mentions, dict(zip(FEATURES, values.T, strict=True))


def test_features_of_mentions_are_repeated_for_each_candidate(features, graph):
    mentions, columns = features
    surface = Surface.of([TEXT], mentions)
    around, contains, overlaps = nesting(mentions)
    expected = {
        "words": np.log(surface.words),
        "letters": np.log(mentions.end - mentions.start) / 3,
        "lower": surface.lower,
        "capital": surface.capital,
        "rarest word": surface.rarest / 5,
        "commonest word": surface.commonest / 5,
        "inside longer": around <= Match.NAME,
        "inside variant": (around >= Match.VARIANT) & (around <= Match.SHORTENED),
        "contains shorter": contains,
        "overlaps": overlaps,
        "text words": np.log(surface.text_words) / 5,
        "covered text": surface.covered_text,
        "repeated": np.log(surface.repeated),
        "ambiguity": np.log(mentions.sizes) / 2,
    }
    for name, values in expected.items():
        assert columns[name].tolist() == pytest.approx(
            values[mentions.owner].astype(float).tolist()
        ), name
    coverage = Habits.of(graph).coverage
    assert columns["covered English"] == pytest.approx(np.log10(coverage + 1e-4) / 3)


def test_features_of_candidates_are_those_of_a_look_at_each(features, graph):
    mentions, columns = features
    habits = Habits.of(graph)
    surface = Surface.of([TEXT], mentions)
    assert len(mentions.entity) > len(mentions) > 4
    for row in range(len(mentions.entity)):
        mention = mentions.owner[row]
        entity = graph.entity(int(mentions.entity[row]))
        forms = int(mentions.forms[row])
        lower, upper = bool(surface.lower[mention]), bool(surface.upper[mention])
        cased = bool(surface.cased_text[mention])
        only_upper = bool(forms & Form.UPPER) and not forms & (Form.LOWER | Form.MIXED)
        expected = {
            "log prior": np.log(mentions.prior[row]) / 3,
            "first by prior": row == mentions.bounds[mention],
            "variant": mentions.match[row] == Match.VARIANT,
            "label": bool(forms & Form.LABEL),
            "derived": bool(forms & Form.DERIVED),
            "acronym in other case": only_upper and not upper,
            "acronym": bool(forms & Form.UPPER) and upper,
            "concept": (1 - habits.lower) * (bool(forms & Form.LOWER) and lower),
            "mention in other case": habits.case_matters
            * (not forms & Form.LOWER and lower and cased),
            "log degree": np.log1p(sum(entity.id in (head, tail) for head, _, tail in TRIPLES)) / 5,
            "described": bool(entity.description),
        }
        seen = {name: columns[name][row] for name in expected}
        floats = {name: float(value) for name, value in expected.items()}
        assert seen == pytest.approx(floats, abs=1e-6), entity.id


def test_an_entity_that_was_added_has_no_triples_and_counts_as_described(graph):
    mentions = mentions_of([(0, 0, 5, [(len(graph.entities) + 3, Match.NAME, 0.5)])])
    [row] = FeatureReader(graph)(["Quuux"], mentions)
    assert row[FEATURES.index("log degree")] == 0
    assert row[FEATURES.index("described")] == 1


def test_all_features_are_numbers_whatever_the_spans(graph):
    """Spans that a user gives may begin or end between words."""
    rows = [(0, 0, 1, []), (0, 0, 7, [(3, Match.NAME, 0.5)]), (0, 2, 6, []), (0, 6, 12, [])]
    values = FeatureReader(graph)([" France and  "], mentions_of(rows))
    assert values.shape == (1, len(FEATURES))
    assert np.isfinite(values).all()
    assert values[0, FEATURES.index("words")] == 0  # the logarithm of one


def test_names_are_distinct():
    assert len(set(FEATURES)) == len(FEATURES)
    assert FEATURES[: len(MENTION_FEATURES)] == MENTION_FEATURES
