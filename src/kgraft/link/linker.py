"""The linker: mentions found in texts, each with the entity that it most likely means there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Entity, Graph
from kgraft.graph.names import Named
from kgraft.link.decode import Judged, choose, judge
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import LinkModel
from kgraft.link.onnx import fast_reader
from kgraft.link.reading import Reader, Spans, positions, read_given, read_spans
from kgraft.link.shipped import SHIPPED, load_model
from kgraft.progress import Progress
from kgraft.text import Windows

AT_ONCE = 64  # texts of a stream that are read together
SHOWN = 6  # candidates of a link


@dataclass(frozen=True)
class Scored:
    """A candidate with its score: the probability that the mention is a link to it."""

    entity: Entity
    score: float
    prior: float  # p(entity | surface), 0 where it was not found by name
    fit: float  # cosine of the text at the mention and the entity's text


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
        """The probability that the mention means the chosen entity, and not another or none."""
        return self.candidates[0].score


class Linker:
    """Links texts to a graph: `Linker(graph)("Paris is in Texas.")`.

    `model` is a link model or its folder; None is the one that comes with kgraft, which was trained
    on other graphs and needs no training on yours. The first use of a graph encodes all its
    entities, once.
    """

    def __init__(
        self,
        graph: Graph,
        model: LinkModel | str | Path | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.model = model if isinstance(model, LinkModel) else load_model(model)
        self.reader: Reader = self.model
        if not isinstance(model, LinkModel):
            self.reader = fast_reader(Path(model or SHIPPED), self.model.longest) or self.model
        self.knowledge = Knowledge.of(graph, self.model, progress=progress)

    @property
    def graph(self) -> Graph:
        """The graph, as it was opened."""
        return self.knowledge.graph

    @property
    def threshold(self) -> float:
        """The score that a link needs by default."""
        return self.model.config.threshold

    def __call__(
        self,
        text: str,
        *,
        threshold: float | None = None,
        mentions: Sequence[tuple[int, int]] | None = None,
    ) -> list[Link]:
        """Return the links of a text in order, none with a score below the threshold.

        A higher threshold gives fewer links that are right more often. With `mentions`, spans
        start:end of the text, each of them gets its link, whatever the score.
        """
        if mentions is not None:
            return self._link_given(text, mentions, threshold or 0.0)
        return self.link([text], threshold=threshold)[0]

    def link(self, texts: Sequence[str], *, threshold: float | None = None) -> list[list[Link]]:
        """Return the links of each text."""
        if not len(texts):
            return []
        windows, named = self._prepare(texts)
        spans = read_spans(self.reader, windows, named)
        start, end = positions(windows, named, spans.places)
        judged = self._judge(named, spans, start, end, spans.likely)
        least = self.threshold if threshold is None else threshold
        chosen = choose(judged.best, start, end, least)
        return self._links(texts, named, judged.take(chosen), start[chosen], end[chosen])

    def stream(
        self, texts: Iterable[str], *, threshold: float | None = None
    ) -> Iterator[list[Link]]:
        """Yield the links of text after text, however many there are."""
        left = iter(texts)
        while some := list(islice(left, AT_ONCE)):
            yield from self.link(some, threshold=threshold)

    def add(self, entities: Iterable[Mapping[str, Any]]) -> None:
        """Add entities; each has an id, a label, and what else is known.

        They link at once. Of an entity that is there already, what is given changes. The graph on
        disk stays as it is until `save`.
        """
        self.knowledge.add(entities)

    def remove(self, ids: Iterable[str]) -> None:
        """Let nothing link to some entities any more."""
        self.knowledge.remove(ids)

    def save(self, target: str | Path, *, progress: Progress | None = None) -> Graph:
        """Write the graph with what was added and without what was removed as a new version."""
        graph = self.knowledge.save(Path(target), progress=progress)
        Knowledge.of(graph, self.model, progress=progress)
        return graph

    # The steps

    def _prepare(self, texts: Sequence[str]) -> tuple[Windows, Named]:
        return self.model.encoder.windows(texts), self.knowledge.names.find(texts)

    def _judge(
        self,
        named: Named,
        spans: Spans,
        start: np.ndarray,
        end: np.ndarray,
        searched: np.ndarray,
    ) -> Judged:
        rows = named.rows(start, end)
        candidates = self.knowledge.candidates(named, rows, spans.vectors, searched)
        return judge(self.model, spans, candidates, self.knowledge.vectors(candidates))

    def _link_given(
        self, text: str, mentions: Sequence[tuple[int, int]], threshold: float
    ) -> list[Link]:
        windows, named = self._prepare([text])
        bounds = np.array(mentions, np.int64).reshape(-1, 2)
        places = windows.locate(0, bounds[:, 0], bounds[:, 1])
        nowhere = np.flatnonzero(places.window < 0)
        if len(nowhere):
            begin, stop = bounds[nowhere[0]].tolist()
            raise BadInput(f"mention {begin}:{stop} holds nothing to read, or too much at once")
        spans = read_given(self.reader, windows, places)
        every = np.ones(len(spans), bool)
        judged = self._judge(named, spans, bounds[:, 0], bounds[:, 1], every)
        kept = np.flatnonzero(judged.best >= threshold)
        return self._links([text], named, judged.take(kept), *bounds[kept].T)[0]

    def _links(
        self,
        texts: Sequence[str],
        named: Named,
        judged: Judged,
        start: np.ndarray,
        end: np.ndarray,
    ) -> list[list[Link]]:
        """Return what was chosen, by text."""
        entities = self.knowledge.entities(judged.entity[:, :SHOWN])
        text = named.text_of(start)
        columns = (text, start - named.bounds[text], end - named.bounds[text])
        scored = zip(*(column.tolist() for column in vars(judged).values()), strict=True)
        links: list[list[Link]] = [[] for _ in texts]
        for number, begin, stop, row in zip(*(c.tolist() for c in columns), scored, strict=True):
            candidates = tuple(
                Scored(entities[entity], *rest)
                for entity, *rest in islice(zip(*row, strict=True), SHOWN)
                if entity >= 0
            )
            links[number].append(Link(begin, stop, texts[number][begin:stop], candidates))
        return links
