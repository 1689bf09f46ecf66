"""`Completer`: all that completes a graph, together, with the reasons for each answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from kgraft.errors import BadInput
from kgraft.graph import Entity, EntityLike, Graph, Relation
from kgraft.measure import (
    Plausibility,
    Queries,
    QueryBatch,
    Ranking,
    answer_probabilities,
    calibrate_answers,
    rank,
)
from kgraft.progress import Progress, Silent
from kgraft.reason.explanation import Explanation, objections
from kgraft.reason.reasons import Reason
from kgraft.reason.settings import CompleterConfig
from kgraft.reason.source import Source
from kgraft.reason.weights import SourceWeights, collect_examples, features, fit_weights, logits
from kgraft.storage import MODEL_MANIFEST, Kind, new_file, new_folder
from kgraft.training import ModelManifest, Pretrained, stream

WEIGHTS = "weights.json"
LEARNT_FROM = 3000  # held-out queries, at most
QUERIES = 32  # that are asked together
IMPLAUSIBLE = -1e4  # added to the score of an answer that all facts of its relation speak against


@dataclass(frozen=True)
class Prediction:
    """An answer with its probability, whether the graph says so already, and why."""

    entity: Entity
    score: float
    probability: float | None
    known: bool
    reasons: tuple[Reason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as JSON has it."""
        return {
            "id": self.entity.id,
            "label": self.entity.label,
            "score": self.score,
            "probability": self.probability,
            "known": self.known,
            "reasons": [reason.to_dict() for reason in self.reasons],
        }


def _best_first(scores: np.ndarray, allowed: np.ndarray, limit: int) -> np.ndarray:
    """Return the allowed entities with the highest scores."""
    order = np.argsort(-np.where(allowed, scores, -np.inf), kind="stable")[:limit]
    best: np.ndarray = order[allowed[order]]
    return best


