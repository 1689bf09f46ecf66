"""The linker: mentions found in texts, each with the entity that it most likely means there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, overload

from kgraft.errors import BadInput
from kgraft.graph import Entity, EntityLike, Graph, Match, Mentions
from kgraft.link.calibrate import saved_threshold
from kgraft.link.decode import choose_links
from kgraft.link.given import given_mentions
from kgraft.link.knowledge import Knowledge
from kgraft.link.linking import LinkOptions, score_mentions
from kgraft.link.model import LinkModel
from kgraft.link.onnx import fast_reader
from kgraft.link.reading import SpanEncoder
from kgraft.link.shipped import SHIPPED, load_model
from kgraft.notebook import html_block
from kgraft.progress import Progress

TEXTS_AT_ONCE = 64  # of a stream that are read together
SHOWN = 6  # candidates of a link


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate with its score: the probability that the mention refers to it."""

    entity: Entity
    score: float
    prior: float  # p(entity | surface), 0 where it was not found by name
    match: str  # how it was found, a name of `Match` in small letters

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as JSON has it."""
        return {
            "id": self.entity.id,
            "label": self.entity.label,
            "description": self.entity.description,
            "types": self.entity.types,
            "score": self.score,
            "prior": self.prior,
            "match": self.match,
        }


@dataclass(frozen=True, repr=False)
class Link:
    """A mention with its chosen entity and score; `candidates` holds that one and the others.

    The scores of all candidates and the probability that none is meant sum to 1.
    """

    start: int
    end: int
    surface: str
    candidates: tuple[ScoredCandidate, ...]  # best first

    def __repr__(self) -> str:
        span = f"{self.surface!r} {self.start}:{self.end}"
        return f"<Link {span} → {self.entity.id} {self.entity.label!r} {self.score:.2f}>"

    def _repr_html_(self) -> str:
        rows = [
            (c.entity.label, c.entity.id, c.entity.description, f"{c.score:.2f}", f"{c.prior:.2f}")
            for c in self.candidates
        ]
        columns = ("candidate", "id", "description", "score", "prior")
        span = f"characters {self.start} to {self.end}"
        return html_block(self.surface, rows, subtitle=span, columns=columns)

    @property
    def entity(self) -> Entity:
        """The chosen entity."""
        return self.candidates[0].entity

    @property
    def score(self) -> float:
        """The probability that the mention refers to the chosen entity."""
        return self.candidates[0].score

    def to_dict(self) -> dict[str, Any]:
        """Return the link as JSON has it."""
        return {
            "start": self.start,
            "end": self.end,
            "surface": self.surface,
            "id": self.entity.id,
            "label": self.entity.label,
            "score": self.score,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


class Linker:
    """Links texts to a graph: `Linker(graph)("Paris is in Texas.")`.

    It is ready when the graph is open: nothing is trained or encoded first. `model` is a link model
    or its folder; None is the one that comes with kgraft, which was trained on other graphs. `pin`
    maps names to the entities (or their ids or exact labels) that they always mean. With `exact`,
    only names as the graph has them are linked. A linker may be used from several threads at once.
    """

    def __init__(
        self,
        graph: Graph,
        model: LinkModel | str | Path | None = None,
        *,
        pin: Mapping[str, EntityLike] | None = None,
        exact: bool = False,
        options: LinkOptions | None = None,
    ) -> None:
        self.model = model if isinstance(model, LinkModel) else load_model(model)
        self.reader: SpanEncoder = self.model
        if not isinstance(model, LinkModel):
            self.reader = fast_reader(Path(model or SHIPPED), self.model.longest) or self.model
        self.knowledge = Knowledge.of(graph, self.model)
        self.options = options or LinkOptions(exact=exact)
        if pin:
            self.knowledge.pin({name: graph.entity(meant).id for name, meant in pin.items()})
        saved = saved_threshold(graph, self.model)
        self.threshold = self.model.config.threshold if saved is None else saved

    def __repr__(self) -> str:
        graph = self.graph.manifest
        return f"<Linker to {graph.name}: {graph.entities:,} entities, {self._settings()}>"

    def _repr_html_(self) -> str:
        graph = self.graph.manifest
        rows = [("entities", f"{graph.entities:,}"), ("links", self._settings())]
        return html_block(graph.name, rows, subtitle="linker")

    def _settings(self) -> str:
        return f"threshold {self.threshold:.2f}" + (", exact" if self.options.exact else "")

    @property
    def graph(self) -> Graph:
        """The graph, as it was opened."""
        return self.knowledge.graph

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
        self,
        text: str,
        *,
        threshold: float | None = None,
        mentions: Sequence[tuple[int, int]] | None = None,
    ) -> list[Link]: ...

    @overload
    def __call__(
        self, text: Sequence[str], *, threshold: float | None = None
    ) -> list[list[Link]]: ...

    def __call__(
        self,
        text: str | Sequence[str],
        *,
        threshold: float | None = None,
        mentions: Sequence[tuple[int, int]] | None = None,
    ) -> list[Link] | list[list[Link]]:
        """Return the links of a text in order, none with a score below the threshold.

        A higher threshold gives fewer links that are right more often. With `mentions`, spans
        start:end of the text, each of them gets its link, whatever the score. A list of texts
        gives a list of links for each, as `link` does.
        """
        if not isinstance(text, str):
            if mentions is not None:
                raise BadInput("mentions were given for several texts", remedy="pass one text")
            return self.link(text, threshold=threshold)
        if mentions is not None:
            return self._link_given(text, mentions, threshold or 0.0)
        return self.link([text], threshold=threshold)[0]

    def link(self, texts: Sequence[str], *, threshold: float | None = None) -> list[list[Link]]:
        """Return the links of each text."""
        if isinstance(texts, str):
            raise BadInput("one text was given for a list of texts", remedy="pass [text]")
        if not len(texts):
            return []
        scored = score_mentions(
            self.model, self.knowledge, texts, reader=self.reader, options=self.options
        )
        least = self.threshold if threshold is None else threshold
        return self._links(texts, scored.select(choose_links(scored, least)))

    def stream(
        self, texts: Iterable[str], *, threshold: float | None = None
    ) -> Iterator[list[Link]]:
        """Yield the links of text after text, however many there are."""
        remaining = iter(texts)
        while batch := list(islice(remaining, TEXTS_AT_ONCE)):
            yield from self.link(batch, threshold=threshold)

    def build_index(self, *, static: bool = False, progress: Progress | None = None) -> None:
        """Build the index that finds entities whose names are not in the text, and keep it."""
        self.knowledge.build_index(static=static, progress=progress)

    def add(self, entities: Iterable[Mapping[str, Any]]) -> None:
        """Add entities; each has an id, a label, and what else is known.

        They link at once. Of an entity that is there already, what is given changes. The graph on
        disk stays as it is until `save`.
        """
        self.knowledge.add(entities)

    def remove(self, entities: Iterable[Entity | str]) -> None:
        """Let nothing link to some entities, given themselves or by id, any more."""
        self.knowledge.remove(e.id if isinstance(e, Entity) else e for e in entities)

    def save(self, target: str | Path, *, progress: Progress | None = None) -> Graph:
        """Write the graph with what was added and without what was removed as a new version."""
        return self.knowledge.save(Path(target), progress=progress)

    def _link_given(
        self, text: str, spans: Sequence[tuple[int, int]], threshold: float
    ) -> list[Link]:
        mentions = given_mentions(self.model, self.knowledge, text, spans, reader=self.reader)
        kept = mentions.sizes > 0
        kept[kept] = mentions.score[mentions.best[kept]] >= threshold
        return self._links([text], mentions.select(kept))[0]

    def _links(self, texts: Sequence[str], mentions: Mentions) -> list[list[Link]]:
        """Return scored mentions as links, by text."""
        shown = mentions.keep_candidates(mentions.rank < SHOWN)
        entities = self.knowledge.entities(shown.entity)
        links: list[list[Link]] = [[] for _ in texts]
        for row in range(len(shown)):
            text, start, end = int(shown.text[row]), int(shown.start[row]), int(shown.end[row])
            candidates = tuple(
                ScoredCandidate(
                    entities[int(shown.entity[c])],
                    float(shown.score[c]),
                    float(shown.prior[c]),
                    Match(int(shown.match[c])).name.lower(),
                )
                for c in range(shown.bounds[row], shown.bounds[row + 1])
            )
            links[text].append(Link(start, end, texts[text][start:end], candidates))
        return links
