"""Fact recall: what a graph says of a text's entities is a candidate for a hidden word.

"Laval is located in [MASK] ." names Laval, of which the graph says several things: the far end of
each is a candidate of the hidden word. How likely it is, given an entity s that the text names,

    p(o | s, text) ∝ p(s) Σ_r exp(T fit(text without s, r)) (1 / √n(s, r) + L p(r, o | s))

where n(s, r) is how many such o the graph tells, and the first part is only of those; what is said
in the other direction, (o, r, s), counts less. The second part is what the graph lacks but would
say: p(r, o | s) by what it says of entities like s (see `similar_entities`), for the relations that
fit the text best. How well a relation fits is judged by its phrases (see `relation_fit`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from kgraft.arrays import expand, rank_within
from kgraft.corpus import bare_phrase, hold_out
from kgraft.errors import BadInput
from kgraft.graft.clozes import Clozes, locate_clozes, make_clozes
from kgraft.graft.graft_texts import GraftTexts
from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.knowledge.graph import GraphKnowledge
from kgraft.graft.relation_fit import RelationFit
from kgraft.graft.settings import KnowledgeConfig, TextSettings
from kgraft.graft.similar_entities import SimilarEntityFacts
from kgraft.graph import Graph, Match, Mentions
from kgraft.vectors import EntityVectors

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder

MASK_TOKEN = "[MASK]"
SHARPNESS = 10.0  # T
BACKWARD = 0.3  # weight of a fact in the other direction
MOST_ENDS = 256  # of an entity by one relation; more say nothing of a single one
NAMES = 8  # of a text that are read: those next to the hidden word
MEANINGS = 2  # of each name: the likeliest
SHORT = 3  # characters of a name that without a capital is taken for a plain word: "is", "a", "."
PREDICTED = 4.0  # L
RELATIONS = 3  # that fit best, for which facts are predicted
CONTEXT = 200  # characters of the text that are read on either side of the hidden word
CANDIDATES = 64  # of a hidden word, at most
AT_ONCE = 1024  # hidden words
FACTS = 16_000  # to train on, at most


class _Weighted(NamedTuple):
    """What facts say: rows of subjects, the far ends and their weights."""

    row: np.ndarray
    entity: np.ndarray
    weight: np.ndarray


class _Meanings(NamedTuple):
    """Entities that names next to hidden words may mean."""

    word: np.ndarray  # (S,) the hidden word
    name: np.ndarray  # (S,) row of the pair of a hidden word and a name
    entity: np.ndarray  # (S,)
    prior: np.ndarray  # (S,)


class _HiddenWords(NamedTuple):
    """The mask tokens of texts."""

    text: np.ndarray  # (H,)
    start: np.ndarray  # (H,) characters


@KNOWLEDGE.register("fact-recall")
class FactRecallKnowledge(GraphKnowledge):
    """The names of a graph, and what its facts say of the words that are masked in a text."""

    closed = True  # any of the candidates may be right, so that there is no threshold
    layers_above = 0

    def __init__(
        self,
        graph: Graph,
        vectors: EntityVectors,
        *,
        mask_token: str = MASK_TOKEN,
        name: str | None = None,
    ) -> None:
        super().__init__(graph, vectors, name=name)
        self.mask_token = mask_token

    @classmethod
    def _of(cls, graph: Graph, vectors: EntityVectors, config: KnowledgeConfig) -> Self:
        return cls(graph, vectors, mask_token=config.mask_token or MASK_TOKEN)

    def identity(self) -> dict[str, object]:
        """Return name, graph, the size of the vectors, and what stands for a hidden word."""
        return {**super().identity(), "mask_token": self.mask_token}

    def find(self, texts: Sequence[str], *, exclude: np.ndarray | None = None) -> Mentions:
        """Find the names of entities in texts, and the hidden words with what they may be.

        With `exclude`, an entity per text (below 0: none), what the graph says of that entity and
        one of the text's does not count: as if it lacked such facts.
        """
        mentions, hidden = super().find(texts), _find_signs(texts, self.mask_token)
        if not len(hidden.text):
            return mentions
        mentions = mentions.select(~_overlaps(mentions, hidden, len(self.mask_token)))
        excluded = np.full(len(texts), -1) if exclude is None else exclude
        candidates = self._recall(texts, mentions, hidden, excluded[hidden.text])
        masked = _masked_mentions(hidden, len(self.mask_token), candidates)
        return Mentions.merge(mentions, masked)[0]

    def _recall(
        self,
        texts: Sequence[str],
        mentions: Mentions,
        hidden: _HiddenWords,
        excluded: np.ndarray,
    ) -> _Weighted:
        """Return what hidden words may be by the names next to them, the likeliest first."""
        word, name = _nearest_names(mentions, hidden, ~_is_plain_word(texts, mentions))
        contexts = self._contexts(texts, mentions, hidden, word, name)
        distinct, context = np.unique(np.array(contexts, object), return_inverse=True)
        fit = self._fit.scores(distinct.tolist())
        parts = [_Weighted(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for first in range(0, len(hidden.text), AT_ONCE):
            rows = slice(*np.searchsorted(word, [first, first + AT_ONCE]))
            meanings = _likeliest_meanings(mentions, word[rows], name[rows])
            parts.append(self._candidates(meanings, fit[context[rows]], excluded))
        return _Weighted(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @cached_property
    def _fit(self) -> RelationFit:
        return RelationFit(self.graph)

    def _contexts(
        self,
        texts: Sequence[str],
        mentions: Mentions,
        hidden: _HiddenWords,
        word: np.ndarray,
        name: np.ndarray,
    ) -> list[str]:
        """Return the texts around hidden words, each without a name and without hidden words."""
        columns = (hidden.text[word], hidden.start[word], mentions.start[name], mentions.end[name])
        contexts = []
        for index, start, first, last in zip(*(c.tolist() for c in columns), strict=True):
            text, begin, stop = texts[index], max(start - CONTEXT, 0), start + CONTEXT
            rest = text[begin : max(first, begin)] + " " + text[min(last, stop) : stop]
            contexts.append(bare_phrase(rest.replace(self.mask_token, " ")))
        return contexts

    # What is said, and what would be

    def _candidates(self, meanings: _Meanings, fit: np.ndarray, excluded: np.ndarray) -> _Weighted:
        """Return what hidden words may be, the likeliest first: word, entity, weight.

        Each relation fits so well what is said with a name.
        """
        word, subject = meanings.word, meanings.entity
        factor = np.exp(SHARPNESS * fit)[meanings.name]
        stated = self._stated(subject, factor, excluded[word])
        predicted = self._predicted(subject, factor, excluded[word])
        parts = zip(stated, predicted, strict=True)
        row, entity, weight = (np.concatenate(column) for column in parts)
        keys, same = np.unique(word[row] << 32 | entity, return_inverse=True)
        total = np.bincount(same, meanings.prior[row] * weight, minlength=len(keys))
        owner, entity = keys >> 32, keys & 0xFFFFFFFF
        order = np.lexsort((-total, owner))
        order = order[rank_within(owner[order]) < CANDIDATES]
        return _Weighted(owner[order], entity[order], total[order])

    def _stated(self, subject: np.ndarray, factor: np.ndarray, excluded: np.ndarray) -> _Weighted:
        """Return what the graph says of subjects, but with the entities excluded for them."""
        bounds, relation, far, weight = self._statements
        row, statement = expand(bounds[subject], bounds[subject + 1])
        is_used = far[statement] != excluded[row]
        row, statement = row[is_used], statement[is_used]
        weight = factor[row, relation[statement]] * weight[statement]
        return _Weighted(row, far[statement], weight)

    def _predicted(
        self, subject: np.ndarray, factor: np.ndarray, excluded: np.ndarray
    ) -> _Weighted:
        """Return what the graph would say of subjects, by what it says of others like them."""
        count = min(RELATIONS, factor.shape[1])
        best = np.argsort(-factor, axis=1, kind="stable")[:, :count]
        row, relation = np.repeat(np.arange(len(subject)), count), best.ravel()
        pair, far, score = self._similar.predict(subject[row], relation, exclude=excluded[row])
        row, relation = row[pair], relation[pair]
        fraction = score / np.bincount(row, score, minlength=len(subject))[row]
        return _Weighted(row, far, PREDICTED * fraction * factor[row, relation])

    @cached_property
    def _statements(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All that is said of entities: bounds (N + 1,), then relation, far end and weight (2E,).

        Without what an entity has more than `MOST_ENDS` of.
        """
        shift = len(self.graph.relations)
        near, relation, far = self.graph.triples.with_inverses(shift)
        order = np.lexsort((relation, near))
        near, relation, far = near[order], relation[order], far[order]
        keys = near * (2 * shift) + relation
        _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
        ends = size[group]
        weight = np.where(relation < shift, 1.0, BACKWARD) / np.sqrt(ends)
        kept = ends <= MOST_ENDS
        bounds = np.searchsorted(near[kept], np.arange(self.count + 1))
        return bounds, relation[kept] % shift, far[kept], weight[kept]

    @cached_property
    def _similar(self) -> SimilarEntityFacts:
        return SimilarEntityFacts(self.graph)

    # What a graft with it is trained on

    def training_texts(
        self,
        encoder: GraftedEncoder,
        layer: int,
        path: Path | None = None,
        settings: TextSettings | None = None,
        *,
        seed: int = 0,
    ) -> GraftTexts:
        """Prepare the texts of a file, or facts of the graph with a hidden word."""
        if path is not None or (settings is not None and settings != TextSettings()):
            return super().training_texts(encoder, layer, path, settings, seed=seed)
        facts = self._clozes(encoder, seed)
        rows = hold_out(len(facts), seed=seed)
        train, valid = (
            locate_clozes(encoder, layer, facts.select(part), seed=seed) for part in rows
        )
        description = f"{len(rows[0]):,} facts with a hidden word, {len(rows[1]):,} to validate on"
        return GraftTexts(train, valid, facts.digest(), description)

    def _clozes(self, encoder: GraftedEncoder, seed: int) -> Clozes:
        triples = self.graph.triples
        order = np.random.default_rng(seed).permutation(len(triples))
        clozes = make_clozes(encoder, self.graph, triples.take(order), triples)
        if not len(clozes):
            raise BadInput(
                "no fact of this graph has an object of one word to recall",
                remedy="choose another kind of knowledge, or a graph with labels of known words",
            )
        return clozes.select(np.arange(min(len(clozes), FACTS)))


