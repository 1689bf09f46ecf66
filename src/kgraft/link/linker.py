"""The linker: names found in a text, each with the entity that it most likely means there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.graph import Entity, Graph, Mention
from kgraft.link.reading import read_mentions
from kgraft.link.surface import plausible
from kgraft.text import Encoder

# How many units of log-odds a cosine of 1 is worth beside the prior. The gold entities of WebQSP's
# training questions are likeliest at 8, those of linked Wikipedia sentences at 12.
FIT_WEIGHT = 10.0
CANDIDATES = 10  # of one mention, by prior


@dataclass(frozen=True)
class Scored:
    """A candidate with its score: its probability among the candidates of its mention."""

    entity: Entity
    score: float
    prior: float  # p(entity | surface)
    fit: float  # cosine of the text at the mention and the entity's description


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

    with w = FIT_WEIGHT and both vectors from the encoder (see `reading.read_mentions`).
    """

    def __init__(self, graph: Graph, encoder: Encoder | None = None) -> None:
        self.graph = graph
        self.encoder = encoder or Encoder.load()
        self._vectors: dict[int, np.ndarray] = {}

    def __call__(self, text: str, *, threshold: float = 0.0, any_case: bool = False) -> list[Link]:
        """Return the links of a text in order, without those whose score is below the threshold.

        Names that are not written like names (see `surface.plausible`) count with `any_case` only.
        """
        found = self.graph.mentions(text, candidates=CANDIDATES)
        mentions = [mention for mention in found if any_case or plausible(text, mention)]
        if not mentions:
            return []
        self._learn(mentions)
        spans = np.array([(mention.start, mention.end) for mention in mentions])
        read = read_mentions(self.encoder, text, spans[:, 0], spans[:, 1])
        links = [self._link(m, context) for m, context in zip(mentions, read, strict=True)]
        return [link for link in links if link.score >= threshold]

    def _learn(self, mentions: Sequence[Mention]) -> None:
        """Encode the candidates that were not met before."""
        entities = {c.entity.index: c.entity for m in mentions for c in m.candidates}
        new = [entity for index, entity in entities.items() if index not in self._vectors]
        if new:
            vectors = self.encoder.encode([_description(entity) for entity in new])
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
