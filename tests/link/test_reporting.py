"""A report counts each mention that was missed once, under what went wrong."""

import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts
from tests.graph.tiny import quick
from tests.link.tiny import mentions_of, reading

from kgraft.corpus import annotate
from kgraft.graph import Match
from kgraft.graph.names import Form
from kgraft.link.reporting import calibration_error, report

TEXT = "Paris pays France in euro, not in Texas or Berlin; ask Zorblax"
ABSENT, UNSEEN, OFFERED, NOT_OFFERED, NO_LINK, SPURIOUS = (
    "not in the graph",
    "no span proposed",
    "linked to another entity, the right one among the candidates",
    "linked to another entity, the right one not a candidate",
    "judged not to be a link",
    "a link where nothing is marked",
)


def span_of(surface):
    start = TEXT.index(surface)
    return start, start + len(surface)


def report_on(linker, golds, spans, **options):
    """Report on golds (surface, id) and scored spans (surface, id, score, other ids), by hand."""
    rows = []
    for surface, entity, score, *others in spans:
        ids = linker.graph.indices_of([entity, *others]).tolist()
        scores = [score] + [score / 10] * len(others)
        candidates = [(i, Match.NAME, s) for i, s in zip(ids, scores, strict=True)]
        rows.append((0, *span_of(surface), candidates))
    scored = mentions_of(sorted(rows, key=lambda row: row[:3]))
    scored.forms[:] = Form.MIXED
    golds = [
        {"start": span_of(name)[0], "end": span_of(name)[1], "entity": entity}
        for name, entity in golds
    ]
    annotated = annotate(linker.graph, [(TEXT, golds)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[report.__module__], "score_texts", lambda *a, **o: scored)
        return report(linker, annotated, threshold=0.5, **options)


@pytest.fixture
def look(linker):
    return partial(report_on, linker)


def counts(made):
    return {kind: errors.count for kind, errors in made.errors.items() if errors.count}


def naive_calibration(scores, right):
    total = 0.0
    for low in range(10):
        rows = [i for i, score in enumerate(scores) if min(int(score * 10), 9) == low]
        if rows:
            mean = sum(scores[i] for i in rows) / len(rows)
            share = sum(right[i] for i in rows) / len(rows)
            total += len(rows) / len(scores) * abs(mean - share)
    return total


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
@quick
def test_the_calibration_error_is_that_of_ten_bins(links):
    scores, right = (np.array(column) for column in zip(*links, strict=True))
    expected = naive_calibration(scores.tolist(), right.tolist())
    assert calibration_error(scores, right) == pytest.approx(expected)


def test_without_links_there_is_no_calibration_error():
    assert calibration_error(np.zeros(0), np.zeros(0, bool)) == 0


def test_what_is_right_is_no_error(look):
    made = look([("Paris", "fr-paris"), ("euro", "euro")], [
        ("Paris", "fr-paris", 0.9), ("euro", "euro", 0.7, "texas"),
    ])  # fmt: skip
    assert counts(made) == {}
    assert made.figures["weak_f1"] == made.figures["strong_f1"] == 1
    assert (made.texts, made.mentions, made.threshold) == (1, 2, 0.5)
    assert made.calibration_error == pytest.approx((0.1 + 0.3) / 2, abs=1e-6)


def test_each_error_is_of_its_kind(look):
    made = look(
        [
            ("Paris", "tx-paris"),
            ("France", "france"),
            ("euro", "euro"),
            ("Texas", "texas"),
            ("Zorblax", "zorblax"),
        ],
        [
            ("Paris", "fr-paris", 0.9, "tx-paris"),
            ("France", "germany", 0.9, "texas"),
            ("euro", "euro", 0.4),
            ("Berlin", "berlin", 0.8),
        ],
    )
    assert counts(made) == dict.fromkeys(
        (ABSENT, UNSEEN, OFFERED, NOT_OFFERED, NO_LINK, SPURIOUS), 1
    )
    assert made.errors[OFFERED].examples == [
        {"text": TEXT, "surface": "Paris", "entity": "Paris", "linked": "Paris",
         "to": "Paris (fr-paris)"}
    ]  # fmt: skip
    assert made.errors[NO_LINK].examples == [{"text": TEXT, "surface": "euro", "entity": "euro"}]
    assert made.errors[ABSENT].examples[0]["entity"] == "not in the graph"
    assert made.errors[SPURIOUS].examples == [
        {"text": TEXT, "linked": "Berlin", "to": "Berlin (berlin)"}
    ]


def test_a_candidate_is_offered_to_every_mention_that_its_span_overlaps(look):
    """The span covers two annotated mentions, and has the right entity of the first only."""
    made = look(
        [("Paris", "tx-paris"), ("France", "france")],
        [("Paris pays France", "fr-paris", 0.9, "tx-paris")],
    )
    assert counts(made) == {OFFERED: 1, NOT_OFFERED: 1}


@pytest.mark.parametrize("score", [0.1, 0.9])
def test_a_mention_of_nothing_in_the_graph_is_one_error(look, score):
    made = look([("Zorblax", "zorblax")], [("Zorblax", "texas", score, "euro")])
    assert counts(made) == {ABSENT: 1}
    assert made.figures["absent_left_alone"] == (score < 0.5)
    assert ("to" in made.errors[ABSENT].examples[0]) == (score > 0.5)


def test_an_ignored_span_is_nowhere(look):
    """Neither in the figures, nor among the errors, nor in the calibration."""
    golds = [("Paris", "fr-paris"), ("Texas", None)]
    spans = [("Paris", "fr-paris", 0.9), ("Texas", "texas", 0.6)]
    made, without = look(golds, spans), look(golds[:1], spans[:1])
    assert counts(made) == {}
    assert made.mentions == 1
    assert made.figures == without.figures
    assert made.calibration_error == pytest.approx(without.calibration_error)


def test_where_annotation_is_partial_an_unmarked_name_is_no_error(look):
    golds, spans = [("Paris", "fr-paris")], [("Paris", "fr-paris", 0.9), ("Berlin", "berlin", 0.9)]
    assert counts(look(golds, spans)) == {SPURIOUS: 1}
    assert counts(look(golds, spans, partial=True)) == {}
    assert look(golds, spans, partial=True).figures["weak_f1"] == 1


@pytest.mark.parametrize("examples", [0, 2, 5])
def test_so_many_examples_are_shown_as_are_asked_for(look, examples):
    spans = [("Berlin", "berlin", 0.9), ("Texas", "texas", 0.9), ("euro", "euro", 0.9)]
    made = look([("Paris", "fr-paris")], spans, examples=examples)
    assert made.errors[SPURIOUS].count == 3
    assert len(made.errors[SPURIOUS].examples) == min(examples, 3)


def test_recall_is_given_by_type_and_number_of_triples(look):
    made = look(
        [("Paris", "fr-paris"), ("Berlin", "berlin"), ("France", "france"), ("Zorblax", "zorblax"),
         ("ask", "nameless")],
        [("Paris", "fr-paris", 0.9), ("France", "france", 0.9)],
    )  # fmt: skip
    assert made.by_type == {"city": (0.5, 2), "country": (1, 1)}
    # fr-paris and berlin have one triple each, france ten, nameless none
    assert made.by_frequency == {"none": (0, 1), "1 to 9": (0.5, 2), "10 to 99": (1, 1)}


IDS = ["fr-paris", "texas", "euro", "zorblax"]
SPANS = st.lists(
    st.tuples(st.sampled_from(["Paris", "Paris pays", "pays France", "Zorblax"]),
              st.sampled_from(IDS[:3]), st.sampled_from([0.1, 0.9])),
    min_size=1, max_size=4, unique_by=lambda span: span[0],
)  # fmt: skip
GOLDS = st.lists(
    st.tuples(st.sampled_from(["Paris", "France", "Zorblax"]), st.sampled_from(IDS)),
    unique_by=lambda gold: gold[0],
)


@given(golds=GOLDS, spans=SPANS)
@reading
def test_every_missed_mention_is_one_error(linker, golds, spans):
    made = report_on(linker, golds, spans)
    missed = sum(count for kind, count in counts(made).items() if kind != SPURIOUS)
    assert missed == round((1 - made.figures["weak_recall"]) * len(golds)) if golds else not missed


def test_a_linker_is_reported_on_as_it_links(linker, marked_texts):
    made = report(linker, marked_texts, threshold=0)
    assert (made.texts, made.mentions) == (40, len(marked_texts.mentions))
    assert sum(count for _, count in made.by_frequency.values()) == made.mentions
    assert report(linker, marked_texts).threshold == linker.threshold
    assert made.to_dict()["figures"] == made.figures


def test_a_graph_that_has_grown_is_reported_on(by_name):
    by_name.add([{"id": "x", "label": "Zorblax", "types": ["city"]}])
    index = len(by_name.graph.entities)
    first = np.array([0])
    annotated = annotated_texts(["Zorblax"], first, first, first + 7, np.array([index]))
    made = report(by_name, annotated, threshold=0)
    assert made.figures["strong_f1"] == 1
    assert made.by_type == made.by_frequency == {}  # they are of the graph as it was opened
