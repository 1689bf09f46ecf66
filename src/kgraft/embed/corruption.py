"""Which end of a triple is asked for, and which wrong entities stand beside the right one."""

from __future__ import annotations

import numpy as np

from kgraft.measure import Queries


def head_corruption_rates(queries: Queries) -> np.ndarray:
    """Return for each relation how often its head is corrupted (Bernoulli; Wang et al. 2014).

    With a mean of tph tails a head and hpt heads a tail it is tph / (tph + hpt): for a relation of
    many tails a wrong head is less likely to be right by accident.
    """
    tails, heads = np.split(queries.mean_answers(), 2)
    return tails / np.maximum(tails + heads, 1e-9)


def corrupt_one_side(
    triples: np.ndarray, shares: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Turn triples (B, 3) into queries (B, 3): entity, relation or inverse, answer; one each.

    The head is asked for at the rate of the triple's relation.
    """
    back = generator.random(len(triples)) < shares[triples[:, 1]]
    return np.where(back[:, None], inverse(triples, len(shares)), triples)


def corrupt_both_sides(triples: np.ndarray, relations: int) -> np.ndarray:
    """Turn triples (B, 3) into the 2B queries for their tails and for their heads."""
    return np.concatenate([triples, inverse(triples, relations)])


def inverse(triples: np.ndarray, relations: int) -> np.ndarray:
    """Return (tail, R + relation, head) of triples (B, 3)."""
    return triples[:, ::-1] + np.array([0, relations, 0])


def draw_negatives(
    chunks: int, negatives: int, entities: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw wrong entities evenly, (chunks, negatives): a chunk of queries shares its own."""
    return generator.integers(entities, size=(chunks, negatives))
