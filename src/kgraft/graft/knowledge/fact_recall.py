"""Knowledge that expects: what a graph says of a text's entities may be what the text hides.

"Laval is located in [MASK] ." names Laval, of which the graph says several things: the far end of
each is a candidate of the hidden word. How likely it is, given an entity s that the text names,

    p(o | s, text) ∝ p(s) Σ_r exp(T fit(text without s, r)) (1 / √n(s, r) + L p(r, o | s))

where n(s, r) is how many such o the graph tells, of which alone the first part holds; what is said
the other way, (o, r, s), counts less. The second part is what the graph would say: p(r, o | s) by
what it says of entities like s (see `alike`), for the relations that fit the text best. How well a
relation fits is told by the ways in which it is said (see `wordings`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kgraft.graft.alike import Alike
from kgraft.graft.knowledge import GraphKnowledge
from kgraft.graft.wordings import Wordings, bare
from kgraft.graph import Graph
from kgraft.graph.adjacency import expand, rank_within
from kgraft.graph.names import Named
from kgraft.vectors import EntityVectors

SHARP = 10.0  # T
BACK = 0.3  # what is said the other way counts so much
MANY = 256  # what holds of an entity and more others than these is expected of none
NAMES = 8  # of a text that are looked at: those next to the hidden word
MEANINGS = 2  # of each name: the likeliest
SHORT = 3  # characters of a name that without a capital is taken for a plain word: "is", "a", "."
LIKE = 4.0  # L
RELATIONS = 3  # that fit best, by which more is expected than the graph says
AROUND = 200  # characters of the text that are read on either side of the hidden word
LIKELY = 64  # candidates of a hidden word, at most
AT_ONCE = 1024  # hidden words


Weighed = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows of subjects, far ends and weights."""


