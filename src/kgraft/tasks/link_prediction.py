"""Link prediction by text and structure: which entity a relation leads to from another.

With E the vectors that a reader gives (see `entity_classes`) and R those of relations, turned round
ones apart,

    score(h, r, t) = g([E_h, R_r]) · W E_t
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgraft.errors import BadInput
from kgraft.graph import SPLITS, Graph, TripleArrays
from kgraft.graph.adjacency import rank_within
from kgraft.measure import Queries, QueryBatch, Ranking, rank
from kgraft.tasks.entity_classes import AT_ONCE
from kgraft.training import stream, torch_stream
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded, shuffled

_ORDER, _STEP = 0, 1  # what a stream of random numbers is for


@dataclass(frozen=True)
class PredictionSettings:
    """How missing links are learnt to be predicted."""

    epochs: int = 5
    patience: int = 2
    batch: int = 256  # facts
    strangers: int = 256  # other entities, drawn for all of a batch
    rate: float = 1e-3
    weight_decay: float = 0.01
    seed: int = 0


class FactQueries:
    """Facts as queries for either end, (h, r, ?) and (?, r, t), each with its answer."""

    def __init__(self, triples: TripleArrays, relations: int) -> None:
        self.entity, self.relation, self.answer = triples.with_inverses(relations)

    def __len__(self) -> int:
        return len(self.entity)

    def batch(self, indices: np.ndarray) -> QueryBatch:
        """Return some queries, without their answers."""
        return QueryBatch(self.entity[indices], self.relation[indices])


class Predictor(nn.Module):
    """g and W, and vectors of the relations turned round."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2 * size, size), nn.Linear(size, size)
        self.turned, self.entity = nn.Linear(size, size), nn.Linear(size, size, bias=False)

    def forward(self, heads: Tensor, relation: Tensor, relations: Tensor) -> Tensor:
        """Return what is asked for, (n, F), of heads (n, F) and relations (n,) of (R, F)."""
        both = torch.cat([relations, self.turned(relations)])
        asked = torch.cat([heads, both[relation]], dim=-1)
        wanted: Tensor = self.outer(torch.nn.functional.gelu(self.inner(asked)))
        return wanted * heads.shape[-1] ** -0.5


class PredictionTrainee(Learner):
    """A reader and a predictor in training; see `kgraft.training.Trainee`.

    The graph is opened with all its splits; the reader must know the train split alone.
    """

    def __init__(
        self, reader: nn.Module, relations: Tensor, graph: Graph, settings: PredictionSettings
    ) -> None:
        whole = graph.whole()
        parts = [whole.triples.take(whole.triples.split == n) for n in range(len(SPLITS))]
        if not len(parts[0]):
            raise BadInput("the graph has no facts to learn from", remedy="give a graph with some")
        count = len(graph.relations)
        self.facts = FactQueries(parts[0], count)
        self.valid, self.test = (Queries.of(part, count) for part in parts[1:3])
        self.known = Queries.of(whole.triples, count)
        self.settings, self.relations, self.count = settings, relations, len(graph.entities)
        with seeded(settings.seed):
            self.predictor = Predictor(relations.shape[1])
        self.reader = reader
        module = nn.ModuleDict({"reader": reader, "predictor": self.predictor})
        groups = [(settings.rate, module.parameters())]
        super().__init__(module, groups, weight_decay=settings.weight_decay)
        self.steps = settings.epochs * len(self.batches(0))

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the questions of an epoch, in random order."""
        return shuffled(len(self.facts), self.settings.batch, self.settings.seed, _ORDER, epoch)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once; the answer is told from the others' and from strangers."""
        self.module.train()
        seed = torch_stream(self.settings.seed, _STEP, place).initial_seed()
        random = stream(self.settings.seed, _STEP, place)
        with seeded(seed):
            loss = self._loss(batch, random, seed % (1 << 31))
        return self.move(loss, place)

    def _loss(self, batch: np.ndarray, random: np.random.Generator, seed: int) -> Tensor:
        facts = self.facts
        strangers = random.integers(self.count, size=self.settings.strangers)
        candidates, place = np.unique(
            np.concatenate([facts.answer[batch], strangers]), return_inverse=True
        )
        gold = torch.from_numpy(place[: len(batch)])
        reader, predictor = self.reader, self.predictor
        heads = reader(facts.entity[batch], seed=seed, hidden=facts.answer[batch][:, None])
        wanted = predictor(heads, torch.from_numpy(facts.relation[batch]), self.relations)
        apart = _askers(place[: len(batch)], facts.entity[batch], len(candidates))
        others = reader(candidates, seed=seed + 1, hidden=apart)
        scores = wanted @ predictor.entity(others).T
        row, right = self.known.known(facts.batch(batch))
        at = np.searchsorted(candidates, right).clip(max=len(candidates) - 1)
        same = candidates[at] == right
        known = torch.zeros_like(scores, dtype=torch.bool)
        known[torch.from_numpy(row[same]), torch.from_numpy(at[same])] = True
        known[torch.arange(len(batch)), gold] = False
        return cross_entropy(scores.masked_fill(known, -torch.inf), gold)

    def validate(self) -> dict[str, float]:
        """Return the MRR on validation facts, none where there are none."""
        if not len(self.valid):
            return {}
        return {"mrr": self.rank(self.valid).figures()["mrr"]}

    @torch.no_grad()
    def rank(self, queries: Queries) -> Ranking:
        """Rank the answers of queries among all entities, other known answers left out."""
        self.module.eval()
        reader, predictor = self.reader, self.predictor
        parts = np.array_split(np.arange(self.count), -(-self.count // AT_ONCE))
        vectors = torch.cat([reader(part, seed=0) for part in parts])
        tails = predictor.entity(vectors)

        def score(batch: QueryBatch) -> np.ndarray:
            heads = vectors[torch.from_numpy(batch.entity)]
            wanted = predictor(heads, torch.from_numpy(batch.relation), self.relations)
            scores: np.ndarray = (wanted @ tails.T).numpy()
            return scores

        return rank(score, queries, self.known, entities=self.count)


def _askers(answer: np.ndarray, asker: np.ndarray, count: int) -> np.ndarray:
    """Return for each of so many candidates the entities that ask for it, (count, p), -1 for none.

    What is asked for must not be read off the answer's side either.
    """
    order = np.argsort(answer, kind="stable")
    answer, asker = answer[order], asker[order]
    column = rank_within(answer)
    found = np.full((count, int(column.max(initial=0)) + 1), -1)
    found[answer, column] = asker
    return found
