"""A report counts each mention that was missed once, under what went wrong."""

import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import few

from kgraft.graph.annotated import Annotated, annotate
from kgraft.link.reporting import report
from kgraft.link.score import Found

TEXT = "Paris pays France in euro, not in Texas or Berlin; ask Zorblax"
NIL, UNSEEN, KNOWN, UNKNOWN, JUDGED, NOTHING = (
    "not in the graph",
    "no span proposed",
    "linked to another entity, the right one among the candidates",
    "linked to another entity, the right one no candidate",
    "judged to be no link",
    "a link where nothing is marked",
)


def look_at(linker, marks, spans, **options):
    """Report on marks (surface, id) and spans (surface, id, score, other candidates), by hand."""
    found = sorted((_found(linker.graph, *span) for span in spans), key=lambda row: row[1:3])
    links = Found(*(np.array(column) for column in zip(*found, strict=True)))
    mentions = [{**_place(name), "entity": entity} for name, entity in marks]
    marked = annotate(linker.graph, [(TEXT, mentions)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[report.__module__], "find_links", lambda *a, **o: links)
        return report(linker, marked, threshold=0.5, **options)


@pytest.fixture
def look(linker):
    return partial(look_at, linker)


def _place(name):
    start = TEXT.index(name)
    return {"start": start, "end": start + len(name)}


def _found(graph, name, entity, score, *others):
    numbers = graph.numbers_of([entity, *others, *["-"] * (3 - len(others))])
    return 0, *_place(name).values(), numbers[0], score, True, numbers


def counts(made):
    return {kind: errors.count for kind, errors in made.errors.items() if errors.count}


def test_what_is_right_is_no_error(look):
    made = look([("Paris", "fr-paris"), ("euro", "euro")], [
        ("Paris", "fr-paris", 0.9), ("euro", "euro", 0.6, "texas"),
    ])  # fmt: skip
    assert counts(made) == {}
    assert made.figures["weak_f1"] == made.figures["strong_f1"] == 1
    assert (made.texts, made.mentions, made.threshold) == (1, 2, 0.5)


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
    assert counts(made) == {NIL: 1, UNSEEN: 1, KNOWN: 1, UNKNOWN: 1, JUDGED: 1, NOTHING: 1}
    assert made.errors[KNOWN].examples == [
        {"text": TEXT, "surface": "Paris", "entity": "Paris", "linked": "Paris",
         "to": "Paris (fr-paris)"}
    ]  # fmt: skip
    assert made.errors[JUDGED].examples == [{"text": TEXT, "surface": "euro", "entity": "euro"}]
    assert made.errors[NIL].examples[0]["entity"] == "not in the graph"
    assert made.errors[NOTHING].examples == [
        {"text": TEXT, "linked": "Berlin", "to": "Berlin (berlin)"}
    ]


@pytest.mark.parametrize("score", [0.1, 0.9])
def test_a_mention_of_nothing_in_the_graph_is_one_error(look, score):
    made = look([("Zorblax", "zorblax")], [("Zorblax", "texas", score, "euro")])
    assert counts(made) == {NIL: 1}
    assert made.figures["nil_left_alone"] == (score < 0.5)
    assert ("to" in made.errors[NIL].examples[0]) == (score > 0.5)


def test_where_annotation_is_partial_an_unmarked_name_is_no_error(look):
    marks, spans = [("Paris", "fr-paris")], [("Paris", "fr-paris", 0.9), ("Berlin", "berlin", 0.9)]
    assert counts(look(marks, spans)) == {NOTHING: 1}
    assert counts(look(marks, spans, partial=True)) == {}
    assert look(marks, spans, partial=True).figures["weak_f1"] == 1


def test_so_many_examples_are_shown_as_are_asked_for(look):
    spans = [("Berlin", "berlin", 0.9), ("Texas", "texas", 0.9), ("euro", "euro", 0.9)]
    for examples in (0, 2, 5):
        made = look([("Paris", "fr-paris")], spans, examples=examples)
        assert made.errors[NOTHING].count == 3
        assert len(made.errors[NOTHING].examples) == min(examples, 3)


def test_recall_is_told_by_type_and_frequency(look):
    made = look(
        [("Paris", "fr-paris"), ("Berlin", "berlin"), ("France", "france"), ("Zorblax", "zorblax"),
         ("ask", "nameless")],
        [("Paris", "fr-paris", 0.9), ("France", "france", 0.9)],
    )  # fmt: skip
    assert made.by_type == {"city": (0.5, 2), "country": (1, 1)}
    assert made.by_frequency == {"none": (0, 1), "1 to 9": (0.5, 2), "10 to 99": (1, 1)}


IDS = ["fr-paris", "texas", "euro", "zorblax"]
SPANS = st.lists(
    st.tuples(st.sampled_from(["Paris", "Paris pays", "pays France", "Zorblax"]),
              st.sampled_from(IDS[:3]), st.sampled_from([0.1, 0.9]), st.sampled_from(IDS)),
    min_size=1, max_size=6,
)  # fmt: skip


@given(
    marks=st.lists(
        st.tuples(st.sampled_from(["Paris", "France", "Zorblax"]), st.sampled_from(IDS))
    ),
    spans=SPANS,
)
@few
def test_every_missed_mention_is_one_error(linker, marks, spans):
    made = look_at(linker, marks, spans)
    missed = sum(count for kind, count in counts(made).items() if kind != NOTHING)
    assert missed == round((1 - made.figures["weak_recall"]) * len(marks))


def test_a_linker_is_reported_on_as_it_links(linker, marked_texts):
    made = report(linker, marked_texts, threshold=0)
    assert (made.texts, made.mentions) == (40, len(marked_texts.text))
    assert sum(count for _, count in made.by_frequency.values()) == made.mentions
    assert report(linker, marked_texts).threshold == linker.threshold


def test_a_graph_that_has_grown_is_reported_on(by_name):
    by_name.add([{"id": "x", "label": "Zorblax", "types": ["city"]}])
    number = len(by_name.graph.entities)
    one = np.array([0])
    marked = Annotated(["Zorblax"], one, one, one + 7, np.array([number]))
    made = report(by_name, marked, threshold=0)
    assert made.figures["strong_f1"] == 1
    assert made.by_frequency == {"none": (1, 1)}