def _find_signs(texts: Sequence[str], sign: str) -> _HiddenWords:
    """Return where the sign of a hidden word is in texts."""
    rows = [
        (index, match.start())
        for index, text in enumerate(texts)
        if sign in text
        for match in re.finditer(re.escape(sign), text)
    ]
    text, start = np.array(rows, np.int64).reshape(-1, 2).T
    return _HiddenWords(text, start)


def _overlaps(mentions: Mentions, hidden: _HiddenWords, width: int) -> np.ndarray:
    """Return which mentions overlap a hidden word, (M,) bool."""
    # Texts end to end, so that one search serves all; no mention or sign crosses a text's end.
    length = 1 + max(int(mentions.end.max(initial=0)), int(hidden.start.max(initial=0)) + width)
    sign = hidden.text * length + hidden.start
    first = np.searchsorted(sign + width, mentions.text * length + mentions.start, side="right")
    begins = np.append(sign, np.iinfo(np.int64).max)[first]  # of the first sign that ends behind it
    return begins < mentions.text * length + mentions.end


def _is_plain_word(texts: Sequence[str], mentions: Mentions) -> np.ndarray:
    """Return which names are plain words, by their looks."""
    is_plain = mentions.end - mentions.start <= SHORT
    columns = (c[is_plain].tolist() for c in (mentions.text, mentions.start, mentions.end))
    names = [texts[index][first:last] for index, first, last in zip(*columns, strict=True)]
    is_plain[is_plain] = [name.islower() or not any(map(str.isalnum, name)) for name in names]
    return is_plain


