"""The linking pass: mentions with candidates, and scores by the formulas."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import build, quick
from tests.link.tiny import apart, link_model, mentions_of, reading, weighing

from kgraft.graph import Match
from kgraft.graph.names import Form
from kgraft.graph.names.fold import WordTokens
from kgraft.link.knowledge import Knowledge
from kgraft.link.linking import (
    BY_MEANING,
    BY_NAME,
    DOCUMENT,
    LinkOptions,
    _with_definitions,
    candidates_by_meaning,
    dot_margins,
    encoder_features,
    find_mentions,
    plausible_names,
    score_mentions,
    softmax_by_owner,
    word_edges,
)
from kgraft.link.model import ENCODER_FEATURES
from kgraft.link.reading import SpanVectors
from kgraft.text import TokenSpans

WORDS = ["Paris", "New York", "City", "rules", "Zürich", "euro", "東京", "River 3", "Texas", "."]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=3)
GERMAN = "Wir fahren mit dem Zug nach Paris und dann weiter nach Texas."
DOTS = st.lists(
    st.lists(st.integers(-3, 3).map(float), max_size=5), min_size=1, max_size=5
)  # one list per mention; equal ones are frequent


def columns(dots):
    owner = [row for row, candidates in enumerate(dots) for _ in candidates]
    flat = [dot for candidates in dots for dot in candidates]
    return torch.tensor(flat), torch.tensor(owner, dtype=torch.int64)


def naive_margin(candidates, row):
    others = candidates[:row] + candidates[row + 1 :]
    return candidates[row] - max(others) if others else 0.0


@given(DOTS)
@quick
def test_margins_are_to_the_best_other_candidate(dots):
    margins = dot_margins(*columns(dots))
    expected = [naive_margin(c, row) for c in dots for row in range(len(c))]
    assert margins.tolist() == expected


@given(DOTS, st.integers(0, 999), st.data())
@quick
def test_encoder_features_follow_their_definitions(dots, seed, data):
    draw, count = torch.Generator().manual_seed(seed), len(dots)
    flat, owner = columns(dots)
    vectors = torch.randn(count, 6, generator=draw)
    logits = torch.randn(count, generator=draw) * 10
    readable = torch.tensor([data.draw(st.booleans()) for _ in dots])
    nowhere = TokenSpans(*np.zeros((3, count), np.int64))
    spans = SpanVectors(nowhere, logits, vectors)
    rows = encoder_features(flat, spans, owner, readable)
    assert rows.shape == (len(flat), len(ENCODER_FEATURES))
    ranks = [row for candidates in dots for row in range(len(candidates))]
    for row, mention, rank in zip(rows, owner.tolist(), ranks, strict=True):
        if not readable[mention]:
            assert row.tolist() == [1, 0, 0, 0, 0]
            continue
        dot = dots[mention][rank]
        expected = [
            0.0,
            min(max(float(logits[mention]) / 5, -2.0), 2.0),
            dot / 10,
            3 * dot / float(vectors[mention].norm()),
            naive_margin(dots[mention], rank) / 10,
        ]
        assert row.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(TEXTS)
@reading
def test_scores_of_a_mention_sum_to_at_most_1(model, knowledge, texts):
    for decoding in ("head", "elq"):
        scored = score_mentions(model, knowledge, texts, options=LinkOptions(decoding=decoding))
        total = np.bincount(scored.owner, weights=scored.score, minlength=len(scored))
        assert (total <= 1 + 1e-5).all()
        assert (scored.score >= 0).all()
        ahead = (scored.rank[1:] > 0) & (scored.score[1:] > scored.score[:-1])
        assert not ahead.any()  # best first


def test_elq_scores_are_p_of_entity_times_p_of_mention(model, knowledge):
    texts = ["Paris in Texas", "New Texas"]
    mentions, spans = find_mentions(model, knowledge, texts)
    scored = score_mentions(model, knowledge, texts, options=LinkOptions(decoding="elq"))
    vectors = knowledge.vectors(mentions.entity)
    for row in range(len(mentions)):
        rows = slice(mentions.bounds[row], mentions.bounds[row + 1])
        share = torch.softmax(vectors[rows] @ spans.vectors[row], 0) * spans.logits[row].sigmoid()
        expected = dict(zip(mentions.entity[rows].tolist(), share.tolist(), strict=True))
        entities = scored.entity[rows].tolist()
        seen = dict(zip(entities, scored.score[rows].tolist(), strict=True))
        assert seen == pytest.approx(expected, rel=1e-4)


def test_head_scores_are_those_of_a_logit_per_candidate(graph, encoder_folder, knowledge):
    """a(e) = 1 + 3 dot / 10 - span logit / 5."""
    model = weighing(link_model(encoder_folder), {"dot": 3.0, "span logit": -1.0}, bias=1.0)
    texts = ["Paris in Texas", "New Texas"]
    mentions, spans = find_mentions(model, knowledge, texts)
    scored = score_mentions(model, knowledge, texts)
    dots = (knowledge.vectors(mentions.entity) * spans.vectors[mentions.owner]).sum(1)
    for row in range(len(mentions)):
        rows = slice(mentions.bounds[row], mentions.bounds[row + 1])
        logits = 1 + 0.3 * dots[rows] - (spans.logits[row] / 5).clamp(-2, 2)
        p = logits.exp() / (1 + logits.exp().sum())
        expected = dict(zip(mentions.entity[rows].tolist(), p.tolist(), strict=True))
        entities = scored.entity[rows].tolist()
        seen = dict(zip(entities, scored.score[rows].tolist(), strict=True))
        assert seen == pytest.approx(expected, rel=1e-3)


def test_a_text_that_the_encoder_cannot_read_is_linked_by_names_only(graph, encoder_folder):
    """Two models that see other things score it alike; an English text they do not."""
    one, other = link_model(encoder_folder), link_model(encoder_folder)
    other.project.weight.data.mul_(-2.0)
    other.mark.bias.data.add_(1.0)
    knowledge = Knowledge(graph, one.entity_encoder)
    scores = [
        [score_mentions(model, knowledge, [text]).score.tolist() for model in (one, other)]
        for text in (GERMAN, "We went by train to Paris and then on to Texas.")
    ]
    assert scores[0][0] == scores[0][1]
    assert len(scores[0][0]) == len(scores[1][0])
    assert scores[1][0] != scores[1][1]


def test_candidates_of_a_document_support_each_other(graph, encoder_folder, knowledge):
    model = weighing(link_model(encoder_folder), {"neighbour support": 9.0}, bias=-1.0)
    text = "They went to Paris because it is in France." + " And so on it goes." * 10
    assert text.count(" ") >= DOCUMENT

    def best(text, **options):
        scored = score_mentions(model, knowledge, [text], options=LinkOptions(**options))
        row = int(np.flatnonzero(scored.start == text.index("Paris"))[0])
        rows = slice(scored.bounds[row], scored.bounds[row + 1])
        return dict(zip(scored.entity[rows].tolist(), scored.score[rows].tolist(), strict=True))

    french, texan = graph.indices_of(["fr-paris", "tx-paris"]).tolist()
    supported = best(text)
    assert supported[french] > 2 * supported[texan]
    for alone in (best(text[:43]), best(text, coherence=False)):
        assert alone[french] == pytest.approx(alone[texan])


def test_pinned_names_score_1_whatever_the_head_says(graph, encoder_folder):
    model = weighing(link_model(encoder_folder), {}, bias=-9.0)
    knowledge = Knowledge(graph, model.entity_encoder)
    knowledge.pin({"Paris": "myth"})
    scored = score_mentions(model, knowledge, ["Paris in Texas"])
    assert scored.entity[0] == graph.indices_of(["myth"])[0]
    assert scored.score[0] == 1
    assert scored.match[0] == Match.PINNED
    assert scored.score[1] < 0.01


def test_exact_finds_no_variants(graph, model, tmp_path):
    entities = [{"id": "a", "label": "Lone Ranger"}, {"id": "b", "label": "Ranger of the North"}]
    small = build(tmp_path / "variants", [], entities, None)
    knowledge = Knowledge(small, model.entity_encoder)
    texts = ["The Lone Rangers met a ranger of the north."]
    matches = [
        set(score_mentions(model, knowledge, texts, options=LinkOptions(exact=exact)).match)
        for exact in (False, True)
    ]
    assert Match.VARIANT in matches[0]
    assert matches[1] == {Match.NAME}


def test_at_most_eight_candidates_share_a_name(model, tmp_path):
    entities = [{"id": f"s{n}", "label": "Springfield"} for n in range(BY_NAME + 4)]
    knowledge = Knowledge(build(tmp_path / "many", [], entities, None), model.entity_encoder)
    mentions, spans = find_mentions(model, knowledge, ["Springfield"])
    assert mentions.sizes.tolist() == [BY_NAME]
    assert len(spans) == 1


def test_acronyms_that_stand_as_ordinary_words_are_left_out():
    texts = ["it is IS and may, IT"]

    def row(surface, forms, match=Match.NAME):
        start = texts[0].index(surface)
        return (0, start, start + len(surface), [(0, match, 0.0)]), forms

    rows = [
        row("it", Form.UPPER),  # an ordinary word
        row("is", Form.UPPER | Form.MIXED),  # is written otherwise, too
        row("IS", Form.UPPER),
        row("may", Form.UPPER, Match.PINNED),
        row("IT", Form.UPPER),
    ]
    mentions = mentions_of([mention for mention, _ in rows])
    mentions.forms[:] = [forms for _, forms in rows]
    kept = plausible_names(mentions, texts)
    surfaces = [texts[0][a:b] for a, b in zip(kept.start, kept.end, strict=True)]
    assert surfaces == ["is", "IS", "may", "IT"]


def test_a_name_that_begins_with_a_preposition_has_capitals_somewhere():
    text = "seen in france and in Bruges, by and by"
    cases = [("in france", Form.LOWER), ("france", Form.LOWER), ("in Bruges", Form.MIXED)]
    rows = [
        (0, text.index(name), text.index(name) + len(name), [(0, Match.NAME, 0)])
        for name, _ in cases
    ]
    mentions = mentions_of(rows)
    mentions.forms[:] = [forms for _, forms in cases]
    kept = plausible_names(mentions, [text])
    surfaces = [text[a:b] for a, b in zip(kept.start, kept.end, strict=True)]
    assert surfaces == ["france", "in Bruges"]


ROWS = st.lists(
    st.tuples(
        st.sampled_from([Match.NAME, Match.ABBREVIATION]),
        st.lists(st.integers(0, 3), max_size=3, unique=True),
        st.integers(0, 1),
    ),
    max_size=6,
)


@given(ROWS, st.integers(0, 99))
@quick
def test_an_abbreviation_has_the_scores_of_what_it_stands_for(rows, seed):
    rows = sorted(rows, key=lambda row: row[2])
    draw, spans = np.random.default_rng(seed), []
    for n, (match, entities, text) in enumerate(rows):
        scores = draw.dirichlet(np.ones(len(entities) + 1)).tolist()  # the last is that of none
        candidates = [(e, match, s) for e, s in zip(entities, scores[:-1], strict=True)]
        spans.append((text, 4 * n, 4 * n + 3, candidates))
    mentions = mentions_of(spans)
    scores = _with_definitions(mentions, mentions.score)
    names = [(text, *c) for text, _, _, candidates in spans for c in candidates]
    for row, (text, _, _, candidates) in enumerate(spans):
        expected = []
        for entity, match, score in candidates:
            of_names = [s for t, e, m, s in names if (t, e, m) == (text, entity, Match.NAME)]
            use = match == Match.ABBREVIATION and of_names
            expected.append(max(of_names) if use else score)
        total = max(sum(expected), 1)
        own = scores[mentions.bounds[row] : mentions.bounds[row + 1]]
        assert own.tolist() == pytest.approx([score / total for score in expected], abs=1e-6)


def test_mere_signs_are_no_mentions():
    mentions = mentions_of([(0, 0, 1, [(0, Match.NAME, 0)]), (0, 2, 4, [(0, Match.NAME, 0)])])
    mentions.forms[:] = Form.MIXED
    assert plausible_names(mentions, ["! C!"]).start.tolist() == [2]


@given(TEXTS)
@reading
def test_word_edges_are_the_tokens_at_the_ends_of_words(narrow, texts):
    windows = narrow.encoder.windows(texts)
    begins, ends = word_edges(windows, texts)
    expected = []
    for text in texts:
        words, offsets = WordTokens.of(text), narrow.encoder.windows([text]).offsets
        starts, stops = set(words.start.tolist()), set(words.end.tolist())
        expected += [
            (start in starts, stop in stops)
            for start, stop in zip(offsets.starts.tolist(), offsets.ends.tolist(), strict=True)
        ]
    assert list(zip(begins.tolist(), ends.tolist(), strict=True)) == expected


@pytest.fixture(scope="module")
def searching(graph, model, tmp_path_factory):
    """Knowledge with an index, not to be changed."""
    with apart(tmp_path_factory.mktemp("searching")):
        knowledge = Knowledge(graph, model.entity_encoder)
        knowledge.build_index()
    return knowledge


def test_spans_that_are_not_names_get_the_nearest_entities(model, searching, monkeypatch):
    monkeypatch.setattr("kgraft.link.reading.FLOOR", -1e9)
    text = "We met the man of Texas, in Paris."
    mentions, spans = find_mentions(model, searching, [text])
    assert len(spans) == len(mentions)
    near = mentions.match[mentions.best] == Match.NEIGHBOUR
    assert {text[a:b] for a, b in zip(mentions.start[~near], mentions.end[~near], strict=True)} == {
        "Texas", "Paris",
    }  # fmt: skip
    assert near.sum() >= 4
    assert (mentions.sizes[near] == BY_MEANING).all()
    order = np.lexsort((mentions.end, mentions.start, mentions.text))
    assert order.tolist() == list(range(len(mentions)))
    vectors = searching.text_vectors.all()
    for row in np.flatnonzero(near).tolist():
        nearest = (vectors @ spans.vectors[row]).topk(BY_MEANING).indices.tolist()
        rows = slice(mentions.bounds[row], mentions.bounds[row + 1])
        assert set(mentions.entity[rows].tolist()) == set(nearest)
    assert not mentions.prior[mentions.match == Match.NEIGHBOUR].any()


def test_each_span_is_one_mention_although_a_sign_has_several_tokens(model, searching, monkeypatch):
    """A Korean syllable is several tokens of the tokenizer at the same characters."""
    monkeypatch.setattr("kgraft.link.reading.FLOOR", -1e9)
    monkeypatch.setattr("kgraft.link.reading.FEWEST", 10**6)
    mentions, spans = find_mentions(model, searching, ["한국 in Texas", "한"])
    rows = list(zip(mentions.text, mentions.start, mentions.end, strict=True))
    assert len(rows) == len(set(rows)) == len(spans)


@pytest.mark.parametrize("options", [LinkOptions(by_meaning=False), LinkOptions(exact=True)])
def test_the_index_is_not_searched_where_names_are_wanted(model, searching, monkeypatch, options):
    monkeypatch.setattr("kgraft.link.reading.FLOOR", -1e9)
    mentions, _ = find_mentions(model, searching, ["We met in Paris"], options=options)
    assert (mentions.match == Match.NAME).all()


def test_only_mentions_without_a_candidate_are_searched_for(searching):
    mentions = mentions_of([(0, 0, 3, [(4, Match.NAME, 0.0)]), (0, 4, 9, [])])
    filled = candidates_by_meaning(searching, ["one", "other"], torch.eye(48)[:2], mentions)
    assert filled.sizes.tolist() == [1, BY_MEANING]
    assert filled.entity[0] == 4
    again = candidates_by_meaning(searching, ["one", "other"], torch.eye(48)[:2], filled)
    assert again is filled


def test_without_texts_or_names_there_are_no_mentions(model, knowledge):
    for texts in ([], [""], ["nothing of the kind"]):
        scored = score_mentions(model, knowledge, texts)
        assert len(scored) == len(scored.entity) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-60, 60)), min_size=1))
def test_the_softmax_is_that_of_each_mention_alone(rows):
    owner, logits = (torch.tensor(column) for column in zip(*rows, strict=True))
    shares = softmax_by_owner(logits.float(), owner, 4)
    for mention in owner.unique():
        own = owner == mention
        torch.testing.assert_close(shares[own], logits[own].float().softmax(0))
