"""The linking pass: texts in, mentions with scored candidates out.

Linking, evaluation and the mining of training examples all come through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Match, Mentions
from kgraft.graph.names import Form, TokenisedTexts, ordinary_frequency
from kgraft.link.coherence import find_support
from kgraft.link.definitions import defined_otherwise
from kgraft.link.head import log_probabilities
from kgraft.link.knowledge import Knowledge
from kgraft.link.language import is_readable
from kgraft.link.model import COHERENCE_FEATURES, LinkModel
from kgraft.link.nested import prefer_longer
from kgraft.link.reading import SpanEncoder, SpanVectors, read_spans
from kgraft.text import Windows

BY_NAME = 8  # candidates of a span that share its name, likeliest first
BY_MEANING = 8  # candidates of a span that is not a name
CATEGORY, FEWEST_HOLDERS = 0.02, 50  # fraction and number of names that hold a category's word
ORDINARY = 3.5  # Zipf frequency of an ordinary word
DOCUMENT = 40  # words from which on the links of a text are made to fit each other
PREPOSITIONS = frozenset(
    ["and", "by", "due", "for", "from", "in", "of", "on", "or", "to", "with"]  # before a name
)
_IN_ANY_LETTERS = np.uint8(Form.LOWER | Form.UPPER | Form.MIXED)
_WITH_SMALL_LETTERS = np.uint8(Form.LOWER | Form.MIXED)
Decoding = Literal["head", "elq"]


@dataclass(frozen=True)
class LinkOptions:
    """What a linking pass looks at."""

    exact: bool = False  # only names as the graph has them
    by_meaning: bool = True  # search the index for spans that are not names, if there is one
    coherence: bool = True  # a second pass over documents
    decoding: Decoding = "head"  # "elq": log p(entity | mention) + log p(mention), no link head


@dataclass(frozen=True)
class MentionReadings:
    """Mentions with all that their scores are made from."""

    mentions: Mentions
    features: np.ndarray  # (C, F) see `features`
    spans: SpanVectors  # (M,) what the model sees there
    entity_vectors: Tensor  # (C, D)
    readable: np.ndarray  # (M,) bool: the encoder can read the text


def score_mentions(
    model: LinkModel,
    knowledge: Knowledge,
    texts: Sequence[str],
    *,
    reader: SpanEncoder | None = None,
    options: LinkOptions | None = None,
) -> Mentions:
    """Find and score the mentions of texts; the scores of a mention and of "none" sum to 1."""
    options, texts = options or LinkOptions(), TokenisedTexts.of(texts if len(texts) else [""])
    mentions, spans = find_mentions(model, knowledge, texts, reader=reader, options=options)
    return score_readings(model, knowledge, texts, mentions, spans, options)


def score_readings(
    model: LinkModel,
    knowledge: Knowledge,
    texts: Sequence[str],
    mentions: Mentions,
    spans: SpanVectors,
    options: LinkOptions,
) -> Mentions:
    """Score the candidates of mentions, given what the model sees at their spans."""
    if not len(mentions.entity):
        return mentions
    readings = MentionReadings(
        mentions,
        knowledge.features(texts, mentions),
        spans,
        knowledge.vectors(mentions.entity),
        np.array([is_readable(text) for text in texts], bool)[mentions.text],
    )
    with torch.no_grad():
        if options.decoding == "elq":
            score = _elq_scores(readings)
        else:
            score = _head_scores(model, knowledge, texts, readings, coherence=options.coherence)
    score[mentions.match == Match.PINNED] = 1.0
    return prefer_longer(mentions.with_scores(_with_definitions(mentions, score)), texts)


def _with_definitions(mentions: Mentions, score: np.ndarray) -> np.ndarray:
    """Give an abbreviation the scores of the name that it stands for in its text."""
    short = mentions.match == Match.ABBREVIATION
    if not short.any():
        return score
    key = mentions.text[mentions.owner] << np.int64(32) | mentions.entity
    distinct, row = np.unique(key, return_inverse=True)
    best = np.zeros(len(distinct), score.dtype)
    np.maximum.at(best, row[~short], score[~short])
    score = np.where(short & (best[row] > 0), best[row], score)
    total = np.bincount(mentions.owner, weights=score, minlength=len(mentions))
    return score / np.maximum(total, 1)[mentions.owner]  # two entities may be likely elsewhere


def find_mentions(
    model: LinkModel,
    knowledge: Knowledge,
    texts: Sequence[str],
    *,
    reader: SpanEncoder | None = None,
    options: LinkOptions | None = None,
) -> tuple[Mentions, SpanVectors]:
    """Find the mentions of texts with their candidates, and what the model sees at each."""
    options, texts = options or LinkOptions(), TokenisedTexts.of(texts)
    names = find_names(knowledge, texts, exact=options.exact)
    windows = model.encoder.windows(texts)
    places = windows.locate(names.text, names.start, names.end)
    located = places.window >= 0
    names, places = names.select(located), places.select(located)
    search = knowledge.index is not None and options.by_meaning and not options.exact
    edges = word_edges(windows, texts) if search else None
    spans, proposed = read_spans(reader or model, windows, places, edges)
    if not len(proposed):
        return names, spans
    others, rows = _proposed_mentions(knowledge, texts, windows, proposed, names)
    if not len(others):
        return names, spans
    mentions, order = Mentions.merge(names, others)
    return mentions, SpanVectors.concat([spans, proposed.take(rows)]).take(order)


def find_names(knowledge: Knowledge, texts: Sequence[str], *, exact: bool = False) -> Mentions:
    """Find the mentions of texts by name, with their likeliest candidates."""
    texts = TokenisedTexts.of(texts)
    names = plausible_names(knowledge.matcher.find(texts, exact=exact), texts)
    names = names.select(~category_words(knowledge, names, texts))
    names = names.keep_candidates(~defined_otherwise(knowledge, names, texts))
    names = names.select(names.sizes > 0)
    return names.keep_candidates(names.rank < BY_NAME)


def category_words(knowledge: Knowledge, mentions: Mentions, texts: Sequence[str]) -> np.ndarray:
    """Return which mentions are a single word that a large part of all names contain.

    Where every fiftieth name contains "disease" or "syndrome", the word alone is a category.
    """
    aliases = knowledge.graph.aliases
    surfaces = TokenisedTexts.of(texts).surfaces(mentions.text, mentions.start, mentions.end)
    holders = aliases.count_holders([surface.casefold() for surface in surfaces])
    categories = holders > max(FEWEST_HOLDERS, CATEGORY * len(aliases))
    if not categories.any():
        return categories
    by_name = np.zeros(len(mentions), bool)
    by_name[mentions.owner[mentions.match >= Match.NAME]] = True
    return by_name & categories


def plausible_names(mentions: Mentions, texts: Sequence[str]) -> Mentions:
    """Leave out mere signs, and acronyms that the text uses as ordinary words: "is", "can"."""
    texts = TokenisedTexts.of(texts)
    surfaces = texts.surfaces(mentions.text, mentions.start, mentions.end)
    worded = np.array([any(map(str.isalnum, surface)) for surface in surfaces], bool)
    after_preposition = np.array([_begins_with_preposition(s) for s in surfaces], bool)
    mentions = _without_phrases(mentions, after_preposition).select(worded)
    only_upper = (mentions.forms & _WITH_SMALL_LETTERS) == 0
    acronyms = only_upper & (mentions.match >= Match.NAME)
    if acronyms.any():
        rows = np.unique(mentions.owner[acronyms])
        wrong = _are_ordinary_words(mentions, texts, rows)[mentions.owner]
        mentions = mentions.keep_candidates(~(acronyms & wrong))
    return mentions.select(mentions.sizes > 0)


def _are_ordinary_words(mentions: Mentions, texts: TokenisedTexts, rows: np.ndarray) -> np.ndarray:
    """Return which mentions, of some rows, are ordinary words and not in capitals, (M,) bool."""
    surfaces = texts.surfaces(mentions.text[rows], mentions.start[rows], mentions.end[rows])
    frequent = ordinary_frequency([surface.casefold() for surface in surfaces]) >= ORDINARY
    ordinary = np.zeros(len(mentions), bool)
    ordinary[rows] = frequent & ~np.array([surface.isupper() for surface in surfaces], bool)
    return ordinary


def _begins_with_preposition(surface: str) -> bool:
    first, space, _ = surface.partition(" ")
    return bool(space) and first.casefold() in PREPOSITIONS


def _without_phrases(mentions: Mentions, after_preposition: np.ndarray) -> Mentions:
    """Leave out names such as "in france", which a graph has in small letters only.

    They are pieces of text that somebody took for a name; "In Bruges" is one.
    """
    if not after_preposition.any():
        return mentions
    lower = (mentions.forms & _IN_ANY_LETTERS) == Form.LOWER
    phrases = after_preposition[mentions.owner] & lower & (mentions.match == Match.NAME)
    return mentions.keep_candidates(~phrases)


def word_edges(windows: Windows, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return which tokens begin a word, and which end one: (T,) bool each."""
    tokenised = TokenisedTexts.of(texts)
    words, offsets = tokenised.words, windows.offsets
    # Words are counted with the separators between texts, tokens without.
    separators = tokenised.bounds - np.append(0, np.cumsum([len(text) for text in texts]))
    shift = np.repeat(separators[:-1], np.diff(windows.tokens.bounds))
    begins = among_sorted(offsets.starts + shift, words.start)
    return begins, among_sorted(offsets.ends + shift, words.end)