def _nearest_names(
    mentions: Mentions, hidden: _HiddenWords, telling: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a hidden word and a name of its text that is in no longer one, in order.

    Only names that are `telling` count.
    """
    length = 1 + max(int(mentions.end.max(initial=0)), int(hidden.start.max(initial=0)))
    start = mentions.text * length + mentions.start
    names = np.flatnonzero(_is_longest(start, mentions.text * length + mentions.end) & telling)
    sides = [np.searchsorted(mentions.text[names], hidden.text, side=s) for s in ("left", "right")]
    middle = np.searchsorted(start[names], hidden.text * length + hidden.start)
    first = np.maximum(sides[0], np.clip(middle, *sides) - NAMES // 2)
    word, row = expand(first, np.minimum(sides[1], first + NAMES))
    return word, names[row]


def _is_longest(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return which spans, in order of start and end, are in no longer one."""
    widest = np.maximum.accumulate(np.append(-1, end))[:-1]
    is_covered = end <= widest
    is_followed = np.append(start[1:] == start[:-1], values=False)  # by a longer one
    longest: np.ndarray = ~is_covered & ~is_followed
    return longest


def _likeliest_meanings(mentions: Mentions, word: np.ndarray, name: np.ndarray) -> _Meanings:
    """Return what names next to hidden words most likely mean."""
    first = mentions.bounds[name]
    pair, row = expand(first, np.minimum(mentions.bounds[name + 1], first + MEANINGS))
    return _Meanings(word[pair], pair, mentions.entity[row], mentions.prior[row])


def _masked_mentions(hidden: _HiddenWords, width: int, candidates: _Weighted) -> Mentions:
    """Return the hidden words as mentions with their candidates; some have none."""
    words = len(hidden.text)
    total = np.bincount(candidates.row, candidates.weight, minlength=words)[candidates.row]
    sizes = np.bincount(candidates.row, minlength=words)
    count = len(candidates.entity)
    return Mentions(
        text=hidden.text,
        start=hidden.start,
        end=hidden.start + width,
        bounds=np.append(0, np.cumsum(sizes)),
        entity=candidates.entity,
        prior=(candidates.weight / total).astype(np.float32),
        match=np.full(count, Match.NEIGHBOUR, np.uint8),
        forms=np.zeros(count, np.uint8),
        score=np.zeros(count, np.float32),
    )