class ExpectingKnowledge(GraphKnowledge):
    """The names of a graph, and what is expected where a text has the sign of a hidden word."""

    closed = True  # of what is expected as much as anything may be right: there is no threshold

    def __init__(
        self,
        graph: Graph,
        vectors: EntityVectors,
        *,
        hidden: str = "[MASK]",
        name: str | None = None,
    ) -> None:
        super().__init__(graph, vectors, name=name)
        self.hidden = hidden

    def find(self, texts: Sequence[str], *, without: np.ndarray | None = None) -> Named:
        """Find the names of entities in texts, and the hidden words with what they may be.

        With `without`, an entity for each text (below 0: none), nothing is expected by what the
        graph says of that entity and one of the text's: as if it lacked such facts.
        """
        named = super().find(texts)
        start, end = _signs(texts, named.bounds, self.hidden)
        if not len(start):
            return named
        named = named.apart(start, end)
        word, name = _next_to(named, start, ~_plain(texts, named))
        said, which = np.unique(self._said(texts, named, start[word], name), return_inverse=True)
        fit = self._wordings.fit(said.tolist())
        lost = np.full(len(texts), -1) if without is None else without
        lost = lost[named.text_of(start)]
        parts = []
        for first in range(0, len(start), AT_ONCE):
            some = slice(*np.searchsorted(word, [first, first + AT_ONCE]))
            parts.append(self._likely(named, word[some], name[some], fit[which[some]], lost))
        owner, entity, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        prior = weight / np.bincount(owner, weight)[owner]
        sizes = np.bincount(owner, minlength=len(start))
        return named.also(start, end, entity, prior.astype(np.float32), sizes)

    def identity(self) -> dict[str, object]:
        """Return name, graph, the size of the vectors, and what stands for a hidden word."""
        return {**super().identity(), "hidden": self.hidden}

    @cached_property
    def _wordings(self) -> Wordings:
        return Wordings(self.graph)

    def _said(
        self, texts: Sequence[str], named: Named, hidden: np.ndarray, name: np.ndarray
    ) -> np.ndarray:
        """Return the texts around hidden words, each without a name and without hidden words."""
        text, start, end = named.characters(named.start[name], named.end[name])
        columns = (text, start, end, hidden - named.bounds[text])
        said = []
        for number, first, last, place in zip(*(c.tolist() for c in columns), strict=True):
            whole, begin, stop = texts[number], max(place - AROUND, 0), place + AROUND
            rest = whole[begin : max(first, begin)] + " " + whole[min(last, stop) : stop]
            said.append(bare(rest.replace(self.hidden, " ")))
        return np.array(said, object)

    @cached_property
    def _statements(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All that is said of entities: bounds (N + 1,), then relation, far end and weight (2E,).

        Without what holds of an entity and `MANY` others.
        """
        shift = len(self.graph.relations)
        near, relation, far = self.graph.triples.both_ways(shift)
        order = np.lexsort((relation, near))
        near, relation, far = near[order], relation[order], far[order]
        _, group, size = np.unique(
            near * (2 * shift) + relation, return_inverse=True, return_counts=True
        )
        several = size[group]
        weight = np.where(relation < shift, 1.0, BACK) / np.sqrt(several)
        kept = several <= MANY
        bounds = np.searchsorted(near[kept], np.arange(self.count + 1))
        return bounds, relation[kept] % shift, far[kept], weight[kept]

    @cached_property
    def _alike(self) -> Alike:
        return Alike(self.graph)

    def _likely(
        self, named: Named, word: np.ndarray, name: np.ndarray, fit: np.ndarray, lost: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is expected of hidden words, likeliest first: word, entity, weight.

        Next to each word stands a name, and each relation fits so well to what is said with it.
        """
        first = named.candidates[name]
        pair, place = expand(first, np.minimum(named.candidates[name + 1], first + MEANINGS))
        subject, prior = named.entity[place], named.prior[place]
        fits, word = np.exp(SHARP * fit)[pair], word[pair]
        parts = self._told(subject, fits, lost[word]), self._guessed(subject, fits, lost[word])
        row, far, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        keys, same = np.unique(word[row] << 32 | far, return_inverse=True)
        total = np.bincount(same, prior[row] * weight, minlength=len(keys))
        owner, entity = keys >> 32, keys & 0xFFFFFFFF
        order = np.lexsort((-total, owner))
        owner, entity, total = owner[order], entity[order], total[order]
        kept = rank_within(owner) < LIKELY
        return owner[kept], entity[kept], total[kept]

    def _told(self, subject: np.ndarray, fits: np.ndarray, lost: np.ndarray) -> Weighed:
        """Return what the graph says of subjects but with those that are lost to them."""
        bounds, relation, far, weight = self._statements
        row, statement = expand(bounds[subject], bounds[subject + 1])
        kept = far[statement] != lost[row]
        row, statement = row[kept], statement[kept]
        return row, far[statement], fits[row, relation[statement]] * weight[statement]

    def _guessed(self, subject: np.ndarray, fits: np.ndarray, lost: np.ndarray) -> Weighed:
        """Return what the graph would say of subjects, by what it says of others like them."""
        count = min(RELATIONS, fits.shape[1])
        best = np.argsort(-fits, axis=1, kind="stable")[:, :count]
        row, relation = np.repeat(np.arange(len(subject)), count), best.ravel()
        pair, far, mass = self._alike.expected(subject[row], relation, lost[row])
        row, relation = row[pair], relation[pair]
        share = mass / np.bincount(row, mass, minlength=len(subject))[row]
        return row, far, LIKE * share * fits[row, relation]


def _signs(texts: Sequence[str], bounds: np.ndarray, sign: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where the sign of a hidden word stands in texts that lie end to end."""
    places = [
        begin + found.start()
        for text, begin in zip(texts, bounds.tolist(), strict=False)
        if sign in text
        for found in re.finditer(re.escape(sign), text)
    ]
    start = np.array(places, np.int64)
    return start, start + len(sign)


def _plain(texts: Sequence[str], named: Named) -> np.ndarray:
    """Return which names are plain words, by their looks."""
    plain = named.end - named.start <= SHORT
    places = named.characters(named.start[plain], named.end[plain])
    spans = zip(*(column.tolist() for column in places), strict=True)
    short = [texts[number][first:last] for number, first, last in spans]
    plain[plain] = [name.islower() or not any(map(str.isalnum, name)) for name in short]
    return plain


def _next_to(
    named: Named, hidden: np.ndarray, telling: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a hidden word and a name of its text that no longer one holds, in order.

    Only names that are `telling` count.
    """
    widest = np.maximum.accumulate(np.append(-1, named.end))[:-1]
    covered = named.end <= widest
    followed = np.append(named.start[1:] == named.start[:-1], values=False)  # by a longer one
    whole = np.flatnonzero(~covered & ~followed & telling)
    text, begin = named.text_of(hidden), named.text_of(named.start[whole])
    sides = [np.searchsorted(begin, text, side=side) for side in ("left", "right")]
    middle = np.clip(np.searchsorted(named.start[whole], hidden), *sides)
    first = np.maximum(sides[0], middle - NAMES // 2)
    word, place = expand(first, np.minimum(sides[1], first + NAMES))
    return word, whole[place]
