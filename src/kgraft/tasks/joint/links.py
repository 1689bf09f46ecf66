"""Link prediction by text and structure: which entity a relation leads to from another.

With E the vectors that a reader returns (see `graph_reader`) and R those of relations, inverse ones
with vectors of their own,

    score(h, r, t) = g([E_h, R_r]) · W E_t
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from kgraft.arrays import rank_within
from kgraft.errors import BadInput
from kgraft.graph import SPLITS, Graph, TripleArrays
from kgraft.joint import FineTuning
from kgraft.measure import Queries, QueryBatch, Ranking, rank
from kgraft.tasks.graph_reader import AT_ONCE, GraphReader
from kgraft.tasks.interfaces import JointEvaluation
from kgraft.tasks.joint import JOINT_TASKS
from kgraft.tasks.settings import LinkPredictionSettings
from kgraft.training import (
    AdamWTask,
    Purpose,
    seeded,
    shuffled_batches,
    stream,
    torch_stream,
    train_in_memory,
)


class FactQueries:
    """Facts as queries for either end, (h, r, ?) and (?, r, t), each with its answer."""

    def __init__(self, triples: TripleArrays, relations: int) -> None:
        self.entity, self.relation, self.answer = triples.with_inverses(relations)

    def __len__(self) -> int:
        return len(self.entity)

    def batch(self, indices: np.ndarray) -> QueryBatch:
        """Return some queries, without their answers."""
        return QueryBatch(self.entity[indices], self.relation[indices])


class LinkScorer(nn.Module):
    """g and W, and vectors of the inverse relations."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2 * size, size), nn.Linear(size, size)
        self.inverse, self.entity = nn.Linear(size, size), nn.Linear(size, size, bias=False)

    def forward(self, heads: Tensor, relation: Tensor, relations: Tensor) -> Tensor:
        """Return g, (n, F), of heads (n, F) and relations (n,) of (R, F)."""
        both = torch.cat([relations, self.inverse(relations)])
        query: Tensor = self.outer(gelu(self.inner(torch.cat([heads, both[relation]], dim=-1))))
        return query * heads.shape[-1] ** -0.5


