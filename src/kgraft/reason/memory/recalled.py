"""What a memory recalls: facts with the attention on them, and the answers they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgraft.graph import Entity, Relation


@dataclass(frozen=True)
class RecalledFact:
    """A slot of the memory: a fact, or several that differ at the other end only.

    `others` lists the entities at that end which are shown, the best connected ones of `count`.
    """

    entity: Entity
    relation: Relation
    forward: bool  # whether the entity is the head
    others: tuple[Entity, ...]
    count: int
    weight: float  # a_i, the attention on the slot

    @property
    def words(self) -> str:
        """The facts in words; where not all are shown it says how many there are."""
        others = ", ".join(other.label for other in self.others)
        if self.count > len(self.others):
            others += f", … ({len(self.others)} of {self.count:,})"
        ends = (self.entity.label, others) if self.forward else (others, self.entity.label)
        return self.relation.verbalise(*ends)

    def triples(self) -> list[tuple[str, str, str]]:
        """Return the ids of the facts that are shown, each as the graph has it."""
        return [
            (self.entity.id, self.relation.id, other.id)
            if self.forward
            else (other.id, self.relation.id, self.entity.id)
            for other in self.others
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the slot as JSON has it."""
        return {
            "weight": self.weight,
            "words": self.words,
            "entity": self.entity.id,
            "relation": self.relation.id,
            "forward": self.forward,
            "count": self.count,
            "facts": [list(triple) for triple in self.triples()],
        }


@dataclass(frozen=True)
class RecalledAnswer:
    """An entity that recalled facts lead to, with the attention on all of them."""

    entity: Entity
    score: float  # Σ a_i over the slots that hold it
    facts: tuple[tuple[str, str, str], ...]  # ids

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        return {
            "id": self.entity.id,
            "label": self.entity.label,
            "score": self.score,
            "facts": [list(fact) for fact in self.facts],
        }
