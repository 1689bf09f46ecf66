"""What the graph is built from: entities with weighed names, and triples."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tools.world.names import Names


def _lists() -> defaultdict[tuple[str, str], list[str]]:
    return defaultdict(list)


@dataclass
class Entity:
    """One entity; `weight` is how often its label means it, on a scale shared by all."""

    id: str
    names: Names
    types: tuple[str, ...]
    weight: float
    description: str = ""

    @property
    def label(self) -> str:
        """The English name."""
        return self.names.label

    def counts(self) -> list[int]:
        """Return how often each name means the entity: the label, then the aliases."""
        shares = [1.0, *(share for _, share in self.names.aliases())]
        return [round(self.weight * share) for share in shares]


@dataclass(frozen=True)
class Relation:
    """One relation and the sentence that says it of a head [X] and a tail [Y]."""

    id: str
    label: str
    description: str
    template: str


RELATIONS = (
    Relation(
        "capital_of",
        "capital of",
        "the city is the capital, or one of the capitals, of the country or US state",
        "[X] is the capital of [Y] .",
    ),
    Relation(
        "located_in",
        "located in",
        "the place lies in the larger place: a city in its country and US state, a country in its "
        "subregion, a subregion in its continent",
        "[X] is located in [Y] .",
    ),
    Relation(
        "borders",
        "borders",
        "the two countries share a land border; stated in both directions",
        "[X] borders [Y] .",
    ),
    Relation(
        "continent",
        "continent",
        "the continent, or the continents, on which the country lies",
        "[X] is on the continent of [Y] .",
    ),
    Relation(
        "official_language",
        "official language",
        "the language is official in the whole country, by law or in practice",
        "[X] has the official language [Y] .",
    ),
    Relation(
        "regional_language",
        "regional language",
        "the language has an official rank in a part of the country",
        "[X] has the regional language [Y] .",
    ),
    Relation(
        "currency",
        "currency",
        "the money that is legal tender in the country",
        "[X] uses the currency [Y] .",
    ),
    Relation(
        "territory_of",
        "territory of",
        "the territory, which has its own ISO code, belongs to the country or is associated to it",
        "[X] is a territory of [Y] .",
    ),
)


@dataclass
class World:
    """The graph while it is built; entities and triples keep the order in which they were added."""

    entities: dict[str, Entity] = field(default_factory=dict)
    triples: dict[tuple[str, str, str], None] = field(default_factory=dict)
    _tails: defaultdict[tuple[str, str], list[str]] = field(default_factory=_lists)
    _heads: defaultdict[tuple[str, str], list[str]] = field(default_factory=_lists)

    def add(self, entity: Entity) -> None:
        """Add an entity, whose id must be new."""
        if entity.id in self.entities:
            raise ValueError(f"two entities with the id {entity.id}")
        self.entities[entity.id] = entity

    def say(self, head: str, relation: str, tail: str) -> None:
        """Add a triple; saying it again changes nothing."""
        if (head, relation, tail) not in self.triples:
            self.triples[head, relation, tail] = None
            self._tails[head, relation].append(tail)
            self._heads[relation, tail].append(head)

    def label(self, entity_id: str) -> str:
        """Return the label of an entity."""
        return self.entities[entity_id].label

    def tails(self, head: str, relation: str) -> list[str]:
        """Return the tails of a head, in the order they were added."""
        return self._tails.get((head, relation), [])

    def heads(self, relation: str, tail: str) -> list[str]:
        """Return the heads of a tail, in the order they were added."""
        return self._heads.get((relation, tail), [])
