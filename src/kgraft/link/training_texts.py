"""Training texts: annotated texts of one graph, and what a link model learns from them.

A name that is not annotated is not always wrong to link: annotation may be partial. What is certain
has full weight: the annotated mentions, whatever overlaps them, and names that are written
otherwise in the text ("titanic", "is"). What may be a mention that nobody marked counts little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from kgraft.arrays import expand
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import IGNORED, Match, Mentions
from kgraft.graph.names import Form
from kgraft.link.coherence import Support, find_support
from kgraft.link.features import FEATURES
from kgraft.link.knowledge import Knowledge
from kgraft.link.linking import find_mentions, find_names, word_edges
from kgraft.link.model import LinkModel
from kgraft.link.score import overlapping
from kgraft.text import TokenSpans, Windows


@dataclass(frozen=True)
class Unmarked:
    """How much a name that is not annotated counts as not being a mention, from 0 to 1."""

    other_case: float = 0.5  # a name with capitals, in small letters
    common_word: float = 0.3  # in a text without capitals: an ordinary word
    concept: float = 0.15  # an ordinary thing, which annotators of names leave out
    proper: float = 0.03  # may well be a mention


FULL = Unmarked(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class TrainingTexts:
    """Annotated texts of one graph."""

    knowledge: Knowledge
    texts: AnnotatedTexts
    unmarked: Unmarked = Unmarked()
    none_ratio: float | None = None  # most weight of "none" in all, over that of right candidates
    teaches_mentions: bool = True  # whether the mention head learns from it


@dataclass(frozen=True)
class TrainingSpans:
    """Mentions of training texts in order of the window, with candidates, features and weights."""

    windows: Windows
    edges: tuple[np.ndarray, np.ndarray]  # tokens that begin a word, and that end one
    places: TokenSpans  # (M,)
    mentions: Mentions
    features: np.ndarray  # (C, F)
    gold: np.ndarray  # (M,) row of the right candidate, -1 where none is
    weight: np.ndarray  # (M,) float32, of the mention in the link loss
    is_gold: np.ndarray  # (M,) bool: an annotated mention, whatever its candidates
    support: Support
    entity_row: np.ndarray  # (C,) row of the candidate's vector in
    entity_vectors: Tensor  # (E, D)
    teaches_mentions: bool

    def candidates(self, mention: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of some mentions: row within `mention`, candidate."""
        return expand(self.mentions.bounds[mention], self.mentions.bounds[mention + 1])


def training_spans(model: LinkModel, source: TrainingTexts, part: np.ndarray) -> TrainingSpans:
    """Find what the model, as it is, learns from some of the texts."""
    knowledge, data = source.knowledge, source.texts.select(part)
    windows = model.encoder.windows(data.texts)
    mentions, places, features = _read_mentions(model, knowledge, data, windows)
    meant = _annotated_entity(mentions, data)
    gold = _gold_rows(mentions, meant)
    weight = _weights(mentions, features, data, source.unmarked, meant)
    if source.none_ratio is not None:
        weight = _balanced(weight, gold >= 0, source.none_ratio)
    distinct, entity_row = np.unique(mentions.entity, return_inverse=True)
    by_window = replace(mentions, text=places.window)
    return TrainingSpans(
        windows=windows,
        edges=word_edges(windows, data.texts),
        places=places,
        mentions=mentions,
        features=features,
        gold=gold,
        weight=weight.astype(np.float32),
        is_gold=meant > IGNORED,
        support=find_support(knowledge.graph, by_window),
        entity_row=entity_row,
        entity_vectors=knowledge.vectors(distinct),
        teaches_mentions=source.teaches_mentions,
    )


def _read_mentions(
    model: LinkModel, knowledge: Knowledge, data: AnnotatedTexts, windows: Windows
) -> tuple[Mentions, TokenSpans, np.ndarray]:
    """Return the mentions of texts in order of the window, their tokens and their features."""
    if knowledge.index is None:
        mentions = find_names(knowledge, data.texts)
    else:
        mentions, _ = find_mentions(model, knowledge, data.texts)
    mentions = _with_annotated(mentions, data)
    places = windows.locate(mentions.text, mentions.start, mentions.end)
    order = np.argsort(places.window, kind="stable")
    order = order[places.window[order] >= 0]
    features = knowledge.features(data.texts, mentions)
    features = features[expand(mentions.bounds[order], mentions.bounds[order + 1])[1]]
    return mentions.select(order), places.select(order), features


