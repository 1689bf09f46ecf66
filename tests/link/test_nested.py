"""A longer name that means one entity alone wins over what is inside it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import quick
from tests.link.tiny import mentions_of, nested_spans

from kgraft.graph import Match
from kgraft.graph.names import Form
from kgraft.link.nested import IN_OTHER_WORDS, WHOLE_NAMES, inside_unique_name, prefer_longer

SCORES = [0.0, 0.25, 0.5, 0.5, 0.9]
CANDIDATE = st.tuples(
    st.integers(0, 5),
    st.sampled_from([Match.PINNED, Match.NAME, Match.VARIANT, Match.NEIGHBOUR]),
    st.sampled_from(SCORES),
)


@st.composite
def mention_rows(draw):
    """Rows (text, start, end, candidates), best first."""
    rows = []
    for span in draw(nested_spans()):
        candidates = draw(st.lists(CANDIDATE, max_size=3))
        rows.append((*span, sorted(candidates, key=lambda candidate: -candidate[2])))
    return rows


def naive_inside(rows):
    """Inside another span that is a name of one entity alone, and not likeliest the same one."""

    def is_unique(row):
        return len(row[3]) == 1 and row[3][0][1] <= Match.NAME

    def rules_out(outer, inner):
        around = outer[0] == inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]
        same = inner[3] and outer[3] and inner[3][0][0] == outer[3][0][0]
        return outer is not inner and is_unique(outer) and around and not same

    return [any(rules_out(outer, inner) for outer in rows) for inner in rows]


@given(mention_rows())
@quick
def test_what_is_inside_a_unique_name_is_told_by_every_pair(rows):
    assert inside_unique_name(mentions_of(rows)).tolist() == naive_inside(rows)


def naive_preference_of_same(rows):
    """Return rows after the formula for nested mentions of one entity, short ones first.

    The texts hold no article. Where the best candidate gains, the others and "none" share the rest.
    """
    scores = [[candidate[2] for candidate in row[3]] for row in rows]

    def nests(outer, inner):
        one, other = rows[outer], rows[inner]
        if not (one[3] and other[3] and one[3][0][2] and other[3][0][2]):
            return False
        (entity, kind, _), (inner_entity, inner_kind, _) = one[3][0], other[3][0]
        longer = one[2] - one[1] > other[2] - other[1]
        around = one[0] == other[0] and one[1] <= other[1] and other[2] <= one[2]
        usable = kind in WHOLE_NAMES and inner_kind != Match.PINNED
        return longer and around and usable and entity == inner_entity

    everywhere = range(len(rows))
    pairs = [(o, i) for o in everywhere for i in everywhere if nests(o, i)]
    for outer, inner in sorted(pairs, key=lambda p: (rows[p[0]][2] - rows[p[0]][1], p)):
        before = scores[outer][0]
        after = before + (1 - before) * scores[inner][0]
        rest = (1 - after) / (1 - before) if before < 1 else 1
        scores[outer] = [after, *(score * rest for score in scores[outer][1:])]
        scores[inner] = [score * (1 - after) for score in scores[inner]]
    changed = []
    for row, new in zip(rows, scores, strict=True):
        candidates = [(*old[:2], score) for old, score in zip(row[3], new, strict=True)]
        changed.append((*row[:3], sorted(candidates, key=lambda candidate: -candidate[2])))
    return changed


def naive_preference(rows, texts):
    """Return the best scores after the formula, pair by pair."""
    rows = naive_preference_of_same(rows)
    best = [row[3][0][2] if row[3] else 0.0 for row in rows]

    def wins(outer, inner):
        one, other = rows[outer], rows[inner]
        in_other_words = len(one[3]) == 1 and one[3][0][1] in IN_OTHER_WORDS
        around = one[0] == other[0] and one[1] <= other[1] and other[2] <= one[2]
        if not (in_other_words and around and outer != inner and other[3]):
            return False
        is_small = texts[other[0]][other[1] : other[2]].islower()
        entity, kind, _ = other[3][0]
        return is_small and kind != Match.PINNED and entity != one[3][0][0]

    everywhere = range(len(rows))
    raised = []
    for outer, score in enumerate(best):
        inner = max((best[i] for i in everywhere if wins(outer, i)), default=0.0)
        raised.append(score + (1 - score) * inner if score else 0.0)
    return [
        min([raised[i], *(best[i] * (1 - raised[o]) for o in everywhere if wins(o, i))])
        for i in everywhere
    ]


@given(mention_rows(), st.data())
@quick
def test_scores_are_those_of_every_pair(rows, data):
    texts = [data.draw(st.text("xyZ", min_size=40, max_size=40)) for _ in range(4)]
    mentions = prefer_longer(mentions_of(rows), texts)
    named = mentions.sizes > 0
    best = np.zeros(len(rows))
    best[named] = mentions.score[mentions.best[named]]
    assert best.tolist() == pytest.approx(naive_preference(rows, texts), abs=1e-5)
    assert ((mentions.score >= 0) & (mentions.score <= 1 + 1e-6)).all()


def test_a_likely_head_noun_speaks_for_the_longer_name():
    rows = [
        (0, 0, 15, [(1, Match.VARIANT, 0.4)]),
        (0, 8, 15, [(2, Match.NAME, 0.8)]),
    ]
    mentions = mentions_of(rows)
    assert prefer_longer(mentions, ["colonic cancers"]).score.tolist() == pytest.approx(
        [0.88, 0.096]
    )
    assert prefer_longer(mentions, ["city of Estonia"]) is mentions


def test_the_longer_of_two_names_of_one_entity_wins():
    text = "Hereditary Wilson is rare"
    rows = [(0, 0, 17, [(1, Match.NAME, 0.25)]), (0, 11, 17, [(1, Match.NAME, 0.8)])]
    scores = prefer_longer(mentions_of(rows), [text]).score.tolist()
    assert scores == pytest.approx([0.85, 0.12])


@pytest.mark.parametrize(("form", "expected"), [(0, [0.12, 0.85]), (Form.LABEL, [0.85, 0.0375])])
def test_an_article_is_part_of_a_label_only(form, expected):
    rows = [(0, 3, 14, [(1, Match.NAME, 0.8)]), (0, 7, 14, [(1, Match.NAME, 0.25)])]
    mentions = replace(mentions_of(rows), forms=np.array([form, 0], np.uint8))
    scores = prefer_longer(mentions, ["by The Beatles"]).score.tolist()
    assert scores == pytest.approx(expected)


def test_an_ambiguous_longer_name_changes_nothing():
    rows = [
        (0, 0, 15, [(1, Match.VARIANT, 0.4), (3, Match.VARIANT, 0.1)]),
        (0, 8, 15, [(2, Match.NAME, 0.8)]),
    ]
    mentions = mentions_of(rows)
    assert prefer_longer(mentions, ["colonic cancers"]) is mentions