def among_sorted(values: np.ndarray, rising: np.ndarray) -> np.ndarray:
    """Return which values are among sorted ones."""
    if not len(rising):
        return np.zeros(len(values), bool)
    row = np.searchsorted(rising, values)
    return rising[np.minimum(row, len(rising) - 1)] == values


def _proposed_mentions(
    knowledge: Knowledge,
    texts: Sequence[str],
    windows: Windows,
    proposed: SpanVectors,
    names: Mentions,
) -> tuple[Mentions, np.ndarray]:
    """Return proposed spans that are not names as mentions, and their rows among the proposed."""
    text = windows.text[proposed.places.window]
    start, end = windows.characters(*proposed.places)
    spans = _spans(text, start, end)
    rows = _likeliest_rows(spans, {*_spans(names.text, names.start, names.end)})
    if not len(rows):
        return Mentions.without_candidates(rows, rows, rows), rows
    surfaces = [texts[spans[row][0]][spans[row][1] : spans[row][2]] for row in rows.tolist()]
    empty = Mentions.without_candidates(text[rows], start[rows], end[rows])
    vectors = proposed.vectors[torch.from_numpy(rows)]
    return candidates_by_meaning(knowledge, surfaces, vectors, empty), rows


def _spans(text: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[tuple[int, int, int]]:
    return list(zip(text.tolist(), start.tolist(), end.tolist(), strict=True))


def _likeliest_rows(
    spans: list[tuple[int, int, int]], taken: set[tuple[int, int, int]]
) -> np.ndarray:
    """Return the first row of each span that is not taken: tokens may share a character."""
    first = {span: row for row, span in reversed(list(enumerate(spans)))}
    return np.array([row for span, row in first.items() if span not in taken], np.int64)


def candidates_by_meaning(
    knowledge: Knowledge, surfaces: list[str], vectors: Tensor, mentions: Mentions
) -> Mentions:
    """Give mentions that have no candidate by name those that are nearest in meaning."""
    assert knowledge.index is not None
    bare = np.flatnonzero(mentions.sizes == 0)
    if not len(bare):
        return mentions
    chosen = [surfaces[row] for row in bare.tolist()]
    entity, _ = knowledge.index.search(chosen, vectors[torch.from_numpy(bare)], BY_MEANING)
    there = entity >= 0
    owner = np.concatenate([mentions.owner, np.repeat(bare, there.sum(1))])
    count = int(there.sum())
    added = (
        entity[there],
        np.zeros(count, np.float32),
        np.full(count, Match.NEIGHBOUR, np.uint8),
        np.zeros(count, np.uint8),
        np.zeros(count, np.float32),
    )
    return mentions.with_candidates(owner, added)


# Scores


def encoder_features(dots: Tensor, spans: SpanVectors, owner: Tensor, readable: Tensor) -> Tensor:
    """Return the features of the encoder for each candidate, (C, 5), see `model.ENCODER_FEATURES`.

    `dots` (C,) are x_e · y, `readable` (M,) says whether the encoder can read the text.
    """
    norms = torch.linalg.vector_norm(spans.vectors, dim=1).clamp_min(1e-6)
    columns = [
        torch.zeros_like(dots),
        (spans.logits / 5).clamp(-2, 2)[owner],
        dots / 10,
        dots / norms[owner] * 3,
        dot_margins(dots, owner) / 10,
    ]
    features = torch.stack(columns, dim=1)
    if bool(readable.all()):
        return features
    silent = torch.zeros_like(features)
    silent[:, 0] = 1
    return torch.where(readable[owner][:, None], features, silent)


def fixed_features(
    features: np.ndarray, dots: Tensor, spans: SpanVectors, owner: Tensor, readable: np.ndarray
) -> Tensor:
    """Return the features of candidates but those of coherence: of names, then of the encoder."""
    encoded = encoder_features(dots, spans, owner, torch.from_numpy(readable))
    return torch.cat([torch.from_numpy(features), encoded], dim=1)


def dot_margins(dots: Tensor, owner: Tensor) -> Tensor:
    """Return how far each candidate is ahead of the best other one of its mention, (C,)."""
    return dots - dots[torch.from_numpy(best_others(dots.detach().numpy(), owner.numpy()))]


def best_others(values: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Return for each row the best other row of its owner, or itself where there is no other."""
    order = np.lexsort((-values, owner))
    sorted_owner = owner[order]
    is_first = np.append(True, sorted_owner[1:] != sorted_owner[:-1])[: len(order)]
    first = np.flatnonzero(is_first)
    best = order[first][np.cumsum(is_first) - 1]
    second = np.append(order[1:], order[-1:])[first]
    best[first] = np.where(owner[second] == owner[order[first]], second, order[first])
    others = np.empty_like(order)
    others[order] = best
    return others


def candidate_dots(readings: MentionReadings, owner: Tensor) -> Tensor:
    """Return x_e · y of each candidate, (C,)."""
    return (readings.entity_vectors * readings.spans.vectors[owner]).sum(1)


def _head_scores(
    model: LinkModel,
    knowledge: Knowledge,
    texts: Sequence[str],
    readings: MentionReadings,
    *,
    coherence: bool,
) -> np.ndarray:
    mentions = readings.mentions
    owner = torch.from_numpy(mentions.owner)
    dots = candidate_dots(readings, owner)
    fixed = fixed_features(readings.features, dots, readings.spans, owner, readings.readable)
    silence = torch.zeros(len(fixed), len(COHERENCE_FEATURES))
    score = _probabilities(model, torch.cat([fixed, silence], dim=1), owner, len(mentions))
    documents = _are_documents(texts)
    if coherence and documents.any():
        support = find_support(knowledge.graph, mentions).features(score)
        support[torch.from_numpy(~documents[mentions.text[mentions.owner]])] = 0
        # The other links of a text decide between namesakes, not whether any entity is meant.
        logits = model.head(torch.cat([fixed, support], dim=1))
        total = torch.zeros(len(mentions)).index_add(0, owner, score)
        score = total[owner] * softmax_by_owner(logits, owner, len(mentions))
    return score.numpy()


def softmax_by_owner(logits: Tensor, owner: Tensor, mentions: int) -> Tensor:
    """Return the softmax of logits (C,) over the candidates of each mention."""
    best = torch.full((mentions,), -torch.inf).scatter_reduce(0, owner, logits, "amax")
    power = torch.exp(logits - best[owner])
    return power / torch.zeros(mentions).index_add(0, owner, power)[owner]


def _probabilities(model: LinkModel, features: Tensor, owner: Tensor, mentions: int) -> Tensor:
    return log_probabilities(model.head(features), owner, mentions)[0].exp()


def _elq_scores(readings: MentionReadings) -> np.ndarray:
    """Return p(entity | mention) p(mention), with a softmax over the candidates of a mention."""
    mentions = readings.mentions
    owner = torch.from_numpy(mentions.owner)
    dots = candidate_dots(readings, owner)
    probability = softmax_by_owner(dots, owner, len(mentions))
    return (probability * readings.spans.logits.sigmoid()[owner]).numpy()


def _are_documents(texts: Sequence[str]) -> np.ndarray:
    """Return which texts are long enough for their links to support one another, (N,) bool."""
    return np.array([text.count(" ") >= DOCUMENT for text in texts], bool)
