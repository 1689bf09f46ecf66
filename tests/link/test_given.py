"""Mentions that the caller gives: candidates by name or by meaning, scores that sum to 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import apart, link_model, reading

from kgraft.errors import BadInput
from kgraft.graph import Match
from kgraft.link.given import given_mentions
from kgraft.link.knowledge import Knowledge

TEXT = "Paris pays in euro, not in the Lone Star State of old. "
SPANS = [(14, 18), (0, 5), (6, 10), (0, 4), (31, 46), (0, 5), (47, 55)]


def rows_of(scored, graph):
    """Return {id: score} of each mention."""
    rows = []
    for row in range(len(scored)):
        candidates = range(scored.bounds[row], scored.bounds[row + 1])
        rows.append(
            {graph.entity(int(scored.entity[c])).id: float(scored.score[c]) for c in candidates}
        )
    return rows


def test_spans_keep_their_order_and_get_the_candidates_of_just_these_names(model, knowledge, graph):
    scored = given_mentions(model, knowledge, TEXT, SPANS)
    assert list(zip(scored.start.tolist(), scored.end.tolist(), strict=True)) == SPANS
    candidates = [row.keys() for row in rows_of(scored, graph)]
    assert candidates[0] == {"euro"}
    assert candidates[1] == candidates[5] == {"fr-paris", "tx-paris", "myth"}
    assert candidates[4] == {"texas"}
    assert candidates[2] == candidates[3] == candidates[6] == set()


def test_scores_of_a_mention_sum_to_1(model, knowledge, graph):
    for row in rows_of(given_mentions(model, knowledge, TEXT, SPANS), graph):
        assert not row or sum(row.values()) == pytest.approx(1)
        assert list(row.values()) == sorted(row.values(), reverse=True)


@pytest.mark.slow
@given(order=st.permutations(SPANS[:5]))
@reading
def test_the_order_of_the_spans_changes_nothing(model, knowledge, graph, order):
    expected = dict(zip(SPANS, rows_of(given_mentions(model, knowledge, TEXT, SPANS[:5]), graph),
                        strict=False))  # fmt: skip
    rows = rows_of(given_mentions(model, knowledge, TEXT, order), graph)
    for span, row in zip(order, rows, strict=True):
        assert row == pytest.approx(expected[span], abs=1e-5)


def test_with_an_index_every_mention_has_candidates(graph, model, tmp_path):
    with apart(tmp_path):
        knowledge = Knowledge(graph, model.entity_encoder)
        knowledge.build_index()
    scored = given_mentions(model, knowledge, TEXT, SPANS)
    assert (scored.sizes > 0).all()
    near = scored.match[scored.best] == Match.NEIGHBOUR
    assert near.tolist() == [False, False, True, True, False, False, True]


def test_a_pinned_name_is_certain(graph, model):
    knowledge = Knowledge(graph, model.entity_encoder)
    knowledge.pin({"Paris": "myth"})
    assert rows_of(given_mentions(model, knowledge, TEXT, [(0, 5)]), graph) == [{"myth": 1.0}]


def test_no_spans_are_no_mentions(model, knowledge):
    for text in ("", TEXT):
        assert len(given_mentions(model, knowledge, text, [])) == 0


@pytest.mark.parametrize("span", [(3, 2), (0, 99), (99, 100), (-1, 3)])
def test_spans_outside_of_the_text_are_refused(model, knowledge, span):
    with pytest.raises(BadInput, match=rf" {span[0]}:{span[1]} .* 55 "):
        given_mentions(model, knowledge, TEXT, [(0, 5), span])


@pytest.mark.parametrize("span", [(0, 0), (5, 6), (54, 55)])
def test_spans_without_a_token_are_refused(model, knowledge, span):
    with pytest.raises(BadInput) as error:
        given_mentions(model, knowledge, TEXT, [(0, 5), span])
    assert str(error.value) == (
        f"span {span[0]}:{span[1]} contains no token, or is longer than one window"
    )


def test_a_span_longer_than_a_window_is_refused(graph, narrow_folder):
    model = link_model(narrow_folder)
    knowledge = Knowledge(graph, model.entity_encoder)
    with pytest.raises(BadInput, match="0:170"):
        given_mentions(model, knowledge, "Paris " * 30, [(0, 170)])


def test_a_mention_alone_scores_as_in_proportion_to_one_that_was_found(model, knowledge):
    """Where the only mention of a text is given, its features are those of the linking pass."""
    from kgraft.link.linking import score_mentions

    pass_scores = score_mentions(model, knowledge, ["Paris"])
    scored = given_mentions(model, knowledge, "Paris", [(0, 5)])
    assert scored.entity.tolist() == pass_scores.entity.tolist()
    share = pass_scores.score / pass_scores.score.sum()
    np.testing.assert_allclose(scored.score, share, rtol=1e-4)
