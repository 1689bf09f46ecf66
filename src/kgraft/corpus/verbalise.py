"""Facts in words: a relation's template says a triple, with its two ends marked as mentions.

"[X] is located in [Y] ." says (Laval, country, Canada) as "Laval is located in Canada ." A relation
without a template is said by its label: "Laval country Canada ."
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kgraft.corpus.annotated import AnnotatedTexts, annotate
from kgraft.errors import BadInput
from kgraft.graph import Graph, TripleArrays

SUBJECT, OBJECT = "[X]", "[Y]"


def relation_templates(graph: Graph) -> list[str]:
    """Return how each relation is said."""
    columns = [n for n in ("template", "label", "id") if n in graph.relations.column_names]
    said = []
    for row in graph.relations.select(columns).to_pylist():
        given = row.get("template") or ""
        plain = f"{SUBJECT} {row['label'] or row['id']} {OBJECT} ."
        said.append(given if SUBJECT in given and OBJECT in given else plain)
    return said


def fact_texts(graph: Graph, count: int, *, seed: int = 0) -> AnnotatedTexts:
    """Say `count` facts of a graph, drawn at random, or all of them where there are fewer.

    >>> from kgraft.graph import Graph
    >>> len(fact_texts(Graph.open("world"), 5))
    5
    """
    facts = graph.triples
    if not len(facts):
        raise BadInput(
            "the graph has no facts to say", remedy="give texts, or a graph with triples"
        )
    order = np.random.default_rng(seed).permutation(len(facts))[:count]
    return annotate(graph, _said(graph, facts.take(order), relation_templates(graph)))


def _said(
    graph: Graph, facts: TripleArrays, said: list[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    labels, ids = (graph.entities[name].to_pylist() for name in ("label", "id"))
    for head, relation, tail in zip(facts.head, facts.relation, facts.tail, strict=True):
        text = said[relation]
        marks: list[dict[str, Any]] = []
        ends = sorted(
            [(text.index(SUBJECT), SUBJECT, head), (text.index(OBJECT), OBJECT, tail)], reverse=True
        )
        for place, sign, entity in ends:  # the last first, so that places before it stay
            name = labels[entity] or ids[entity]
            text = text[:place] + name + text[place + len(sign) :]
            moved = len(name) - len(sign)
            for mark in marks:
                mark["start"] += moved
                mark["end"] += moved
            marks.append({"start": place, "end": place + len(name), "entity": ids[entity]})
        yield text, marks[::-1]
