"""Training texts: every annotated mention with its entity, and how much each mention counts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts as annotated
from tests.graph.tiny import build, quick
from tests.link.tiny import reading

from kgraft.corpus import annotate
from kgraft.graph import IGNORED, Match
from kgraft.graph.names import Form, ordinary_frequency
from kgraft.link.features import FEATURES
from kgraft.link.knowledge import Knowledge
from kgraft.link.training_texts import FULL, TrainingTexts, Unmarked, _balanced, training_spans

TEXT = "Paris and New York City pay in euro, not in Texas."
UNMARKED = Unmarked(other_case=0.6, common_word=0.5, concept=0.4, proper=0.3)
WORDS = ["Paris", "new", "York", "City", "texas", "the", "Zürich", "東京", "euro", "Euro", "berlin"]


def mark(graph, *surfaces, text=TEXT):
    """Annotate surfaces of a text, each given with its entity; None is to be ignored."""
    mentions = [
        {"start": text.index(name), "end": text.index(name) + len(name), "entity": entity}
        for name, entity in surfaces
    ]
    return annotate(graph, [(text, mentions)])


def spans_of(model, knowledge, data, unmarked=UNMARKED, **options):
    source = TrainingTexts(knowledge, data, unmarked, **options)
    return training_spans(model, source, np.arange(len(data)))


def by_surface(spans, data, values):
    mentions = spans.mentions
    rows = zip(mentions.text, mentions.start, mentions.end, strict=True)
    surfaces = [data.texts[text][start:end] for text, start, end in rows]
    return dict(zip(surfaces, values.tolist(), strict=True))


def test_the_annotated_entity_is_the_right_candidate(model, knowledge, graph):
    """A Paris that is a candidate, a euro that no name leads to, and a span that is no name."""
    data = mark(graph, ("Paris", "myth"), ("euro", "france"), ("not in", "tokyo"))
    spans = spans_of(model, knowledge, data)
    gold = by_surface(spans, data, spans.gold)
    [myth] = graph.indices_of(["myth"])
    assert spans.mentions.entity[gold["Paris"]] == myth
    assert gold["euro"] == gold["not in"] == gold["Texas"] == -1
    is_gold = by_surface(spans, data, spans.is_gold)
    assert {name for name, flag in is_gold.items() if flag} == {"Paris", "euro", "not in"}


def test_what_is_annotated_or_overlaps_it_counts_in_full(model, knowledge, graph):
    data = mark(graph, ("New York", "ny"))
    weight = by_surface(spans := spans_of(model, knowledge, data), data, spans.weight)
    assert weight["New York"] == weight["New York City"] == weight["York"] == 1
    assert weight["Paris"] == weight["Texas"] == pytest.approx(0.3)


def test_what_is_to_be_ignored_does_not_count(model, knowledge, graph):
    data = mark(graph, ("New York", None))
    weight = by_surface(spans := spans_of(model, knowledge, data), data, spans.weight)
    assert weight["New York"] == weight["New York City"] == weight["York"] == 0


def test_a_span_without_candidates_does_not_count_for_links(model, knowledge, graph):
    data = mark(graph, ("not in", "tokyo"))
    weight = by_surface(spans := spans_of(model, knowledge, data), data, spans.weight)
    assert weight["not in"] == 0


def naive_weight(spans, data, row, unmarked):
    """The weight of one mention, rule by rule; the last one that fits decides."""
    mentions = spans.mentions
    candidates = range(mentions.bounds[row], mentions.bounds[row + 1])
    if not len(candidates):
        return 0.0
    text = data.texts[mentions.text[row]]
    surface = text[mentions.start[row] : mentions.end[row]]
    forms = int(np.bitwise_or.reduce(mentions.forms[candidates]))
    first_forms = int(mentions.forms[candidates[0]])
    lower = not any(map(str.isupper, surface)) and any(map(str.islower, surface))
    upper = sum(map(str.isupper, surface)) > 1 and not any(map(str.islower, surface))
    capitals, smalls = (sum(map(case, text)) for case in (str.isupper, str.islower))
    cased = capitals > 0 < smalls and not (smalls < 0.2 * capitals and capitals > 3)
    words = [word.casefold() for word in surface.replace(".", "").split()]
    begins_with_capital = surface[0].isupper() and any(map(str.islower, surface))
    weight = unmarked.proper
    if not (lower or upper or begins_with_capital) or (lower and forms & Form.LOWER):
        weight = unmarked.concept
    if lower and not forms & Form.LOWER:
        if cased:
            weight = unmarked.other_case
        elif min(ordinary_frequency(words)) >= 4.5:
            weight = unmarked.common_word
    if first_forms & Form.UPPER and not first_forms & (Form.LOWER | Form.MIXED) and not upper:
        weight = 1.0
    if mentions.match[candidates[0]] == Match.NEIGHBOUR:
        weight = unmarked.concept
    spans = data.mentions.text, data.mentions.start, data.mentions.end
    overlapping = [
        int(entity)
        for number, start, end, entity in zip(*spans, data.gold, strict=True)
        if number == mentions.text[row] and start < mentions.end[row] and mentions.start[row] < end
    ]
    if overlapping:
        weight = 1.0
    return 0.0 if IGNORED in overlapping else weight


@st.composite
def texts_in_cases(draw):
    """Texts in several cases, in which some words are annotated."""
    texts, rows = [], []
    for number in range(draw(st.integers(1, 3))):
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
        case = draw(st.sampled_from([str, str.lower, str.upper]))
        texts.append(case(" ".join(words)))
        for row in draw(st.lists(st.integers(0, len(words) - 1), max_size=2, unique=True)):
            start = len(" ".join([*words[:row], ""]))
            entity = draw(st.sampled_from([0, 3, -1, IGNORED]))
            rows.append((number, start, start + len(words[row]), entity))
    return annotated(texts, *np.array(sorted(rows), np.int64).reshape(-1, 4).T)


@given(data=texts_in_cases())
@reading
def test_weights_follow_the_rules_mention_by_mention(model, knowledge, data):
    spans = spans_of(model, knowledge, data)
    for row in range(len(spans.mentions)):
        expected = naive_weight(spans, data, row, UNMARKED)
        assert spans.weight[row] == pytest.approx(expected), (data, row)


def test_acronyms_and_common_words_have_weights_of_their_own(model, tmp_path):
    entities = [{"id": "w", "label": "WHO"}, {"id": "h", "label": "House"}]
    knowledge = Knowledge(build(tmp_path / "words", [], entities, None), model.entity_encoder)
    none = np.zeros((4, 0), np.int64)
    for text, surface, expected in (
        ("the house", "house", UNMARKED.common_word),
        ("The house", "house", UNMARKED.other_case),
        ("The House", "House", UNMARKED.proper),
    ):
        data = annotated([text], *none)
        spans = spans_of(model, knowledge, data)
        assert by_surface(spans, data, spans.weight)[surface] == pytest.approx(expected)


def test_in_fully_annotated_texts_every_name_counts(model, knowledge, graph):
    spans = spans_of(model, knowledge, mark(graph, ("Paris", "myth")), FULL)
    assert spans.weight.tolist() == [1.0] * len(spans.mentions)


@given(
    st.lists(st.tuples(st.floats(0, 2), st.booleans()), min_size=1, max_size=12), st.floats(0, 2)
)
@quick
def test_the_weight_of_none_is_limited_by_that_of_the_right(rows, ratio):
    weight, right = (np.array(column) for column in zip(*rows, strict=True))
    balanced = _balanced(weight, right, ratio)
    of_right = sum(w for w, r in rows if r)
    of_none = sum(w for w, r in rows if not r)
    assert balanced[right].tolist() == weight[right].tolist()
    expected = min(of_none, ratio * of_right)
    assert balanced[~right].sum() == pytest.approx(expected, abs=1e-9)


def test_a_ratio_limits_the_weight_of_none(model, knowledge, graph):
    data = mark(graph, ("Paris", "myth"))
    spans = spans_of(model, knowledge, data, FULL, none_ratio=0.5)
    assert spans.weight[spans.gold < 0].sum() == pytest.approx(0.5)
    assert spans.weight[spans.gold >= 0].tolist() == [1]


def test_spans_are_in_order_of_their_windows_with_features_and_vectors(graph, narrow):
    knowledge = Knowledge(graph, narrow.entity_encoder)
    texts = [(TEXT * 3, []), ("Texas", []), ("who rules New York City?", [])]
    data = annotate(graph, texts)
    spans = spans_of(narrow, knowledge, data)
    assert len(spans.windows) > 4
    assert (np.diff(spans.places.window) >= 0).all()
    mentions = spans.mentions
    places = spans.windows.locate(mentions.text, mentions.start, mentions.end)
    assert all(np.array_equal(*pair) for pair in zip(places, spans.places, strict=True))
    in_order = np.lexsort((mentions.end, mentions.start, mentions.text))
    features = knowledge.features(data.texts, mentions.select(in_order))
    rows = {
        (*span, entity): row
        for span, entity, row in zip(
            _candidate_spans(mentions.select(in_order)),
            mentions.select(in_order).entity.tolist(),
            features,
            strict=True,
        )
    }
    for span, entity, row in zip(
        _candidate_spans(mentions), mentions.entity.tolist(), spans.features, strict=True
    ):
        assert row.tolist() == rows[(*span, entity)].tolist()
    vectors = spans.entity_vectors[torch.from_numpy(spans.entity_row)]
    torch.testing.assert_close(vectors, knowledge.vectors(mentions.entity))
    assert spans.features.shape == (len(mentions.entity), len(FEATURES))


def _candidate_spans(mentions):
    columns = (mentions.text, mentions.start, mentions.end)
    return list(zip(*(column[mentions.owner].tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        ("of the", []),
        ("of the", [(0, 2)]),  # annotated, and no name
        ("  ", [(0, 1)]),  # nothing to read
        ("Paris ", [(0, 6)]),  # ends behind the last word
        (" Paris", [(0, 6), (0, 99), (-3, 2), (4, 4)]),  # outside of the text
    ],
)
def test_odd_annotations_are_learnt_from_or_passed_over(model, knowledge, graph, text, spans):
    mentions = [{"start": start, "end": end, "entity": "myth"} for start, end in spans]
    made = spans_of(model, knowledge, annotate(graph, [(text, mentions)]))
    assert np.isfinite(made.weight).all()
    assert np.isfinite(made.features).all()
    assert len(made.gold) == len(made.mentions)
    assert (made.places.window >= 0).all()


def test_only_the_texts_of_the_part_are_looked_at(model, knowledge, marked_texts):
    part = np.array([3, 7])
    source = TrainingTexts(knowledge, marked_texts)
    spans = training_spans(model, source, part)
    expected = marked_texts.select(part)
    assert len(spans.windows) == 2
    assert spans.is_gold.sum() == len(expected.mentions)
