"""What look-ups return: entities, relations, candidates, mentions, neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from kgraft.graph.iri_names import short_iri
from kgraft.graph.literals import Literal
from kgraft.graph.verbalise import fill_pattern, says_both_ends
from kgraft.notebook import html_block


@dataclass(frozen=True, repr=False)
class Entity:
    """An entity with its texts; `index` is its row in the graph."""

    index: int
    id: str
    label: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    @property
    def short_id(self) -> str:
        """The id, with a prefix in place of the beginning of a well-known IRI."""
        return short_iri(self.id)

    def __repr__(self) -> str:
        more = f": {self.description}" if self.description else ""
        return f"<Entity {self.id} {self.label!r}{more}>"

    def _repr_html_(self) -> str:
        return html_block(self.label, self._facts(), subtitle=self.id)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what is said of the entity, by the name of the column; empty ones are left out."""
        texts = {
            "description": self.description,
            "types": ", ".join(self.types),
            "aliases": ", ".join(self.aliases),
        }
        return [(name, text) for name, text in texts.items() if text]


EntityLike = Entity | str | int
"""What methods take for an entity: the entity, its id or exact label, or its index."""


@dataclass(frozen=True)
class Relation:
    """A relation with its texts; its template, if any, says a fact in words: `[X] borders [Y] .`"""

    index: int
    id: str
    label: str
    description: str = ""
    template: str = ""

    def verbalise(self, head: str, tail: str) -> str:
        """Say a fact in words.

        >>> borders = Relation(0, "P47", "borders", template="[X] borders [Y] .")
        >>> borders.verbalise("Peru", "Chile")
        'Peru borders Chile.'
        >>> Relation(0, "P47", "borders").verbalise("Peru", "Chile")
        'Peru — borders → Chile'
        """
        if not says_both_ends(self.template):
            return f"{head} — {self.label.replace('_', ' ')} → {tail}"
        return fill_pattern(self.template.replace(" .", "."), {"x": head, "y": tail})[0]


@dataclass(frozen=True)
class Candidate:
    """An entity a mention may mean, with its prior p(entity | surface)."""

    entity: Entity
    prior: float


@dataclass(frozen=True)
class Mention:
    """A span of characters in a text, with its candidates, best first."""

    start: int
    end: int
    surface: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Neighbour:
    """The far end of a triple: `out` where the asked entity is the head, `in` where the tail."""

    relation: Relation
    entity: Entity
    direction: OneOf["out", "in"]

    def verbalise(self, label: str) -> str:
        """Say the fact in words, for the asked entity's label."""
        ends = (label, self.entity.label)
        return self.relation.verbalise(*(ends if self.direction == "out" else ends[::-1]))


How = OneOf["name", "prefix", "words", "similar", "description"]


@dataclass(frozen=True)
class Found:
    """An entity found by search, and how.

    By its exact name, a prefix of one, its words, a similar name (a typo), or its description.
    """

    entity: Entity
    name: str
    how: How


@dataclass(frozen=True, repr=False)
class Card:
    """What a graph knows about one entity."""

    entity: Entity
    neighbours: tuple[Neighbour, ...]  # as many as were asked for
    facts: int  # how many there are
    literals: tuple[Literal, ...] = ()

    def sentences(self) -> list[str]:
        """Return the facts in words, each once."""
        return list(dict.fromkeys(near.verbalise(self.entity.label) for near in self.neighbours))

    def __repr__(self) -> str:
        shown = f"{len(self.neighbours):,} of {self.facts:,} facts"
        return f"<Card {self.entity.id} {self.entity.label!r}: {shown}>"

    def _repr_html_(self) -> str:
        rows = [*self.entity._facts(), *(("•", sentence) for sentence in self.sentences())]
        note = f"{self.facts:,} facts in all" if self.facts > len(self.neighbours) else ""
        return html_block(self.entity.label, rows, subtitle=self.entity.id, note=note)


@dataclass(frozen=True, repr=False)
class GraphPath:
    """A chain of triples: entities[i] –relations[i]– entities[i + 1].

    `forward[i]` tells whether the triple is (entities[i], relations[i], entities[i + 1]) or its
    reverse.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    forward: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.relations)

    def triples(self) -> list[tuple[str, str, str]]:
        """Return the ids of the triples, each as the graph has it."""
        ends = zip(self.entities, self.entities[1:], strict=False)
        steps = zip(ends, self.relations, self.forward, strict=True)
        return [
            (near.id, relation.id, far.id) if forward else (far.id, relation.id, near.id)
            for (near, far), relation, forward in steps
        ]

    def verbalise(self) -> str:
        """Say the path in words: `Paris — capital of → France ← borders — Germany`."""
        words = [self.entities[0].label]
        steps = zip(self.entities[1:], self.relations, self.forward, strict=True)
        for entity, relation, forward in steps:
            arrow = "— {} →" if forward else "← {} —"
            words += [arrow.format(relation.label), entity.label]
        return " ".join(words)

    def __repr__(self) -> str:
        return f"<GraphPath {self.verbalise()}>"
