"""A graph with its trained vectors: open them, predict what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.embed.evaluate import rank_queries
from kgraft.embed.models import MODELS
from kgraft.embed.settings import EmbedSettings
from kgraft.embed.tables import EmbeddingTables
from kgraft.errors import BadInput, NotFound
from kgraft.graph import Entity, EntityLike, Graph, Relation
from kgraft.measure import Plausibility, Queries, QueryBatch, Ranking, answer_probabilities
from kgraft.progress import Progress
from kgraft.vectors import NeighbourFallback, StoredVectors, TableVectors, read_vectors

_TRAINED = "give a folder that 'kgraft embed train' wrote"


@dataclass(frozen=True)
class Prediction:
    """An answer: its score, its calibrated probability, and whether the graph says so already."""

    entity: Entity
    score: float
    probability: float | None
    known: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as JSON has it."""
        entity = {"id": self.entity.id, "label": self.entity.label}
        answer = {"score": self.score, "probability": self.probability, "known": self.known}
        return entity | answer


class LinkPredictor:
    """A graph together with vectors that were trained on it, or on an earlier version of it.

    Entities that are new since then have vectors made from their neighbours by the model's own
    guess.
    """

    def __init__(self, graph: Graph, stored: StoredVectors) -> None:
        self.graph, self.stored = graph, stored
        self.settings = _settings(stored)
        self.trained = _tables(self.settings, stored)
        self.vectors = TableVectors(stored, graph, cold_start=NeighbourFallback(self._guess))

    def __repr__(self) -> str:
        size = f"{len(self.graph):,} entities, dimension {self.settings.dimension}"
        return f"<LinkPredictor {self.settings.model} of {self.graph.manifest.name}: {size}>"

    @classmethod
    def from_pretrained(cls, folder: str | Path, graph: Graph) -> LinkPredictor:
        """Open the vectors of a folder for a graph."""
        return cls(graph, read_vectors(folder))

    def _guess(self, neighbours: Tensor, relations: Tensor, direction: Tensor) -> Tensor:
        """Return what edges predict: an answer to the query at the neighbour."""
        back = self.trained.relation_count * (direction < 0)
        vectors = self.trained.relation_vectors(relations + back)
        return self.trained.model.guess(neighbours, vectors, self.trained.parameters)

    @cached_property
    def embedding(self) -> EmbeddingTables:
        """The vectors in the graph's own order; relations the model lacks have zeros."""
        rows = torch.from_numpy(self.vectors.trained.relations)  # (R,), −1 where unknown
        count = self.trained.relation_count
        blocks = [self.trained.relations[:count], self.trained.relations[count:]]
        blocks = blocks if self.settings.reciprocal else blocks[:1]
        is_trained = (rows >= 0)[:, None]
        ordered = [block[rows.clamp_min(0)] * is_trained for block in blocks]
        entities = self.stored.entities if self.vectors.trained.in_order else self.vectors.all()
        relations = torch.cat(ordered)
        return EmbeddingTables(self.settings, entities, relations, self.trained.parameters)

    @cached_property
    def _blank(self) -> np.ndarray:
        """Entities of which nothing is known, so that zeros stand for them: never an answer."""
        unseen = self.vectors.trained.unseen
        return unseen[self.vectors.origin(unseen) == "none"]

    @cached_property
    def _sense(self) -> Plausibility:
        return Plausibility(self.graph)

    @cached_property
    def known(self) -> Queries:
        """All triples of the graph, as queries with their answers."""
        return Queries.of(self.graph.whole().triples, self.graph.manifest.relations)

    def rank(self, split: str = "test", *, progress: Progress | None = None) -> Ranking:
        """Rank the triples of a split (see `Ranking`)."""
        triples = self.graph.split(split).triples  # type: ignore[arg-type]
        if not len(triples):
            raise BadInput(f"the split {split!r} has no triples; there is nothing to rank")
        self._need_relations(np.unique(triples.relation))
        queries = Queries.of(triples, self.graph.manifest.relations)
        return rank_queries(self.embedding, queries, self.known, progress=progress)

    def _need_relations(self, relations: np.ndarray) -> None:
        absent = relations[self.vectors.trained.relations[relations] < 0]
        if len(absent):
            name = self.graph.relations["id"][int(absent[0])].as_py()
            raise NotFound(
                f"the vectors were trained without the relation {name!r}; "
                f"train again: kgraft embed train {self.graph.folder}"
            )

    def tails(
        self,
        head: EntityLike,
        relation: Relation | str | int,
        *,
        limit: int = 10,
        new: bool = False,
    ) -> list[Prediction]:
        """Return the likeliest t of (head, relation, t), best first; `new`: no known ones.

        Answers that break a rule which all facts of the relation keep do not come up (see
        `kgraft.measure.Plausibility`).
        """
        return self._answers(self.graph.index(head), self._relation_index(relation), limit, new)

    def heads(
        self,
        relation: Relation | str | int,
        tail: EntityLike,
        *,
        limit: int = 10,
        new: bool = False,
    ) -> list[Prediction]:
        """Return the likeliest h of (h, relation, tail), best first; `new`: no known ones."""
        inverse = self._relation_index(relation) + self.graph.manifest.relations
        return self._answers(self.graph.index(tail), inverse, limit, new)

    def _relation_index(self, which: Relation | str | int) -> int:
        return which.index if isinstance(which, Relation) else self.graph.relation(which).index

    @torch.no_grad()
    def _answers(self, entity: int, relation: int, limit: int, new: bool) -> list[Prediction]:
        self._need_relations(np.array([relation % self.graph.manifest.relations]))
        if entity in self._blank:
            raise NotFound(
                f"nothing is known of {self.graph.entity(entity).id!r}: it is new since the "
                "training and has no facts; add some, or train again"
            )
        query = QueryBatch(np.array([entity]), np.array([relation]))
        scores = self.embedding.score(query)[0]  # (N,)
        answers = self.known.known(query)[1]
        best = _best(scores, self._left_out(query, answers, new=new), limit)
        others = np.union1d(answers, self._blank)
        probability = answer_probabilities(self.stored.facts.get("calibration"), scores, others)
        known_answers = set(answers.tolist())
        return [
            Prediction(
                entity,
                float(scores[index]),
                None if probability is None else float(probability[index]),
                index in known_answers,
            )
            for index, entity in zip(best, self.graph.entities_at(best), strict=True)
        ]

    def _left_out(self, query: QueryBatch, answers: np.ndarray, *, new: bool) -> np.ndarray:
        """Return the entities that are no answers to show: unread, implausible, or not new."""
        implausible = self._sense.implausible(query)[1]
        if self._sense.is_settled(int(query.entity[0]), int(query.relation[0])):
            implausible = np.arange(len(self.graph))
        wrong = np.setdiff1d(implausible, answers)
        return np.concatenate([self._blank, wrong, answers if new else answers[:0]])