class Completer(Pretrained[CompleterConfig]):
    """Answers queries over a graph by several sources, weighed for each relation.

    Answers that all facts of a relation speak against do not come up (see
    `kgraft.measure.Plausibility`). A completer may be used from several threads at once, if its
    sources may.
    """

    kind = Kind("completer", MODEL_MANIFEST)
    made_by = "kgraft reason combine"
    config_class = CompleterConfig

    def __init__(
        self,
        graph: Graph,
        sources: Sequence[Source],
        *,
        weights: SourceWeights | None = None,
        calibration: dict[str, Any] | None = None,
        config: CompleterConfig | None = None,
    ) -> None:
        if not sources:
            raise BadInput("there is nothing to complete the graph with", remedy="give a source")
        self.graph, self.sources = graph, tuple(sources)
        self.config = config or CompleterConfig()
        names = tuple(source.name for source in sources)
        self.weights = weights or SourceWeights.even(names)
        self.calibration = calibration
        if self.weights.sources != names:
            learnt = ", ".join(self.weights.sources)
            raise BadInput(f"the weights are for {learnt}, not {', '.join(names)}")
        self.relations = graph.manifest.relations
        self.plausibility = Plausibility(graph)

    @cached_property
    def known(self) -> Queries:
        """All triples of the graph, as queries with their answers."""
        return Queries.of(self.graph.whole().triples, self.relations)

    # Scores

    def score(self, batch: QueryBatch) -> np.ndarray:
        """Return the scores (B, N) of all entities."""
        weights = self.weights.of(batch.relation).astype(np.float32)  # (B, F)
        total = np.zeros((len(batch), len(self.graph)), np.float32)
        for index, source in enumerate(self.sources):
            own = weights[:, 2 * index : 2 * index + 2]
            if own.any():
                log_p, log_rank = features(logits(source, batch))
                total += own[:, :1] * log_p + own[:, 1:] * log_rank
        if self.config.plausible_only:
            total[self.plausibility.implausible(batch)] += IMPLAUSIBLE
        return total

    def rank(self, split: str = "test", *, progress: Progress | None = None) -> Ranking:
        """Rank the triples of a split among all entities (see `kgraft.measure.Ranking`)."""
        queries = self._queries(split)
        size = QUERIES * len(self.graph)
        return rank(
            self.score,
            queries,
            self.known,
            entities=len(self.graph),
            scores=size,
            progress=progress,
        )

    def _queries(self, split: str) -> Queries:
        triples = self.graph.split(split).triples  # type: ignore[arg-type]
        if not len(triples):
            raise BadInput(
                f"{self.graph.manifest.name} has no triples in the split {split!r}",
                remedy="hold some out with 'kgraft graph split'",
            )
        return Queries.of(triples, self.relations)

    # Learning

    def fit(self, *, seed: int = 0, progress: Progress | None = None) -> None:
        """Learn the weights of sources, and probabilities, on the validation triples."""
        valid = self._queries("valid")
        draw = stream(seed)
        order = np.sort(draw.permutation(len(valid))[:LEARNT_FROM])
        shown = progress or Silent()
        shown.start("weighing sources", 1)
        names = [source.name for source in self.sources]
        examples = collect_examples(self.sources, valid, self.known, order, QUERIES)
        self.weights = fit_weights(names, examples)
        shown.advance(1)
        train = Queries.of(self.graph.split("train").triples, self.relations)
        self.calibration = calibrate_answers(
            self.score, valid.select(order), train, len(self.graph)
        )

    # Predictions

    def tails(
        self,
        head: EntityLike,
        relation: Relation | str | int,
        *,
        limit: int = 10,
        new: bool = False,
        reasons: int = 1,
    ) -> list[Prediction]:
        """Return the likeliest t of (head, relation, t), best first; `new`: no known ones."""
        return self._predict(
            self.graph.index(head), self._relation(relation), limit, new=new, reasons=reasons
        )

    def heads(
        self,
        relation: Relation | str | int,
        tail: EntityLike,
        *,
        limit: int = 10,
        new: bool = False,
        reasons: int = 1,
    ) -> list[Prediction]:
        """Return the likeliest h of (h, relation, tail), best first; `new`: no known ones."""
        inverse = self._relation(relation) + self.relations
        return self._predict(self.graph.index(tail), inverse, limit, new=new, reasons=reasons)

    def _relation(self, which: Relation | str | int) -> int:
        return which.index if isinstance(which, Relation) else self.graph.relation(which).index

    def _predict(
        self, entity: int, relation: int, limit: int, *, new: bool, reasons: int
    ) -> list[Prediction]:
        batch = QueryBatch(np.array([entity]), np.array([relation]))
        scores = self.score(batch)[0]
        answers = self.known.known(batch)[1]
        probability = answer_probabilities(self.calibration, scores, answers)
        settled = self.config.plausible_only and self.plausibility.is_settled(entity, relation)
        allowed = (scores > IMPLAUSIBLE / 2) & (not settled)
        allowed[answers] = not new
        best = _best_first(scores, allowed, limit).tolist()
        is_known = set(answers.tolist())
        return [
            Prediction(
                answer,
                float(scores[index]),
                None if probability is None else float(probability[index]),
                index in is_known,
                tuple(self.reasons(entity, relation, index, limit=reasons)) if reasons else (),
            )
            for index, answer in zip(best, self.graph.entities_at(best), strict=True)
        ]

    # Reasons

    def reasons(self, entity: int, relation: int, answer: int, *, limit: int = 3) -> list[Reason]:
        """Return why an answer may be right: reasons that rest on facts first."""
        reasons = [
            reason
            for source in self.sources
            for reason in source.reasons(entity, relation, answer, limit=limit)
        ]
        return sorted(reasons, key=lambda r: (not r.paths, -r.score))[:limit]

    def explain(
        self,
        head: EntityLike,
        relation: Relation | str | int,
        tail: EntityLike,
        *,
        limit: int = 5,
    ) -> Explanation:
        """Return all that speaks for a fact, and against it."""
        ends = self.graph.index(head), self.graph.index(tail)
        which = self._relation(relation)
        reasons: list[Reason] = []
        for source in self.sources:
            reasons += source.reasons(ends[0], which, ends[1], limit=limit)
        reasons += objections(self.graph, self.plausibility, ends[0], which, ends[1])
        return Explanation(
            self.graph.entity(ends[0]),
            self.graph.relation(which),
            self.graph.entity(ends[1]),
            *self._judge(ends[0], which, ends[1]),
            tuple(reasons),
        )

    def _judge(self, head: int, relation: int, tail: int) -> tuple[bool, int, float | None]:
        """Return whether a fact is known, the rank of its tail, and its probability."""
        batch = QueryBatch(np.array([head]), np.array([relation]))
        scores, answers = self.score(batch)[0], self.known.known(batch)[1]
        others = answers[answers != tail]
        probability = answer_probabilities(self.calibration, scores, others)
        rivals = np.delete(scores, np.union1d(others, [tail]))
        rank = 1 + int((rivals > scores[tail]).sum())
        return (
            tail in answers.tolist(),
            rank,
            None if probability is None else float(probability[tail]),
        )

    # Saving

    def write(self, out: str | Path, *, overwrite: bool = False) -> None:
        """Write the weights to a folder that appears complete, or not at all."""
        facts = {"graph": self.graph.manifest.name, "version": self.graph.manifest.version}
        with new_folder(Path(out), self.kind, overwrite=overwrite) as partial:
            self.save_pretrained(partial, facts=facts)

    def _write_files(self, folder: Path) -> None:
        stored = {"weights": self.weights.to_dict(), "calibration": self.calibration}
        with new_file(folder / WEIGHTS) as partial:
            partial.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: CompleterConfig,
        manifest: ModelManifest,
        **context: Any,
    ) -> Self:
        """Read a completer for a `graph` and the `sources` that its config names."""
        learnt, own = manifest.facts.get("graph"), context["graph"].manifest.name
        if learnt is not None and learnt != own:
            reason = f"the weights were learnt on {learnt}, not on {own}"
            remedy = "learn them again: kgraft reason combine"
            raise BadInput(reason, file=str(folder), remedy=remedy)
        stored = json.loads((folder / WEIGHTS).read_text(encoding="utf-8"))
        return cls(
            context["graph"],
            context["sources"],
            weights=SourceWeights.from_dict(stored["weights"]),
            calibration=stored["calibration"],
            config=config,
        )