_NOT_ANNOTATED = -9


def _with_annotated(mentions: Mentions, data: AnnotatedTexts) -> Mentions:
    """Add the annotated spans that are not among the mentions, without candidates."""
    spans = set(_span_keys(mentions))
    sizes = [len(text) for text in data.texts]
    missing = sorted(
        {
            (text, start, end)
            for text, start, end in _span_keys(data.mentions)
            if 0 <= start < end <= sizes[text] and (text, start, end) not in spans
        }
    )
    columns = np.array(missing, np.int64).reshape(-1, 3).T
    return Mentions.merge(mentions, Mentions.without_candidates(*columns))[0]


def _annotated_entity(mentions: Mentions, data: AnnotatedTexts) -> np.ndarray:
    """Return the entity that is annotated at just this span, -9 where nothing is."""
    entity = dict(zip(_span_keys(data.mentions), data.gold.tolist(), strict=True))
    keys = _span_keys(mentions)
    return np.fromiter((entity.get(key, _NOT_ANNOTATED) for key in keys), np.int64, len(mentions))


def _span_keys(mentions: Mentions) -> list[tuple[int, int, int]]:
    columns = (mentions.text.tolist(), mentions.start.tolist(), mentions.end.tolist())
    return list(zip(*columns, strict=True))


def _gold_rows(mentions: Mentions, meant: np.ndarray) -> np.ndarray:
    """Return the row of the candidate that is annotated, -1 where it is none of them."""
    owner = mentions.owner
    right = np.flatnonzero(mentions.entity == meant[owner])
    gold = np.full(len(mentions), -1)
    gold[owner[right]] = right
    return gold


def _weights(
    mentions: Mentions,
    features: np.ndarray,
    data: AnnotatedTexts,
    unmarked: Unmarked,
    meant: np.ndarray,
) -> np.ndarray:
    """Return how much each mention counts in the link loss."""
    if not len(mentions.entity):
        return np.zeros(len(mentions))
    has_candidate = mentions.sizes > 0
    best = np.where(has_candidate, mentions.best, 0)
    weight = _unmarked_weights(mentions, features[best], unmarked)
    weight[mentions.match[best] == Match.NEIGHBOUR] = unmarked.concept
    touching, ignored = _touching(mentions, data)
    weight[touching | (meant >= 0)] = 1.0
    weight[ignored | ~has_candidate] = 0.0
    return weight


def _unmarked_weights(mentions: Mentions, features: np.ndarray, unmarked: Unmarked) -> np.ndarray:
    """Return the weights of mentions that nobody marked, by the features (M, F) of their best."""
    column = {name: features[:, FEATURES.index(name)] for name in _LOOKED_AT}
    holds = {name: values > 0 for name, values in column.items()}
    forms = np.zeros(len(mentions), np.uint8)
    np.bitwise_or.at(forms, mentions.owner, mentions.forms)
    lower, cased = holds["lower"], holds["in cased text"]
    has_letters = lower | holds["upper"] | holds["capital"]
    capital_name = (forms & Form.LOWER) == 0
    common = column["rarest word"] * 5 >= 4.5
    weight = np.full(len(mentions), unmarked.proper)
    weight[(lower & ~capital_name) | ~has_letters] = unmarked.concept
    weight[lower & capital_name & ~cased & common] = unmarked.common_word
    weight[lower & capital_name & cased] = unmarked.other_case
    weight[holds["acronym in other case"]] = 1.0
    return weight


_LOOKED_AT = ("lower", "upper", "capital", "in cased text", "rarest word", "acronym in other case")


def _touching(mentions: Mentions, data: AnnotatedTexts) -> tuple[np.ndarray, np.ndarray]:
    """Return which mentions overlap an annotated span, and which one that is to be ignored."""
    mention, span = overlapping(mentions, data.mentions)
    touching, ignored = np.zeros((2, len(mentions)), bool)
    touching[mention] = True
    ignored[mention[data.gold[span] == IGNORED]] = True
    return touching, ignored


def _balanced(weight: np.ndarray, right: np.ndarray, ratio: float) -> np.ndarray:
    """Return weights of which those of "none" sum to at most `ratio` times those of the right."""
    none, most = weight[~right].sum(), ratio * weight[right].sum()
    return weight if none <= most else np.where(right, weight, weight * (most / none))
