"""A small atlas whose relations keep rules, and sources whose scores are given."""

import numpy as np

from kgraft.reason import Reason

COUNTRIES, CONTINENTS = 36, 3
HELD_OUT = {("capital_of", 30): "valid", ("capital_of", 33): "test", ("capital_of", 35): "test"}


def atlas_entities():
    """Return countries, capitals and continents, each with its type."""
    counts = {"country": COUNTRIES, "city": COUNTRIES, "continent": CONTINENTS}
    return [
        {"id": f"{kind}{n}", "label": f"{kind} {n}", "types": [kind]}
        for kind, count in counts.items()
        for n in range(count)
    ]


def atlas_triples():
    """Return capitals (one-to-one), borders in a ring (both ways) and continents (many-to-one)."""
    rows = []
    for n in range(COUNTRIES):
        after = (n + 1) % COUNTRIES
        split = "valid" if n % 6 == 2 else "test" if n % 6 == 4 else "train"
        capital = HELD_OUT.get(("capital_of", n), "train")
        rows += [
            (f"city{n}", "capital_of", f"country{n}", capital),
            (f"country{n}", "borders", f"country{after}", "train"),
            (f"country{after}", "borders", f"country{n}", split),
            (f"country{n}", "lies_in", f"continent{n % CONTINENTS}", split),
        ]
    return rows


class FixedSource:
    """A source with a score for each entity, relation and answer."""

    is_probability = False

    def __init__(self, name, scores, reasons=()):
        self.name, self.scores, self.answers, self.asked = name, scores, list(reasons), 0

    @classmethod
    def random(cls, name, graph, seed=0):
        """Draw scores that say nothing."""
        size = (len(graph), 2 * graph.manifest.relations, len(graph))
        return cls(name, np.random.default_rng(seed).normal(size=size).astype(np.float32))

    @classmethod
    def right(cls, name, graph, seed=0, strength=6.0, relations=None):
        """Draw scores that are higher for what the graph says, of some relations or of all."""
        source = cls.random(name, graph, seed)
        for end, kind, other in zip(
            *graph.whole().triples.with_inverses(graph.manifest.relations), strict=True
        ):
            if relations is None or kind % graph.manifest.relations in relations:
                source.scores[end, kind, other] += strength
        return source

    def score(self, batch):
        """Return the scores of all entities."""
        self.asked += 1
        return self.scores[batch.entity, batch.relation].copy()

    def reasons(self, entity, relation, answer, *, limit):
        """Return the same reasons for everything."""
        return self.answers[:limit]


def reason(source, score, paths=()):
    """Return a reason in the words of its source."""
    return Reason(source, f"{source} {score}", score, tuple(paths))
