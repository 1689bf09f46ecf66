"""The linker: names found in a text, each with the entity that it most likely means there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.graph import Entity, Graph, Mention
from kgraft.link.surface import plausible
from kgraft.text import Encoder

FIT_WEIGHT = 12.0  # how many units of log-odds a cosine of 1 is worth beside the prior
CANDIDATES = 10  # of one mention, by prior
CONTEXT = 300  # characters read on either side of a mention in a long text


@dataclass(frozen=True)
class Scored:
    """A candidate with its score: its probability among the candidates of its mention."""

    entity: Entity
    score: float
    prior: float  # p(entity | surface)
    fit: float  # cosine of the text around the mention and the entity's description


@dataclass(frozen=True)
class Link:
    """A mention with its chosen entity and score; `candidates` holds that one and the others."""

    start: int
    end: int
    surface: str
    candidates: tuple[Scored, ...]  # best first

    @property
    def entity(self) -> Entity:
        """The chosen entity."""
        return self.candidates[0].entity

    @property
    def score(self) -> float:
        """The probability of the chosen entity among the candidates."""
        return self.candidates[0].score


class Linker:
    """Links texts to a graph: `Linker(graph)("Paris is in Texas.")`.

    Names are found by the graph's aliases. Among the candidates of a mention

        score(e) = softmax over e of  log p(e | surface) + w · cos(text, description of e)

    with both vectors from the encoder, w = FIT_WEIGHT.
    """

    def __init__(self, graph: Graph, encoder: Encoder | None = None) -> None:
        self.graph = graph
        self.encoder = encoder or Encoder.load()
        self._vectors: dict[int, np.ndarray] = {}

    def __call__(self, text: str, *, threshold: float = 0.0) -> list[Link]:
        """Return the links of a text in order, without those whose score is below the threshold."""
        found = self.graph.mentions(text, candidates=CANDIDATES)
        mentions = [mention for mention in found if plausible(text, mention)]
        if not mentions:
            return []
        self._learn(mentions)
        contexts = self._encode([_context(text, mention) for mention in mentions])
        links = [self._link(m, vector) for m, vector in zip(mentions, contexts, strict=True)]
        return [link for link in links if link.score >= threshold]

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts, each different one once."""
        distinct = list(dict.fromkeys(texts))
        vectors = self.encoder.encode(distinct)
        place = {text: row for row, text in enumerate(distinct)}
        return vectors[[place[text] for text in texts]]

    def _learn(self, mentions: Sequence[Mention]) -> None:
        """Encode the candidates that were not met before."""
        entities = {c.entity.index: c.entity for m in mentions for c in m.candidates}
        new = [entity for index, entity in entities.items() if index not in self._vectors]
        if new:
            vectors = self._encode([_description(entity) for entity in new])
            self._vectors.update((e.index, row) for e, row in zip(new, vectors, strict=True))

    def _link(self, mention: Mention, context: np.ndarray) -> Link:
        prior = np.array([candidate.prior for candidate in mention.candidates])
        vectors = np.stack([self._vectors[c.entity.index] for c in mention.candidates])
        fit = vectors @ context
        logits = np.log(prior) + FIT_WEIGHT * fit
        score = np.exp(logits - logits.max())
        score /= score.sum()
        scored = [
            Scored(candidate.entity, float(score[k]), float(prior[k]), float(fit[k]))
            for k, candidate in enumerate(mention.candidates)
        ]
        ranked = sorted(scored, key=lambda s: -s.score)
        return Link(mention.start, mention.end, mention.surface, tuple(ranked))


def _description(entity: Entity) -> str:
    types = f" ({', '.join(entity.types[:3])})" if entity.types else ""
    return f"{entity.label}{types}: {entity.description}"


def _context(text: str, mention: Mention) -> str:
    """Return the text around a mention, cut between words; a short text is read whole."""
    start, end = max(0, mention.start - CONTEXT), mention.end + CONTEXT
    left = text[start : mention.start]
    right = text[mention.end : end]
    if start > 0:
        left = left.partition(" ")[2]
    if end < len(text):
        right = right.rpartition(" ")[0]
    return left + mention.surface + right
