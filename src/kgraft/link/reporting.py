"""A report on a linker: figures on annotated texts, by type and frequency, and errors by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgraft.graph.annotated import Annotated
from kgraft.graph.columns import list_rows
from kgraft.link.evaluate import choose_links, find_links
from kgraft.link.linker import Linker
from kgraft.link.score import Found, figures, match, overlapping

TYPES = 8  # most frequent ones that are shown
FREQUENCIES = {"none": 0, "1 to 9": 1, "10 to 99": 10, "100 or more": 100}  # triples of an entity


@dataclass(frozen=True)
class Errors:
    """How often a kind of error happens, and some examples."""

    count: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True)
class Report:
    """What a linker gets right and wrong."""

    texts: int
    mentions: int
    threshold: float
    figures: dict[str, float]
    by_type: dict[str, tuple[float, int]]  # recall and mentions
    by_frequency: dict[str, tuple[float, int]]
    errors: dict[str, Errors]


def report(
    linker: Linker,
    marked: Annotated,
    *,
    threshold: float | None = None,
    partial: bool = False,
    examples: int = 3,
) -> Report:
    """Link annotated texts and compare; see `score` for weak and strong."""
    least = linker.threshold if threshold is None else threshold
    found = find_links(linker.model, linker.knowledge, marked.texts, reader=linker.reader)
    links = choose_links(found, least)
    matched = match(links, marked)
    counted = ~(~matched.touches & links.named & partial)
    kinds = _mention_errors(found, links, marked, matched.found)
    kinds["a link where nothing is marked"] = np.flatnonzero(counted & ~matched.touches)
    nil = marked.entity < 0
    all_figures = figures(matched, counted)
    if nil.any():
        touched = np.zeros(len(marked.text), bool)
        touched[overlapping(links, marked)[1]] = True
        all_figures["nil_left_alone"] = float((~touched[nil]).mean())
    shown = {
        kind: Errors(len(rows), [_example(linker, marked, links, kind, r) for r in rows[:examples]])
        for kind, rows in kinds.items()
    }
    return Report(
        texts=len(marked),
        mentions=len(marked.text),
        threshold=least,
        figures=all_figures,
        by_type=_by_type(linker, marked, matched.found),
        by_frequency=_by_frequency(linker, marked, matched.found),
        errors=shown,
    )


def _mention_errors(
    found: Found, links: Found, marked: Annotated, right: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the mentions that were not found, each under one thing that went wrong."""
    linked = _any(len(right), overlapping(links, marked)[1])
    looked, mention = overlapping(found, marked)
    seen = _any(len(right), mention)
    candidates = (found.candidates[looked] == marked.entity[mention][:, None]).any(1)
    known = _any(len(right), mention[candidates])
    in_graph = marked.entity >= 0
    kinds = {
        "not in the graph": ~in_graph,
        "no span proposed": in_graph & ~seen,
        "linked to another entity, the right one among the candidates": in_graph & linked & known,
        "linked to another entity, the right one no candidate": in_graph & linked & ~known,
        "judged to be no link": in_graph & seen & ~linked,
    }
    return {kind: np.flatnonzero(rows & ~right) for kind, rows in kinds.items()}


def _any(count: int, numbers: np.ndarray) -> np.ndarray:
    flags = np.zeros(count, bool)
    flags[numbers] = True
    return flags


def _example(
    linker: Linker, marked: Annotated, links: Found, kind: str, row: int
) -> dict[str, Any]:
    """Return an error as text, mention, right entity, and what it was linked to."""
    if kind.startswith("a link"):
        return {"text": marked.texts[links.text[row]], **_linked(linker, marked, links, row)}
    text, start, end = marked.texts[marked.text[row]], marked.start[row], marked.end[row]
    example = {"text": text, "surface": text[max(start, 0) : end]}
    entity = linker.knowledge.entities(marked.entity[row : row + 1]).get(int(marked.entity[row]))
    example["entity"] = entity.label if entity else "not in the graph"
    over = (links.text == marked.text[row]) & (links.start < end) & (start < links.end)
    if over.any():
        example |= _linked(linker, marked, links, int(np.flatnonzero(over)[0]))
    return example


def _linked(linker: Linker, marked: Annotated, links: Found, row: int) -> dict[str, str]:
    number = int(links.entity[row])
    entity = linker.knowledge.entities(np.array([number]))[number]
    surface = marked.texts[links.text[row]][links.start[row] : links.end[row]]
    return {"linked": surface, "to": f"{entity.label} ({entity.id})"}


def _by_type(linker: Linker, marked: Annotated, right: np.ndarray) -> dict[str, tuple[float, int]]:
    row, types = list_rows(linker.graph.entities["types"])
    names, of_type = np.unique(np.array(types.to_pylist(), object), return_inverse=True)
    first = np.searchsorted(row, np.arange(len(linker.graph.entities) + 1))
    known = (marked.entity >= 0) & (marked.entity < len(first) - 1)
    counts: dict[str, list[bool]] = {}
    for entity, hit in zip(marked.entity[known].tolist(), right[known].tolist(), strict=True):
        for number in of_type[first[entity] : first[entity + 1]][:1]:
            counts.setdefault(names[number], []).append(hit)
    most = sorted(counts.items(), key=lambda item: -len(item[1]))[:TYPES]
    return {name: (float(np.mean(hits)), len(hits)) for name, hits in most}


def _by_frequency(
    linker: Linker, marked: Annotated, right: np.ndarray
) -> dict[str, tuple[float, int]]:
    triples, count = linker.graph.triples, len(linker.knowledge.facts)
    degree = np.bincount(triples.head, minlength=count) + np.bincount(triples.tail, minlength=count)
    known = marked.entity >= 0
    bucket = np.searchsorted(list(FREQUENCIES.values()), degree[marked.entity[known]], "right") - 1
    groups = {}
    for place, name in enumerate(FREQUENCIES):
        hits = right[known][bucket == place]
        if len(hits):
            groups[name] = (float(hits.mean()), len(hits))
    return groups
