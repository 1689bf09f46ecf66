"""An embedding in training: the queries of a batch, one update, the figures on valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
import torch
from torch import Tensor

from kgraft.embed.corruption import ask_both_ends, ask_one_end, draw_negatives, head_shares
from kgraft.embed.data import TrainingData
from kgraft.embed.embedding import Embedding
from kgraft.embed.evaluate import rank_queries
from kgraft.embed.gradients import Asked, Gradients, gradients
from kgraft.embed.optimisers import OPTIMISERS
from kgraft.errors import BadInput
from kgraft.training import Processes, stream, torch_stream

_ORDER, _DRAW = 0, 1  # what a stream of random numbers is for


class EmbedTrainee:
    """An embedding in training; see `kgraft.training.Trainee`."""

    def __init__(self, embedding: Embedding, data: TrainingData, *, processes: Processes) -> None:
        self.embedding, self.settings, self.data = embedding, embedding.settings, data
        self.processes = processes
        self.shares = self._head_shares()
        self._sampled, self._steps = self._count_steps()
        optimiser = OPTIMISERS[self.settings.optimiser]
        self.tables = {"entities": embedding.entities, "relations": embedding.relations}
        self.optimisers = {name: optimiser(table) for name, table in self.tables.items()}

    def _head_shares(self) -> np.ndarray:
        if self.settings.corruption == "bernoulli":
            return head_shares(self.data.train)
        return np.full(self.data.relations, 0.5)

    def _count_steps(self) -> tuple[int, int]:
        """Return how many steps have negatives (the first ones), and how many there are."""
        last = self.settings.epochs - 1
        sampled = len(self.batches(0)) * self._sampled_epochs()
        return sampled, sampled + len(self.batches(last)) * (last + 1 - self._sampled_epochs())

    def _sampled_epochs(self) -> int:
        softmax = self.settings.loss == "softmax"
        return 0 if softmax else max(self.settings.epochs - self.settings.finish, 0)

    # What the loop asks for

    def state(self) -> dict[str, Tensor]:
        """Return vectors and optimisers by name."""
        held = {
            f"{name}.{part}": tensor
            for name, optimiser in self.optimisers.items()
            for part, tensor in optimiser.state().items()
        }
        return {**self.tables, **held}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return the numbers of queries (softmax) or triples in a random order, cut in batches."""
        generator = stream(self.settings.seed, _ORDER, epoch)
        if epoch >= self._sampled_epochs():
            return _cut(generator.permutation(len(self.data.train)), self.settings.batch)
        chunk = self._chunk()
        order = generator.permutation(len(self.data.triples))
        whole = np.resize(order, -(-len(order) // chunk) * chunk)  # fill the last chunk
        return _cut(whole, max(self.settings.batch // chunk, 1) * chunk)

    def _chunk(self) -> int:
        return min(self.settings.chunk, len(self.data.triples))

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the vectors once; all random numbers come from the seed and the place."""
        here = (self.settings.seed, _DRAW, place, self.processes.index)
        sampled = place < self._sampled
        asked = self._ask(batch, stream(*here)) if sampled else self._ask_all(batch)
        found = gradients(self.embedding, asked, torch_stream(*here))
        self._update(found, self._rate(place))
        return self._whole(found.losses)

    def _rate(self, place: int) -> float:
        """Return the learning rate: it falls evenly to its last share."""
        fallen = (1 - self.settings.final_rate) * place / self._steps
        return self.settings.learning_rate * (1 - fallen)

    def validate(self) -> dict[str, float]:
        """Return the figures of filtered ranking on validation triples.

        Where scores have grown to NaN so has the MRR, at which the loop stops.
        """
        try:
            return rank_queries(self.embedding, self.data.valid, self.data.known).figures()
        except BadInput:
            return {"mrr": nan}

    # The queries of a batch

    def _ask_all(self, batch: np.ndarray) -> Asked:
        """Return this process's part of the queries, each with all its answers."""
        total = (self.data.train.bounds[batch + 1] - self.data.train.bounds[batch]).sum()
        mine = batch[self.processes.index :: self.processes.count]
        row, answer = self.data.train.answers(mine)
        entity, relation = self.data.train.entity[mine], self.data.train.relation[mine]
        return Asked(entity, relation, row, answer, len(answer) / total)

    def _ask(self, batch: np.ndarray, draw: np.random.Generator) -> Asked:
        """Return this process's chunks of triples as queries with negatives."""
        chunks = batch.reshape(-1, self._chunk())
        mine = chunks[self.processes.index :: self.processes.count].reshape(-1)
        triples = self.data.triples[mine]
        both = self.settings.corruption == "both"
        queries = (
            ask_both_ends(triples, self.data.relations)
            if both
            else ask_one_end(triples, self.shares, draw)
        )
        negatives = draw_negatives(
            len(queries) // self._chunk(),
            self.settings.negatives,
            len(self.embedding.entities),
            draw,
        )
        row = np.arange(len(queries))
        share = len(mine) / len(batch)
        return Asked(queries[:, 0], queries[:, 1], row, queries[:, 2], share, negatives)

    # The update

    def _update(self, found: Gradients, rate: float) -> None:
        """Sum over the processes and move both tables; all processes move them the same way."""
        relations = self.processes.sum_(found.relations)
        rows, entities = self._summed(found.rows, found.entities)
        self.optimisers["relations"].update(self.tables["relations"], relations, None, rate)
        self.optimisers["entities"].update(self.tables["entities"], entities, rows, rate)

    def _summed(self, rows: Tensor | None, gradient: Tensor) -> tuple[Tensor | None, Tensor]:
        if self.processes.count == 1:
            return rows, gradient
        if rows is None:
            return None, self.processes.sum_(gradient)
        everyone, gradients = self.processes.gather(rows), self.processes.gather(gradient)
        rows, places = torch.unique(everyone, return_inverse=True)
        total = gradient.new_zeros(len(rows), gradient.shape[1])
        return rows, total.index_add_(0, places, gradients)

    def _whole(self, losses: Tensor) -> dict[str, float]:
        fit, penalty = self.processes.sum_(losses).tolist()
        return {"loss": fit + penalty, "fit": fit, "penalty": penalty}


def _cut(order: np.ndarray, size: int) -> list[np.ndarray]:
    return [order[first : first + size] for first in range(0, len(order), size)]