def _best(scores: np.ndarray, left_out: np.ndarray, limit: int) -> list[int]:
    """Return the indices of the highest scores (N,), best first."""
    among = np.setdiff1d(np.arange(len(scores)), left_out)
    order = np.argsort(-scores[among], kind="stable")[:limit]
    best: list[int] = among[order].tolist()
    return best


def _settings(stored: StoredVectors) -> EmbedSettings:
    try:
        return EmbedSettings.from_dict(stored.facts["settings"])
    except KeyError as error:
        raise BadInput("these vectors have no settings of a model", remedy=_TRAINED) from error


def _tables(settings: EmbedSettings, stored: StoredVectors) -> EmbeddingTables:
    """Return the stored tensors as the model's; refuse those that are not."""
    if stored.relations is None:
        raise BadInput("these vectors have no relations", remedy=_TRAINED)
    shapes = MODELS[settings.model].parameter_shapes(settings.dimension)
    stored_shapes = {name: tuple(tensor.shape) for name, tensor in stored.parameters.items()}
    if stored_shapes != shapes:
        reason = f"these vectors have the parameters {stored_shapes}; {settings.model} has {shapes}"
        raise BadInput(reason, remedy=_TRAINED)
    return EmbeddingTables(settings, stored.entities, stored.relations, stored.parameters)
