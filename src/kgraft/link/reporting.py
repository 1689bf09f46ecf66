"""A report on a linker: figures on annotated texts, by type and frequency, and errors by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgraft.arrays import expand
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import UNKNOWN, Graph, Mentions
from kgraft.link.decode import choose_links
from kgraft.link.evaluate import proper_names, score_texts
from kgraft.link.linker import Linker
from kgraft.link.score import Comparison, compare, figures, overlapping

TYPES = 8  # most frequent ones that are shown
FREQUENCIES = {"none": 0, "1 to 9": 1, "10 to 99": 10, "100 or more": 100}  # triples of an entity
SPURIOUS = "a link where nothing is marked"


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
    calibration_error: float  # mean distance of scores and accuracies, in ten bins
    by_type: dict[str, tuple[float, int]]  # recall and mentions
    by_frequency: dict[str, tuple[float, int]]
    errors: dict[str, Errors]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return asdict(self)


def report(
    linker: Linker,
    gold: AnnotatedTexts,
    *,
    threshold: float | None = None,
    partial: bool = False,
    examples: int = 3,
) -> Report:
    """Link annotated texts and compare; see `score` for weak and strong."""
    least = linker.threshold if threshold is None else threshold
    scored = _score_texts(linker, gold.texts)
    links = scored.select(choose_links(scored, least))
    comparison = compare(links, gold)
    counted = _counted(links, comparison, partial=partial)
    judged = counted & ~comparison.ignored
    score = links.score[links.best]
    kinds = _mention_errors(scored, links, gold, comparison)
    kinds[SPURIOUS] = np.flatnonzero(judged & ~comparison.touches)
    return Report(
        texts=len(gold),
        mentions=int(comparison.judged.sum()),
        threshold=least,
        figures=_figures(links, gold, comparison, counted),
        calibration_error=calibration_error(score[judged], comparison.weak[judged]),
        by_type=_by_type(linker, gold, comparison.weak_recalled),
        by_frequency=_by_frequency(linker, gold, comparison.weak_recalled),
        errors=_errors(linker, gold, links, kinds, examples),
    )


def calibration_error(scores: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error: |mean score - accuracy| over bins of the score."""
    if not len(scores):
        return 0.0
    row = np.minimum((scores * bins).astype(int), bins - 1)
    size = np.bincount(row, minlength=bins)
    score = np.bincount(row, weights=scores, minlength=bins)
    hits = np.bincount(row, weights=right, minlength=bins)
    return float(np.abs(score - hits).sum() / size.sum())


def _figures(
    links: Mentions, gold: AnnotatedTexts, comparison: Comparison, counted: np.ndarray
) -> dict[str, float]:
    values = figures(comparison, counted)
    absent = gold.gold == UNKNOWN
    if absent.any():
        touched = _flags(len(gold.mentions), overlapping(links, gold.mentions)[1])
        values["absent_left_alone"] = float((~touched[absent]).mean())
    return values


def _mention_errors(
    scored: Mentions, links: Mentions, gold: AnnotatedTexts, comparison: Comparison
) -> dict[str, np.ndarray]:
    """Return the mentions that were not recalled, each under one thing that went wrong."""
    count = len(gold.mentions)
    linked = _flags(count, overlapping(links, gold.mentions)[1])
    span, mention = overlapping(scored, gold.mentions)
    seen = _flags(count, mention)
    pair, candidate = expand(scored.bounds[span], scored.bounds[span + 1])
    right = scored.entity[candidate] == gold.gold[mention[pair]]
    offered = _flags(count, mention[pair[right]])
    in_graph = gold.gold >= 0
    kinds = {
        "not in the graph": gold.gold == UNKNOWN,
        "no span proposed": in_graph & ~seen,
        "linked to another entity, the right one among the candidates": in_graph & linked & offered,
        "linked to another entity, the right one not a candidate": in_graph & linked & ~offered,
        "judged not to be a link": in_graph & seen & ~linked,
    }
    missed = comparison.judged & ~comparison.weak_recalled
    return {kind: np.flatnonzero(rows & missed) for kind, rows in kinds.items()}


