"""Clusters of rules that explain the same: rules whose predictions overlap strongly."""

from __future__ import annotations

import numpy as np

from kgraft.arrays import run_starts
from kgraft.hashing import mix
from kgraft.reason.kernels import compiled, in_shares
from kgraft.reason.rules.edges import Edges
from kgraft.reason.rules.frontiers import follow, last_atom, make_frontiers
from kgraft.reason.rules.index import rule_features
from kgraft.reason.rules.rule_set import RuleSet

HASHES = 16  # per signature
BANDS = 4  # two rules whose signatures agree in a band of 4 hashes are of one cluster
SOURCES = 100  # entities X from which a path rule's predictions are looked at, at most
STEPS = 4_000  # edges visited for that
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)


def cluster_rules(rules: RuleSet, edges: Edges) -> np.ndarray:
    """Return the cluster of each rule, (K,).

    The predictions of a rule on the facts that it was mined from are sketched by their smallest
    hashes. Rules of one relation (and constant) that agree in one of four bands of hashes are
    joined; with a Jaccard overlap of 0.9 that is all but sure, below 0.4 unlikely.
    """
    cluster = np.arange(len(rules))
    constant_row, constant_keys = _constant_keys(rules, edges)
    path_row, path_keys = _path_keys(rules, edges)
    row = np.concatenate([constant_row, path_row])
    cluster[row] = row[_components(np.concatenate([constant_keys, path_keys]))]
    return cluster.astype(np.int32)


def _constant_keys(rules: RuleSet, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of rules with a constant and a body, and the band keys of each."""
    row, feature = rule_features(rules, edges)
    with_body = feature < len(edges.sources) + 2 * edges.relations
    row, feature = row[with_body], feature[with_body]
    group = mix(
        rules.head[row].astype(np.uint64) << np.uint64(32) | rules.constant[row].astype(np.uint64)
    )
    return row, _band_keys(group, _feature_sketches(edges)[feature])


def _path_keys(rules: RuleSet, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of path rules, and the band keys of each."""
    row = np.flatnonzero(rules.is_closed)
    group = mix(rules.head[row].astype(np.uint64) + np.uint64(1))
    return row, _band_keys(group, _path_sketches(rules.body[row], edges))


def _components(keys: np.ndarray) -> np.ndarray:
    """Return for each row of keys (K, B) the first row that it is connected with."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(keys):
        return np.zeros(0, np.int64)
    _, band = np.unique(keys.ravel(), return_inverse=True)
    row = np.repeat(np.arange(len(keys)), keys.shape[1])
    size = len(keys) + int(band.max()) + 1
    shape = (size, size)
    links = coo_array((np.ones(len(row), bool), (row, len(keys) + band)), shape=shape)
    label = connected_components(links, directed=False)[1][: len(keys)]
    order = np.argsort(label, kind="stable")
    first = order[run_starts(label[order])]
    return first[np.searchsorted(label[first], label)]


def _band_keys(group: np.ndarray, sketches: np.ndarray) -> np.ndarray:
    """Return one key per band (K, BANDS); rules of different groups share none."""
    bands = sketches.reshape(len(sketches), BANDS, HASHES // BANDS)
    keys = np.empty((len(sketches), BANDS), np.uint64)
    for band in range(BANDS):
        key = mix(group + np.uint64(band))
        for column in bands[:, band].T:
            key = mix(key ^ column)
        keys[:, band] = key
    return keys


def _salts() -> np.ndarray:
    return mix(np.arange(1, HASHES + 1).astype(np.uint64) << np.uint64(33))


def _feature_sketches(edges: Edges) -> np.ndarray:
    """Return the sketches of the entities X of b(X, d) for each run, then of b(X, Z) for each b."""
    relations = 2 * edges.relations
    sketches = np.full((len(edges.sources) + relations, HASHES), _NEVER)
    entity = mix(np.arange(edges.entities).astype(np.uint64))
    for column, salt in enumerate(_salts()):
        value = mix(entity ^ salt)
        if len(edges.target):
            targets = np.minimum.reduceat(value[edges.target], edges.run_first[:-1])
            sketches[: len(targets), column] = targets
        used = np.flatnonzero(np.diff(edges.source_bounds))
        if len(used):
            smallest = np.minimum.reduceat(value[edges.sources], edges.source_bounds[used])
            sketches[len(edges.sources) + used, column] = smallest
    return sketches


def _path_sketches(body: np.ndarray, edges: Edges) -> np.ndarray:
    """Return the sketches of the pairs (X, Y) for which each body holds, from some X."""
    entity = mix(np.arange(edges.entities).astype(np.uint64))
    sketches = np.full((len(body), HASHES), _NEVER)
    salts = _salts()

    def sketch(begin: int, end: int) -> None:
        _sketch_paths(edges, body[begin:end], entity, salts, sketches[begin:end])

    in_shares(sketch, len(body))
    return sketches


@compiled
def _sketch_paths(
    edges: Edges, bodies: np.ndarray, entity: np.ndarray, salts: np.ndarray, sketches: np.ndarray
) -> None:
    frontiers = make_frontiers(len(edges.run_bounds) - 1)
    for i in range(len(bodies)):
        first = edges.source_bounds[bodies[i, 0]]
        sources = edges.sources[first : edges.source_bounds[bodies[i, 0] + 1]]
        order = np.argsort(entity[sources])[:SOURCES]  # the same X for all bodies, where they can
        last, steps = last_atom(bodies[i]), 0
        for x in sources[order]:
            steps += follow(edges, frontiers, x, bodies[i], 0)
            ends = frontiers.entity[last, : frontiers.size[last]]
            _add_pairs(entity, x, ends, salts, sketches[i])
            if steps > STEPS:
                break


@compiled
def _add_pairs(
    entity: np.ndarray, x: int, ends: np.ndarray, salts: np.ndarray, sketch: np.ndarray
) -> None:
    """Add the hashes of the pairs of x and each end to a sketch, (HASHES,)."""
    for end in ends:
        pair = entity[x] * np.uint64(0x9E3779B97F4A7C15) + entity[end]
        for column in range(len(salts)):
            value = (pair ^ salts[column]) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
            sketch[column] = min(sketch[column], value)
