"""Small random graphs, a small reasoner, and what both directions of a triple are."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from kgraft.reason import Reasoner, ReasonerConfig
from kgraft.reason.paths.path_graph import PathGraph

few = settings(max_examples=10, deadline=None)
TINY = ReasonerConfig(width=8, relation_layers=2, entity_layers=3)


def tiny_reasoner(seed=0):
    """Return an untrained reasoner."""
    return Reasoner(TINY, seed=seed).eval()


@st.composite
def triple_sets(draw, entities=10, relations=3, least=1, most=24, loops=True):
    """Draw distinct triples (T, 3), with how many entities and relations there are."""
    n, r = draw(st.integers(2, entities)), draw(st.integers(1, relations))
    ends = st.integers(0, n - 1)
    triple = st.tuples(ends, st.integers(0, r - 1), ends)
    if not loops:
        triple = triple.filter(lambda t: t[0] != t[2])
    triples = draw(st.lists(triple, min_size=least, max_size=most, unique=True))
    return np.array(triples, np.int64).reshape(-1, 3), n, r


def path_graphs(**sizes):
    """Draw graphs as the reasoner reads them."""
    return triple_sets(**sizes).map(lambda case: PathGraph.of(*case))


def random_graph(seed, entities=30, relations=3, triples=60):
    """Return a graph of random triples without loops."""
    random = np.random.default_rng(seed)
    head = random.integers(entities, size=triples)
    tail = (head + random.integers(1, entities, size=triples)) % entities
    relation = random.permutation(np.arange(triples) % relations)
    rows = np.unique(np.stack([head, relation, tail], axis=1), axis=0)
    return PathGraph.of(rows, entities, relations)


def edge_list(triples, relations):
    """Return (node, relation, neighbour) of triples in both directions."""
    edges = [(h, r, t) for h, r, t in triples.tolist()]
    return edges + [(t, r + relations, h) for h, r, t in triples.tolist()]


def row_edges(bounds, other, relation):
    """Return (row, relation, other end) of edges in rows."""
    row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return list(zip(row.tolist(), relation.tolist(), other.tolist(), strict=True))