class LinkPredictionTask(AdamWTask[np.ndarray]):
    """A reader and a scorer in training; a batch is the indices of queries.

    The graph is opened with all its splits; the reader must know the train split alone.
    """

    watch = "mrr"

    def __init__(
        self, reader: nn.Module, relations: Tensor, graph: Graph, settings: LinkPredictionSettings
    ) -> None:
        triples, count = graph.whole().triples, len(graph.relations)
        train, valid, test = _facts_by_split(triples)
        self.facts = FactQueries(train, count)
        self.valid, self.test = Queries.of(valid, count), Queries.of(test, count)
        self.known = Queries.of(triples, count)
        self.settings, self.relations, self.entities = settings, relations, len(graph.entities)
        with seeded(settings.seed):
            self.scorer = LinkScorer(relations.shape[1])
        self.reader = reader
        module = nn.ModuleDict({"reader": reader, "scorer": self.scorer})
        groups = [(settings.learning_rate, module.parameters())]
        super().__init__(module, groups, weight_decay=settings.weight_decay)
        self.steps = settings.epochs * len(self.batches(0))

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the queries of an epoch, in random order."""
        path = (self.settings.seed, Purpose.ORDER, epoch)
        return shuffled_batches(len(self.facts), self.settings.batch, *path)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once.

        An answer is to be told from those of the other queries and from random entities.
        """
        self.module.train()
        path = (self.settings.seed, Purpose.STEP, step)
        seed = torch_stream(*path).initial_seed()
        with seeded(seed):
            loss = self._loss(batch, stream(*path), seed % (1 << 31))
        return self.update(loss, step)

    def _loss(self, batch: np.ndarray, random: np.random.Generator, seed: int) -> Tensor:
        entity, answer = self.facts.entity[batch], self.facts.answer[batch]
        negatives = random.integers(self.entities, size=self.settings.random_negatives)
        candidates, row = np.unique(np.concatenate([answer, negatives]), return_inverse=True)
        gold = row[: len(batch)]
        heads = self.reader(entity, seed=seed, hidden=answer[:, None])
        relation = torch.from_numpy(self.facts.relation[batch])
        queries = self.scorer(heads, relation, self.relations)
        hidden = queries_by_answer(gold, entity, len(candidates))
        others = self.reader(candidates, seed=seed + 1, hidden=hidden)
        scores = queries @ self.scorer.entity(others).T
        is_wrong = self._other_answers(batch, candidates, gold)
        return cross_entropy(scores.masked_fill(is_wrong, -torch.inf), torch.from_numpy(gold))

    def _other_answers(self, batch: np.ndarray, candidates: np.ndarray, gold: np.ndarray) -> Tensor:
        """Return which candidates answer a query but are not its gold one, (n, C)."""
        row, answer = self.known.known(self.facts.batch(batch))
        column = np.searchsorted(candidates, answer).clip(max=len(candidates) - 1)
        is_candidate = candidates[column] == answer
        is_other = np.zeros((len(batch), len(candidates)), bool)
        is_other[row[is_candidate], column[is_candidate]] = True
        is_other[np.arange(len(batch)), gold] = False
        return torch.from_numpy(is_other)

    def validate(self) -> dict[str, float]:
        """Return the MRR on validation facts, none where there are none."""
        if not len(self.valid):
            return {}
        return {"mrr": self.rank(self.valid).figures()["mrr"]}

    @torch.no_grad()
    def rank(self, queries: Queries) -> Ranking:
        """Rank the answers of queries among all entities, other known answers left out."""
        self.module.eval()
        parts = np.array_split(np.arange(self.entities), -(-self.entities // AT_ONCE))
        vectors = torch.cat([self.reader(part, seed=0) for part in parts])
        tails = self.scorer.entity(vectors)

        def score(batch: QueryBatch) -> np.ndarray:
            heads = vectors[torch.from_numpy(batch.entity)]
            wanted = self.scorer(heads, torch.from_numpy(batch.relation), self.relations)
            scores: np.ndarray = (wanted @ tails.T).numpy()
            return scores

        return rank(score, queries, self.known, entities=self.entities)


def queries_by_answer(answer: np.ndarray, entity: np.ndarray, candidates: int) -> np.ndarray:
    """Return for each candidate the entities whose queries it answers, (C, p), -1 for none.

    What is asked for must not be read off the answer's side either.
    """
    order = np.argsort(answer, kind="stable")
    answer, entity = answer[order], entity[order]
    column = rank_within(answer)
    entities = np.full((candidates, int(column.max(initial=0)) + 1), -1)
    entities[answer, column] = entity
    return entities


class LinkPredictionEvaluation(JointEvaluation):
    """The graph's own test facts."""

    has_texts = False
    pretraining_loss = "relations"

    def __init__(self, settings: LinkPredictionSettings | None = None) -> None:
        self.settings = settings or LinkPredictionSettings()

    def measure(self, tuning: FineTuning, data: Path | None) -> np.ndarray:  # noqa: ARG002
        """Return the reciprocal rank of the missing end of each test fact, asked both ways."""
        if not tuning.graph.manifest.splits["test"]:
            raise BadInput("the graph has no test facts", remedy="give one with a test split")
        tuning = replace(tuning, graph=tuning.graph.split("train"))  # nothing of what is asked for
        settings = self.settings.replace(seed=tuning.seed)
        reader, relations = GraphReader.of(tuning), tuning.memory.relations
        task = LinkPredictionTask(reader, relations, tuning.graph, settings)
        train_in_memory(task, settings, progress=tuning.progress)
        reciprocal_ranks: np.ndarray = 1 / task.rank(task.test).rank
        return reciprocal_ranks


JOINT_TASKS.register("links")(LinkPredictionEvaluation())


def _facts_by_split(triples: TripleArrays) -> list[TripleArrays]:
    """Return the facts to learn from, to validate with and to test with."""
    parts = [triples.take(triples.split == index) for index in range(len(SPLITS))]
    if not len(parts[0]):
        raise BadInput("the graph has no facts to learn from", remedy="give a graph with some")
    return parts
