"""Training a reasoner: facts of graphs are asked for, in both directions, while they are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from kgraft.arrays import expand
from kgraft.measure import (
    Logistic,
    Queries,
    QueryBatch,
    Score,
    answer_examples,
    calibration_error,
    fit_logistic,
    rank,
)
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.pieces import draw_piece
from kgraft.reason.paths.reasoner import AskedFacts, Reasoner
from kgraft.reason.settings import ReasonerSettings
from kgraft.training import AdamWTask, Purpose, stream

VALID_CHUNK = 16  # queries that are ranked at once

Examples = tuple[np.ndarray, np.ndarray]  # features (n, F), labels (n,)


@dataclass(frozen=True)
class ValidGraph:
    """A graph with held-out queries that a reasoner is judged by."""

    graph: PathGraph
    queries: Queries
    known: Queries


class ReasonerTask(AdamWTask[int]):
    """A reasoner in training; a batch is the number of a step.

    Each step is about one of the graphs, the larger ones more often, or about a piece of it where
    it has more entities than a piece.
    """

    kind = Reasoner.kind
    watch = "mrr"
    remedy = "lower the learning rate: --learning-rate"

    def __init__(
        self,
        reasoner: Reasoner,
        graphs: Sequence[PathGraph],
        valid: Sequence[ValidGraph],
        settings: ReasonerSettings,
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.reasoner, self.graphs, self.valid = reasoner, graphs, valid
        self.settings, self.facts = settings, dict(facts or {})
        super().__init__(reasoner, [(settings.learning_rate, reasoner.parameters())])
        self.steps = settings.epochs * settings.steps
        sizes = np.sqrt([len(graph.triples) for graph in graphs])
        self.weights = sizes / sizes.sum()

    def identity(self) -> dict[str, Any]:
        """Return the reasoner's form and what it learns from."""
        return {"reasoner": self.reasoner.config.to_dict(), **self.facts}

    def batches(self, epoch: int) -> range:
        """Return the numbers of the steps of an epoch."""
        return range(epoch * self.settings.steps, (epoch + 1) * self.settings.steps)

    def step(self, batch: int, step: int) -> dict[str, float]:
        """Update the parameters once."""
        draw = stream(self.settings.seed, Purpose.STEP, batch)
        graph = self.graphs[draw.choice(len(self.graphs), p=self.weights)]
        if graph.entities > self.settings.piece:
            size = int(draw.integers(self.settings.piece // 4, self.settings.piece + 1))
            graph = draw_piece(graph, size, draw)
        rows = draw.integers(len(graph.triples), size=self.settings.batch)
        asked = both_directions(graph.triples[rows], graph.relations)
        scores = self.reasoner(graph, asked)  # (B, N)
        loss = answer_loss(scores, graph, asked)
        return self.update(loss, step)

    def validate(self) -> dict[str, float]:
        """Return the mean MRR over the graphs that judge."""
        means = [rank_valid(self.reasoner, valid) for valid in self.valid]
        figures = {f"mrr_{index}": mrr for index, mrr in enumerate(means)} if means[1:] else {}
        return {"mrr": float(np.mean(means)), **figures} if means else {}

    def save(self, folder: Path) -> None:
        """Write the reasoner."""
        facts = {
            "settings": self.settings.to_dict(),
            "valid": dict(self.best_figures),
            "calibration": fit_calibration(self.reasoner, self.valid) if self.valid else None,
        }
        self.reasoner.save_pretrained(folder, facts={**self.facts, **facts})


def both_directions(triples: np.ndarray, relations: int) -> AskedFacts:
    """Ask for the tails and for the heads of triples (n, 3)."""
    head, relation, tail = triples.T
    return AskedFacts(
        np.concatenate([head, tail]),
        np.concatenate([relation, relation + relations]),
        np.concatenate([tail, head]),
    )


def answer_loss(scores: torch.Tensor, graph: PathGraph, asked: AskedFacts) -> torch.Tensor:
    """Return the mean of -log p(answer), where other true answers do not compete.

    Answers that have no other fact are left out: they alone would be isolated, and tell themselves.
    """
    assert asked.answer is not None
    answers = torch.from_numpy(asked.answer).long()
    rows, others = _other_answers(graph, asked)
    competing = scores.index_put((rows, others), torch.tensor(-torch.inf))
    has_others = torch.from_numpy(np.diff(graph.edges.bounds)[asked.answer] > 1)
    losses = cross_entropy(competing, answers, reduction="none") * has_others
    return losses.sum() / has_others.sum().clamp_min(1)


def _other_answers(graph: PathGraph, asked: AskedFacts) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the other answers that the graph has to the queries: (row, entity), flat."""
    assert asked.answer is not None
    edges = graph.edges
    first, last = edges.bounds[asked.entity], edges.bounds[asked.entity + 1]
    row, edge = expand(first, last)
    other = edges.neighbour[edge]
    kept = (edges.relation[edge] == asked.relation[row]) & (other != asked.answer[row])
    return torch.from_numpy(row[kept]), torch.from_numpy(other[kept]).long()


def rank_valid(reasoner: Reasoner, valid: ValidGraph) -> float:
    """Return the filtered MRR of held-out queries."""
    entities = valid.graph.entities
    chunk = VALID_CHUNK * entities
    score = reasoner_score(reasoner, valid.graph)
    ranking = rank(score, valid.queries, valid.known, entities=entities, scores=chunk)
    return ranking.figures()["mrr"]


def reasoner_score(reasoner: Reasoner, graph: PathGraph) -> Score:
    """Return the function that scores queries over a graph by a reasoner."""

    @torch.no_grad()
    def score(batch: QueryBatch) -> np.ndarray:
        parts = []
        for first in range(0, len(batch), VALID_CHUNK):
            rows = slice(first, first + VALID_CHUNK)
            parts.append(reasoner(graph, AskedFacts(batch.entity[rows], batch.relation[rows])))
        scores: np.ndarray = torch.cat(parts).numpy()
        return scores

    return score


def fit_calibration(reasoner: Reasoner, valid: Sequence[ValidGraph]) -> dict[str, Any]:
    """Fit the probability of an answer on one graph or several.

    The error is that on each graph by a fit on the others; of one graph, that of the fit itself.
    """
    examples = [_calibration_examples(reasoner, judge) for judge in valid]
    errors = []
    for index, (features, labels) in enumerate(examples):
        others = [part for other, part in enumerate(examples) if other != index] or examples
        errors.append(calibration_error(_fit_jointly(others).probability(features), labels))
    return {**_fit_jointly(examples).to_dict(), "error": float(np.mean(errors))}


def _calibration_examples(reasoner: Reasoner, valid: ValidGraph) -> Examples:
    """Return the best new answers to held-out queries, and which of them are right."""
    graph = valid.graph
    facts = both_directions(graph.triples, graph.relations)
    assert facts.answer is not None
    train = Queries.group(facts.entity, facts.relation, facts.answer, graph.relations)
    score = reasoner_score(reasoner, graph)
    return answer_examples(score, valid.queries, train, graph.entities)[:2]


def _fit_jointly(examples: Sequence[Examples]) -> Logistic:
    """Fit one logistic model to the examples of several graphs."""
    features, labels = zip(*examples, strict=True)
    return fit_logistic(np.concatenate(features), np.concatenate(labels))