def _errors(
    linker: Linker,
    gold: AnnotatedTexts,
    links: Mentions,
    kinds: Mapping[str, np.ndarray],
    examples: int,
) -> dict[str, Errors]:
    """Return how often each kind of error was made, with some examples of it."""
    return {
        kind: Errors(
            len(rows), [_example(linker, gold, links, kind, row) for row in rows[:examples]]
        )
        for kind, rows in kinds.items()
    }


def _flags(count: int, rows: np.ndarray) -> np.ndarray:
    flags = np.zeros(count, bool)
    flags[rows] = True
    return flags


def _example(
    linker: Linker, gold: AnnotatedTexts, links: Mentions, kind: str, row: int
) -> dict[str, Any]:
    """Return an error as text, mention, right entity, and what it was linked to."""
    if kind == SPURIOUS:
        return {"text": gold.texts[links.text[row]], **_linked(linker, gold, links, row)}
    mentions = gold.mentions
    text, start, end = gold.texts[mentions.text[row]], mentions.start[row], mentions.end[row]
    example = {"text": text, "surface": text[max(start, 0) : end]}
    entity = int(gold.gold[row])
    example["entity"] = linker.graph.entity(entity).label if entity >= 0 else "not in the graph"
    overlap = (links.text == mentions.text[row]) & (links.start < end) & (start < links.end)
    if overlap.any():
        example |= _linked(linker, gold, links, int(np.flatnonzero(overlap)[0]))
    return example


def _linked(linker: Linker, gold: AnnotatedTexts, links: Mentions, row: int) -> dict[str, str]:
    index = int(links.entity[links.best[row]])
    entity = linker.knowledge.entities(np.array([index]))[index]
    surface = gold.texts[links.text[row]][links.start[row] : links.end[row]]
    return {"linked": surface, "to": f"{entity.label} ({entity.id})"}


def _by_type(
    linker: Linker, gold: AnnotatedTexts, right: np.ndarray
) -> dict[str, tuple[float, int]]:
    types = _first_types(linker.graph)
    in_graph = (gold.gold >= 0) & (gold.gold < len(types))
    counts: dict[str, list[bool]] = {}
    for entity, hit in zip(gold.gold[in_graph].tolist(), right[in_graph].tolist(), strict=True):
        if types[entity] is not None:
            counts.setdefault(types[entity], []).append(hit)
    most = sorted(counts.items(), key=lambda item: -len(item[1]))[:TYPES]
    return {name: (float(np.mean(hits)), len(hits)) for name, hits in most}


def _by_frequency(
    linker: Linker, gold: AnnotatedTexts, right: np.ndarray
) -> dict[str, tuple[float, int]]:
    adjacency = linker.graph.adjacency
    in_graph = (gold.gold >= 0) & (gold.gold < adjacency.entities)
    degree = adjacency.degree(entities=gold.gold[in_graph])
    bucket = np.searchsorted(list(FREQUENCIES.values()), degree, "right") - 1
    groups = {}
    for index, name in enumerate(FREQUENCIES):
        hits = right[in_graph][bucket == index]
        if len(hits):
            groups[name] = (float(hits.mean()), len(hits))
    return groups


def _score_texts(linker: Linker, texts: list[str]) -> Mentions:
    """Score the candidates of all mentions of texts."""
    return score_texts(
        linker.model, linker.knowledge, texts, reader=linker.reader, options=linker.options
    )


def _counted(links: Mentions, comparison: Comparison, *, partial: bool) -> np.ndarray:
    """Return which links count: with `partial` not those of names that no annotation touches."""
    if not partial:
        return np.ones(len(links), bool)
    return comparison.touches | ~proper_names(links)


def _first_types(graph: Graph) -> list[str | None]:
    """Return the first type of each entity, None where it has none."""
    return [types[0] if types else None for types in graph.entities["types"].to_pylist()]
