"""What a graph gives to training: triples to learn, queries to validate on, all that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph, TripleArrays
from kgraft.measure import Queries
from kgraft.training import Purpose, stream

SHARE, MOST = 20, 5000  # one of 20 training triples is held out where a graph has no valid split


@dataclass(frozen=True)
class TrainingData:
    """The triples of one training."""

    triples: np.ndarray  # (T, 3) head, relation, tail
    train: Queries
    valid: Queries
    known: Queries  # of all splits: no rivals in ranking
    entities: int
    relations: int
    held_out: int  # training triples that serve as validation, for want of a valid split


def training_data(graph: Graph, *, seed: int) -> TrainingData:
    """Take the train and the valid split; hold out some training triples if there is no valid."""
    train, valid = graph.split("train").triples, graph.split("valid").triples
    if not len(train):
        raise BadInput(
            f"{graph.manifest.name or graph.folder} has no training triples",
            remedy="import it with a train.tsv or triples.tsv that holds some",
        )
    held = np.zeros(len(train), bool)
    if not len(valid):
        held = _held_out(train, graph.manifest.entities, seed)
        train, valid = train.take(~held), train.take(held)
    relations = graph.manifest.relations
    return TrainingData(
        triples=np.stack([train.head, train.relation, train.tail], axis=1).astype(np.int64),
        train=Queries.of(train, relations),
        valid=Queries.of(valid, relations),
        known=Queries.of(graph.whole().triples, relations),
        entities=graph.manifest.entities,
        relations=relations,
        held_out=int(held.sum()),
    )


def _held_out(train: TripleArrays, entities: int, seed: int) -> np.ndarray:
    """Choose triples at random; every entity and relation keeps one to be learnt from."""
    order = stream(seed, Purpose.SPLIT).permutation(len(train))
    shuffled = train.take(order)
    used = np.concatenate([shuffled.head, shuffled.tail, entities + shuffled.relation])
    needed = np.unique(used, return_index=True)[1] % len(train)
    spare = np.delete(order, needed)
    held = np.zeros(len(train), bool)
    held[spare[: min(len(train) // SHARE, MOST)]] = True
    return held
