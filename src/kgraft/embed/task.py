"""Training vectors: the queries of a batch, one update, the figures on validation triples."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.embed.corruption import (
    corrupt_both_sides,
    corrupt_one_side,
    draw_negatives,
    head_corruption_rates,
)
from kgraft.embed.data import TrainingData
from kgraft.embed.evaluate import rank_queries
from kgraft.embed.gradients import Gradients, TrainingBatch, gradients
from kgraft.embed.optimisers import OPTIMISERS
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.tables import EmbeddingTables
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.measure import PROTOCOL, calibrate_answers
from kgraft.training import Processes, Purpose, TrainingTask, stream, torch_stream
from kgraft.vectors import StoredVectors, write_table_vectors

logger = logging.getLogger("kgraft.embed")


class EmbedTask(TrainingTask[np.ndarray]):
    """The tables of a graph in training; a batch is the indices of queries or of triples."""

    kind = StoredVectors.kind
    watch = "mrr"

    def __init__(
        self,
        graph: Graph,
        data: TrainingData,
        settings: EmbedSettings,
        *,
        processes: Processes | None = None,
    ) -> None:
        self.graph, self.data, self.settings = graph, data, settings
        self.processes = processes or Processes()
        self.tables = EmbeddingTables.draw(settings, data.entities, data.relations)
        self.head_rates = self._head_corruption_rates()
        self._sampled_steps, self._steps = self._count_steps()
        optimiser = OPTIMISERS[settings.optimiser]
        self._optimisers = {name: optimiser(table) for name, table in self._by_name().items()}
        lower = settings.learning_rate / 3
        self.remedy = f"lower the learning rate: --learning-rate {lower:.2g}"

    def _by_name(self) -> dict[str, Tensor]:
        parameters = {
            f"parameters.{name}": tensor for name, tensor in self.tables.parameters.items()
        }
        tables = {"entities": self.tables.entities, "relations": self.tables.relations}
        return {**tables, **parameters}

    def _head_corruption_rates(self) -> np.ndarray:
        if self.settings.corruption == "bernoulli":
            return head_corruption_rates(self.data.train)
        return np.full(self.data.relations, 0.5)

    def _count_steps(self) -> tuple[int, int]:
        """Return how many steps have negatives (the first ones), and how many there are."""
        last = self.settings.epochs - 1
        sampled_epochs = self._sampled_epochs()
        sampled = len(self.batches(0)) * sampled_epochs
        return sampled, sampled + len(self.batches(last)) * (last + 1 - sampled_epochs)

    def _sampled_epochs(self) -> int:
        """Return how many epochs, the first ones, draw negatives."""
        if self.settings.loss == "softmax":
            return 0
        return max(self.settings.epochs - self.settings.finish, 0)

    def identity(self) -> dict[str, Any]:
        """Return the version of the graph."""
        return {"graph": self.graph.manifest.version}

    def state(self) -> dict[str, Tensor]:
        """Return tables and optimisers by name."""
        optimisers = {
            f"{name}.{part}": tensor
            for name, optimiser in self._optimisers.items()
            for part, tensor in optimiser.state().items()
        }
        return {**self._by_name(), **optimisers}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return indices of queries (softmax) or triples in random order, in batches."""
        draw = stream(self.settings.seed, Purpose.ORDER, epoch)
        if epoch >= self._sampled_epochs():
            return _cut(draw.permutation(len(self.data.train)), self.settings.batch)
        chunk = self._chunk()
        order = draw.permutation(len(self.data.triples))
        filled = np.resize(order, -(-len(order) // chunk) * chunk)  # the last chunk is filled up
        return _cut(filled, max(self.settings.batch // chunk, 1) * chunk)

    def _chunk(self) -> int:
        return min(self.settings.chunk, len(self.data.triples))

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the tables and the further parameters once."""
        path = (self.settings.seed, Purpose.STEP, step, self.processes.index)
        if step < self._sampled_steps:
            queries = self._negatives_batch(batch, stream(*path))
        else:
            queries = self._all_answers_batch(batch)
        result = gradients(self.tables, queries, torch_stream(*path))
        self._update(result, self._rate(step))
        fit, penalty = self.processes.sum_(result.losses).tolist()
        return {"loss": fit + penalty, "fit": fit, "penalty": penalty}

    def _rate(self, step: int) -> float:
        """Return the learning rate: it falls linearly to its final fraction."""
        decay = (1 - self.settings.final_rate) * step / self._steps
        return self.settings.learning_rate * (1 - decay)

    def validate(self) -> dict[str, float]:
        """Return the figures of filtered ranking on validation triples.

        Where scores have grown to nan so has the MRR, at which training stops.
        """
        try:
            ranking = rank_queries(self.tables, self.data.valid, self.data.known)
        except BadInput as error:
            logger.debug("the validation queries cannot be ranked: %s", error)
            return {"mrr": nan}
        return ranking.figures()

    def save(self, folder: Path) -> None:
        """Write the vectors with their settings, figures and calibration."""
        write_table_vectors(
            folder,
            entities=self.tables.entities,
            entity_ids=self.graph.entities["id"],
            relations=self.tables.relations,
            relation_ids=self.graph.relations["id"],
            parameters=self.tables.parameters,
            graph_name=self.graph.manifest.name,
            graph_version=self.graph.manifest.version,
            facts={
                "model": self.settings.model,
                "settings": self.settings.to_dict(),
                "held_out": self.data.held_out,
                "valid": dict(self.best_figures),
                "protocol": PROTOCOL,
                "calibration": calibrate_answers(
                    self.tables.score, self.data.valid, self.data.train, self.data.entities
                ),
            },
        )

    # The queries of a batch

    def _all_answers_batch(self, batch: np.ndarray) -> TrainingBatch:
        """Return this process's part of the queries, each with all its answers."""
        total = (self.data.train.bounds[batch + 1] - self.data.train.bounds[batch]).sum()
        own = batch[self.processes.index :: self.processes.count]
        row, answer = self.data.train.answers(own)
        entity, relation = self.data.train.entity[own], self.data.train.relation[own]
        return TrainingBatch(entity, relation, row, answer, len(answer) / total)

    def _negatives_batch(self, batch: np.ndarray, draw: np.random.Generator) -> TrainingBatch:
        """Return this process's chunks of triples as queries with negatives."""
        chunks = batch.reshape(-1, self._chunk())
        own = chunks[self.processes.index :: self.processes.count].reshape(-1)
        triples = self.data.triples[own]
        if self.settings.corruption == "both":
            queries = corrupt_both_sides(triples, self.data.relations)
        else:
            queries = corrupt_one_side(triples, self.head_rates, draw)
        negatives = draw_negatives(
            len(queries) // self._chunk(), self.settings.negatives, self.data.entities, draw
        )
        row, fraction = np.arange(len(queries)), len(own) / len(batch)
        return TrainingBatch(queries[:, 0], queries[:, 1], row, queries[:, 2], fraction, negatives)

    # The update

    def _update(self, result: Gradients, rate: float) -> None:
        """Sum over the processes and update all that is learnt, in all processes alike."""
        relations = self.processes.sum_(result.relations)
        rows, entities = self._sum_rows(result.rows, result.entities)
        self._optimisers["relations"].update(self.tables.relations, relations, None, rate)
        self._optimisers["entities"].update(self.tables.entities, entities, rows, rate)
        for name, gradient in result.parameters.items():
            total = self.processes.sum_(gradient)
            parameter = self.tables.parameters[name]
            self._optimisers[f"parameters.{name}"].update(parameter, total, None, rate)

    def _sum_rows(self, rows: Tensor | None, gradient: Tensor) -> tuple[Tensor | None, Tensor]:
        if self.processes.count == 1:
            return rows, gradient
        if rows is None:
            return None, self.processes.sum_(gradient)
        all_rows, gradients = self.processes.gather(rows), self.processes.gather(gradient)
        rows, position = torch.unique(all_rows, return_inverse=True)
        total = gradient.new_zeros(len(rows), gradient.shape[1])
        return rows, total.index_add_(0, position, gradients)


def _cut(order: np.ndarray, size: int) -> list[np.ndarray]:
    return [order[first : first + size] for first in range(0, len(order), size)]
