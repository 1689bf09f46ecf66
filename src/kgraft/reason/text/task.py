"""A text completer in training: the answer of a query is to be nearer than other entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.measure import Queries, QueryBatch
from kgraft.reason.text.completer import TextCompleter
from kgraft.reason.text.loss import contrastive_loss, known_answers
from kgraft.reason.text.settings import TextSettings
from kgraft.reason.text.texts import CompletionTexts
from kgraft.reason.text.validation import Validation
from kgraft.storage import Kind
from kgraft.text import freeze_bottom
from kgraft.training import (
    AdamWTask,
    ParameterGroups,
    Purpose,
    seeded,
    shuffled_batches,
    torch_stream,
)

EARLIER, EARLIER_ENTITIES = "earlier.vectors", "earlier.entities"


class TextTask(AdamWTask[np.ndarray]):
    """A text completer in training on the train split of a graph; a batch is rows of triples.

    Each triple is asked for its tail and for its head, so that of every query the own entity is
    among the negatives: it is the answer of the other one.
    """

    kind: ClassVar[Kind] = TextCompleter.kind
    watch = "mrr"

    def __init__(self, completer: TextCompleter, graph: Graph, settings: TextSettings) -> None:
        self.completer, self.graph, self.settings = completer, graph, settings
        self.triples = graph.split("train").triples
        if not len(self.triples):
            raise BadInput("the graph has no triples to learn from", remedy="give one with facts")
        self.relations = graph.manifest.relations
        self.known = Queries.of(self.triples, self.relations)
        self.texts = CompletionTexts(graph)
        self.validation = Validation.of(graph, settings)
        if settings.frozen:
            freeze_bottom(completer.encoder.model, settings.frozen)
        groups = _parameter_groups(completer, settings)
        super().__init__(completer.module(), groups, weight_decay=settings.weight_decay)
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))
        self._earlier = torch.zeros(0, completer.encoder.dimension)
        self._earlier_entities = np.zeros(0, np.int64)

    def identity(self) -> dict[str, Any]:
        """Return the graph and the encoder."""
        encoder = self.completer.encoder.name
        return {"graph": self.graph.manifest.version, "encoder": encoder}

    def state(self) -> dict[str, Tensor]:
        """Return parameters, optimiser, and what earlier batches gave."""
        entities = torch.from_numpy(self._earlier_entities)
        return super().state() | {EARLIER: self._earlier, EARLIER_ENTITIES: entities}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        super().load_state(state)
        self._earlier = state[EARLIER].clone()
        self._earlier_entities = state[EARLIER_ENTITIES].numpy().copy()

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return the triples of an epoch in random order."""
        path = (self.settings.seed, Purpose.ORDER, epoch)
        batches = shuffled_batches(len(self.triples), self.settings.batch, *path)
        most = self.settings.epoch_triples
        return batches if most is None else batches[: -(-most // self.settings.batch)]

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once."""
        self.module.train()
        part = self.triples.take(batch)
        entity, relation, answer = part.with_inverses(self.relations)
        drawn = torch_stream(self.settings.seed, Purpose.STEP, step)
        with seeded(drawn.initial_seed()):
            loss, entities, vectors = self._loss(QueryBatch(entity, relation), answer)
        losses = self.update(loss, step)
        self._remember(entities, vectors)
        return losses

    def _loss(self, batch: QueryBatch, answer: np.ndarray) -> tuple[Tensor, np.ndarray, Tensor]:
        """Return the loss of a batch, its entities, and their vectors."""
        entities, row = np.unique(answer, return_inverse=True)
        queries = self.texts.queries(batch.entity, batch.relation).to_pylist()
        read = self.completer.read(queries + self.texts.entities(entities).to_pylist())
        asked, vectors = read[: len(queries)], read[len(queries) :]
        earlier = None
        if len(self._earlier):
            masked = known_answers(self.known, batch, self._earlier_entities)
            earlier = self._earlier, masked
        loss = contrastive_loss(
            asked,
            vectors,
            torch.from_numpy(row),
            known_answers(self.known, batch, entities),
            scale=self.completer.temperature(),
            margin=self.settings.margin,
            earlier_weight=self.settings.earlier_weight,
            earlier=earlier,
        )
        return loss, entities, vectors.detach()

    def _remember(self, entities: np.ndarray, vectors: Tensor) -> None:
        """Keep the entities of the last batches as negatives of the next."""
        most = self.settings.earlier_batches * 2 * self.settings.batch
        start = max(len(self._earlier) + len(vectors) - most, 0)
        self._earlier = torch.cat([self._earlier, vectors])[start:]
        self._earlier_entities = np.concatenate([self._earlier_entities, entities])[start:]

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return how well queries of the valid split are answered among some entities."""
        return self.validation.figures(self.completer, self.texts)

    def save(self, folder: Path) -> None:
        """Write the completer."""
        facts = {"settings": self.settings.to_dict(), **self.identity(), **self.best_figures}
        self.completer.save_pretrained(folder, facts=facts)


def _parameter_groups(completer: TextCompleter, settings: TextSettings) -> ParameterGroups:
    """Return the parameters that learn, with their rates."""
    learnt = [one for one in completer.encoder.model.parameters() if one.requires_grad]
    temperature = completer.temperature.parameters()
    return [(settings.rate, learnt), (settings.temperature_rate, temperature)]
