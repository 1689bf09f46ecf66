"""What a graph gives to training: triples to learn, queries to validate on, all known answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Graph, TripleArrays
from kgraft.measure import Queries
from kgraft.training import Purpose, stream

EVERY, MOST = 20, 5000  # one of 20 training triples is held out where there is no valid split


@dataclass(frozen=True)
class TrainingData:
    """The triples of one training."""

    triples: np.ndarray  # (T, 3) head, relation, tail
    train: Queries
    valid: Queries
    known: Queries  # of all splits: left out in ranking
    entities: int
    relations: int
    held_out: int  # training triples that serve as validation, where a graph has no valid split


def training_data(graph: Graph, *, seed: int) -> TrainingData:
    """Take the train and the valid split; hold out some training triples if there is no valid."""
    train, valid = graph.split("train").triples, graph.split("valid").triples
    if not len(train):
        raise BadInput(
            f"{graph.manifest.name or graph.folder} has no training triples",
            remedy="import it with a train.tsv or triples.tsv that holds some",
        )
    is_valid = np.zeros(len(train), bool)
    if not len(valid):
        is_valid = _held_out(train, graph.manifest.entities, seed)
        train, valid = train.take(~is_valid), train.take(is_valid)
    relations = graph.manifest.relations
    return TrainingData(
        triples=np.stack([train.head, train.relation, train.tail], axis=1).astype(np.int64),
        train=Queries.of(train, relations),
        valid=Queries.of(valid, relations),
        known=Queries.of(graph.whole().triples, relations),
        entities=graph.manifest.entities,
        relations=relations,
        held_out=int(is_valid.sum()),
    )


def _held_out(train: TripleArrays, entities: int, seed: int) -> np.ndarray:
    """Choose triples at random; each entity and relation keeps one to learn from."""
    order = stream(seed, Purpose.SPLIT).permutation(len(train))
    shuffled = train.take(order)
    used = np.concatenate([shuffled.head, shuffled.tail, entities + shuffled.relation])
    needed = np.unique(used, return_index=True)[1] % len(train)
    spare = np.delete(order, needed)
    is_valid = np.zeros(len(train), bool)
    is_valid[spare[: min(len(train) // EVERY, MOST)]] = True
    return is_valid
