"""Texts made from a graph: its facts and descriptions in words, with the mentions marked.

So a linker can learn the names of a graph without any annotated text. The sentences are plain, and
half of them in small letters, as people write questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kgraft.corpus import AnnotatedTexts, annotate
from kgraft.errors import BadInput
from kgraft.graph import Entity, Graph, Relation
from kgraft.link.questions import PLACES, places, plural, questions
from kgraft.training import stream

OF_ONE = (
    "what is the {r} of {x}?",
    "who is the {r} of {x}?",
    "what {r} does {x} have?",
    "what was {x}'s {r}?",
    "where is the {r} of {x}?",
    "which {r} did {x} have?",
    "name the {r} of {x}",
    "what is {x} {r}?",
    "{x} {r}",
    "tell me about {x}.",
    "when was {x} first mentioned?",
)
OF_TWO = (
    "the {r} of {x} is {y}.",
    "{x}: {r} {y}.",
    "is {y} the {r} of {x}?",
    "{x} and {y} have been known for long.",
    "who was the {r} of {x} in {y}?",
    "{y} is the {r} of {x}, as everybody knows.",
)
DESCRIBED = ("{x} is {d}.", "{d}: {x}", "{x}, {d}, was in the news.")
UNDESCRIBED = ("who is {x}?", "what is {x}?", "where is {x}?", "what do you know about {x}?")
KIND = ("instance of", "is a", "type")  # labels of the relation that says what a thing is
# Shares of what is drawn
ASKED, TWO, SMALL, DESCRIPTION = 0.7, 0.4, 0.6, 0.1
ALIAS, SHORT, BARE = 0.3, 0.12, 0.2
YEARS = (1900, 2026)


class Said(NamedTuple):
    """What fills a place of a pattern: words, and the entity's id where they are a mention."""

    words: str
    entity: str | None = None


Example = tuple[str, list[dict[str, Any]]]


def graph_texts(graph: Graph, count: int, *, seed: int = 0) -> AnnotatedTexts:
    """Make texts from a graph's facts, names and descriptions; their mentions are marked."""
    if not len(graph.entities):
        raise BadInput("the graph has no entities to make texts of")
    return annotate(graph, _Speaker(graph, stream(seed)).texts(count))


class _Speaker:
    """Says what a graph knows, drawing from a stream of random numbers."""

    def __init__(self, graph: Graph, draw: np.random.Generator) -> None:
        self.graph, self.draw = graph, draw
        self.kind = _kinds(graph)

    def texts(self, count: int) -> Iterator[Example]:
        """Yield texts with their mentions."""
        triples, entities = self.graph.triples, len(self.graph.entities)
        rows = self.draw.integers(len(triples), size=count) if len(triples) else None
        for place in range(count):
            if rows is None or self.draw.random() < DESCRIPTION:
                yield self._described(self.graph.entity(int(self.draw.integers(entities))))
            else:
                yield self._fact(int(rows[place]))

    def _fact(self, row: int) -> Example:
        """Say a fact, or ask for one."""
        triples = self.graph.triples
        numbers = [int(triples.head[row]), int(triples.tail[row])]
        numbers += [int(self.kind[number]) for number in numbers]
        head, tail, *kinds = self.graph.entities_at([max(number, 0) for number in numbers])
        relation = self.graph.all_relations[int(triples.relation[row])]
        x, y = self._name(head), self._name(tail)
        said = {
            "x": x,
            "y": y,
            "xy": Said(f"{x.words} {y.words}", head.id),
            "r": Said(relation.label.replace("_", " ")),
            "n": Said(str(self.draw.integers(*YEARS))),
        }
        for mark, kind, number in zip("dc", kinds, numbers[2:], strict=True):
            if number >= 0 and kind.label:
                said[mark] = Said(kind.label, kind.id)
                said[f"{mark}s"] = Said(plural(kind.label), kind.id)
        return self._filled(self._pattern(relation, said), said)

    def _pattern(self, relation: Relation, said: dict[str, Said]) -> str:
        """Return how to say a fact, by what is known of it."""
        asked = [
            pattern
            for pattern in questions().get(relation.label.replace("_", " ").lower(), ())
            if all(place in said for place in places(pattern))
        ]
        if asked and self.draw.random() < ASKED:
            return self._one_of(asked)
        if self.draw.random() < TWO:
            if relation.template and self.draw.random() < 0.5:
                return relation.words("{x}", "{y}")
            return self._one_of(OF_TWO)
        if self.draw.random() < 0.5:
            said["x"], said["y"] = said["y"], said["x"]
        return self._one_of(OF_ONE)

    def _one_of(self, patterns: list[str] | tuple[str, ...]) -> str:
        return patterns[self.draw.integers(len(patterns))]

    def _described(self, entity: Entity) -> Example:
        described = entity.description.partition(".")[0][:200]
        said = {"x": self._name(entity), "d": Said(described)}
        return self._filled(self._one_of(DESCRIBED if described else UNDESCRIBED), said)

    def _name(self, entity: Entity) -> Said:
        """Call an entity by its label, an alias, or the last word; now and then without signs."""
        name = entity.label or entity.id
        drawn = self.draw.random()
        if entity.aliases and drawn < ALIAS:
            name = entity.aliases[self.draw.integers(len(entity.aliases))]
        elif drawn > 1 - SHORT:
            words = name.split()
            if len(words) in (2, 3) and all(word.istitle() and word.isalpha() for word in words):
                name = words[-1]
        if self.draw.random() < BARE:
            name = name.replace(".", "").replace(",", "") or name
        return Said(name, entity.id)

    def _filled(self, pattern: str, said: dict[str, Said]) -> Example:
        """Fill a pattern, and mark the mentions."""
        text, mentions = "", []
        for number, piece in enumerate(PLACES.split(pattern)):
            words = Said(piece)
            if number % 2:
                words = said.get(piece, words)
            if words.entity is not None:
                end = len(text) + len(words.words)
                mentions.append({"start": len(text), "end": end, "entity": words.entity})
            text += words.words
        small = text.lower()
        keeps_places = len(small) == len(text)
        return (small if keeps_places and self.draw.random() < SMALL else text), mentions


def _kinds(graph: Graph) -> np.ndarray:
    """Return for each entity the kind of thing that some triple says it is, -1 where none does."""
    kind = np.full(len(graph.entities), -1)
    relations = [r.index for r in graph.all_relations if r.label.lower().replace("_", " ") in KIND]
    rows = np.isin(graph.triples.relation, relations)
    kind[graph.triples.head[rows]] = graph.triples.tail[rows]
    return kind
