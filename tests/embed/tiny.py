"""A tiny graph with structure, and settings that learn it in a moment."""

from collections import defaultdict

from hypothesis import settings

from kgraft.embed.settings import EmbedSettings
from kgraft.graph import Graph, TablesSource, build_graph

few = settings(max_examples=10, deadline=None)  # for what is tested on many models

PEOPLE, TEAMS = 20, 4


def desk_triples():
    """Return people, each with a desk of his own by four relations, and teams by two.

    The relations say the same, some of them backwards, so that what is held out follows from the
    rest: 44 entities; the category of `sits at` is 1-1, that of `member of` N-1.
    """
    triples = []
    for n in range(PEOPLE):
        person, desk, team = f"person{n}", f"desk{n}", f"team{n % TEAMS}"
        triples += [(person, "sits at", desk), (person, "works at", desk)]
        triples += [(desk, "seat of", person), (desk, "kept by", person)]
        triples += [(person, "member of", team), (person, "reports to", team)]
    held = {("works at", 0): "valid", ("kept by", 1): "test", ("kept by", 2): "valid"}
    held |= {("reports to", 3): "valid", ("reports to", 4): "test"}
    return [(h, r, t, held.get((r, _number(h) % 5), "train")) for h, r, t in triples]


def _number(name):
    return int(name.removeprefix("person").removeprefix("desk"))


def mean_ends(triples, relation):
    """Count how many tails a head of a relation has on average, and how many heads a tail."""
    tails, heads = defaultdict(set), defaultdict(set)
    for h, r, t in triples:
        if r == relation:
            tails[h].add(t)
            heads[t].add(h)
    return [sum(map(len, ends.values())) / max(len(ends), 1) for ends in (tails, heads)]


def build(folder, triples, entities=None, relations=None):
    """Write a graph and open it."""
    build_graph(TablesSource(triples, entities, relations), folder)
    return Graph.open(folder)


def quick(model="complex", **changes):
    """Return settings that learn the desks in less than a second."""
    dot = model in ("complex", "distmult")
    usual = {
        "similarity": "dot" if dot else "l2",
        "dimension": 16,
        "negatives": 32,
        "chunk": 32,
        "batch": 128,
        "epochs": 30,
        "learning_rate": 0.3,
        "scale": 0.1,
        "margin": 1.0 if dot else 3.0,
        "regulariser": "l2",
        "entity_weight": 0.003,
        "patience": 10,
        "validate_every": 10,
    }
    return EmbedSettings(model=model, **(usual | changes))
