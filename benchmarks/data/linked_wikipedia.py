"""Linked Wikipedia for masked words: passages of whole articles to train, choose and measure on."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.corpus import AnnotatedTexts, annotate
from kgraft.graph import Graph
from kgraft.text import join_sentences, passages

RUN = 8  # words in a row that two texts do not share by chance
VALID, TEST = 85, 90  # the first of the 100 articles to choose by, and of those to measure on


@dataclass(frozen=True)
class Sentence:
    """A sentence with the marks in it."""

    article: int
    text: str
    mentions: list[dict[str, Any]]


@dataclass(frozen=True)
class Articles:
    """Passages of three sets of articles."""

    train: AnnotatedTexts
    valid: AnnotatedTexts
    test: AnnotatedTexts


def read_articles(data: Path, graph: Graph) -> Articles:
    """Read the articles, in passages.

    Passages to choose by and to measure on that share eight words in a row with an opening of
    `vital_texts`, or with an article to train on, are left out.
    """
    path = data / "corpus" / "wikipedia_linked.jsonl.gz"
    sentences = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            article = int(item["id"].removeprefix("wiki").partition(".")[0])
            sentences.append(Sentence(article, item["text"], item["mentions"]))
    bounds = ((0, VALID), (VALID, TEST), (TEST, 1 << 30))
    parts = ([s for s in sentences if low <= s.article < high] for low, high in bounds)
    train, valid, test = (_in_passages(part, graph) for part in parts)
    seen = _runs([*vital_texts(data), *train.texts])
    return Articles(train, _unlike(valid, seen), _unlike(test, seen))


def _unlike(texts: AnnotatedTexts, seen: set[tuple[str, ...]]) -> AnnotatedTexts:
    """Return the passages that share no run of words with what was seen."""
    apart = [n for n, text in enumerate(texts.texts) if not _runs([text]) & seen]
    return texts.select(np.array(apart, np.int64))


def _runs(texts: list[str]) -> set[tuple[str, ...]]:
    """Return all runs of eight words."""
    runs = set()
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        runs |= {tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1)}
    return runs


def _in_passages(sentences: list[Sentence], graph: Graph) -> AnnotatedTexts:
    groups = passages([str(s.article) for s in sentences], [s.text for s in sentences])
    return annotate(graph, (_joined([sentences[n] for n in group]) for group in groups))


def _joined(sentences: list[Sentence]) -> tuple[str, list[dict[str, Any]]]:
    text, starts = join_sentences([s.text for s in sentences])
    marks = [
        {"start": m["start"] + shift, "end": m["end"] + shift, "entity": m["entity"]}
        for s, shift in zip(sentences, starts, strict=True)
        for m in s.mentions
    ]
    return text, marks


def vital_texts(data: Path) -> list[str]:
    """Return the openings of vital articles, in small letters as the linked ones are."""
    path = data / "corpus" / "vital_articles.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"].lower() for line in lines]
