"""What look-ups return: entities, relations, candidates, mentions, neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Entity:
    """An entity with its texts; `index` is its number in the graph."""

    index: int
    id: str
    label: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation with its texts; its template, if any, says a fact in words: `[X] borders [Y] .`"""

    index: int
    id: str
    label: str
    description: str = ""
    template: str = ""

    def words(self, head: str, tail: str) -> str:
        """Say a fact in words.

        >>> borders = Relation(0, "P47", "borders", template="[X] borders [Y] .")
        >>> borders.words("Peru", "Chile")
        'Peru borders Chile.'
        >>> Relation(0, "P47", "borders").words("Peru", "Chile")
        'Peru — borders → Chile'
        """
        if not self.template:
            return f"{head} — {self.label.replace('_', ' ')} → {tail}"
        return self.template.replace("[X]", head).replace("[Y]", tail).replace(" .", ".")


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
    direction: Literal["out", "in"]

    def words(self, label: str) -> str:
        """Say the fact in words, for the asked entity's label."""
        ends = (label, self.entity.label)
        return self.relation.words(*(ends if self.direction == "out" else ends[::-1]))


How = Literal["name", "prefix", "words", "similar", "description"]


@dataclass(frozen=True)
class Found:
    """An entity found by search, and how.

    By its exact name, a prefix of one, its words, a similar name (a typo), or its description.
    """

    entity: Entity
    name: str
    how: How


@dataclass(frozen=True)
class Card:
    """What a graph knows about one entity."""

    entity: Entity
    neighbours: tuple[Neighbour, ...]  # as many as were asked for
    facts: int  # how many there are

    def sentences(self) -> list[str]:
        """Return the facts in words, each once."""
        return list(dict.fromkeys(near.words(self.entity.label) for near in self.neighbours))
