"""The relation paths that a graft read between the candidates of a text, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from kgraft.graft.candidate_pairs import CandidatePairs
from kgraft.graft.interfaces import Graft, Knowledge
from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import PathEncoder, PathSource
from kgraft.graft.path_index import END, StepCodes
from kgraft.graph import Entity
from kgraft.text import MentionBatch


@dataclass(frozen=True)
class ExplainedPath:
    """A relation path from one candidate to another, and its weight among those of the first."""

    layer: int
    id: str
    other: str
    words: str
    confidence: float  # 1 where facts say it
    weight: float  # a


@torch.no_grad()
def explain_paths(
    layer: int, graft: Graft, knowledge: Knowledge, mentions: MentionBatch, output: GraftOutput
) -> list[ExplainedPath]:
    """Return the paths that were read between the candidates of one text.

    Those come first that weigh most, times what was mixed in of their candidate. Of mentions that
    have a candidate in common, the one in which a path weighs most counts.
    """
    if graft.paths is None or not isinstance(knowledge, PathSource):
        return []
    read = _weigh(graft.paths, knowledge, mentions, output).best_first()
    names = _Names(knowledge)
    return [
        ExplainedPath(layer, one.id, other.id, names.path(one, other, steps), confidence, weight)
        for one, other, steps, confidence, weight in zip(
            knowledge.entities(read.near),
            knowledge.entities(read.far),
            names.steps(read.code),
            read.confidence.tolist(),
            read.weight.tolist(),
            strict=True,
        )
    ]


class _ReadPaths(NamedTuple):
    """Paths that were read, from a near candidate to a far one."""

    near: np.ndarray  # (n,) entity
    far: np.ndarray  # (n,) entity
    code: np.ndarray  # (n,) see `StepCodes`
    confidence: np.ndarray  # (n,)
    weight: np.ndarray  # (n,) a
    mixed_in: np.ndarray  # (n,) how much of the near candidate was mixed in

    def best_first(self) -> _ReadPaths:
        """Return the distinct paths of candidates that were mixed in, by what they add."""
        order = np.argsort(-self.weight * self.mixed_in, kind="stable")
        order = order[self.mixed_in[order] > 0]
        keys = np.stack([self.near, self.far, self.code], axis=1)[order]
        order = order[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
        return _ReadPaths(*(column[order] for column in self))


def _weigh(
    encoder: PathEncoder, source: PathSource, mentions: MentionBatch, output: GraftOutput
) -> _ReadPaths:
    """Return all paths between the candidates of mentions, as a graft weighed them."""
    pairs = CandidatePairs.of(mentions)
    paths = source.paths_between(pairs.entity, pairs.other_entity)
    _, shares = encoder.weigh(pairs, paths, source.relation_vectors().to(encoder.device))
    return _ReadPaths(
        pairs.entity[paths.pair],
        pairs.other_entity[paths.pair],
        paths.code,
        paths.weight,
        shares.cpu().numpy(),
        output.weights.flatten().cpu().numpy()[pairs.row[paths.pair]],
    )


class _Names:
    """Sequences of relations in words."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.relations = knowledge.graph.all_relations

    def steps(self, code: np.ndarray) -> list[list[int]]:
        """Return the steps of sequences, END before the first."""
        steps: list[list[int]] = StepCodes(len(self.relations)).steps(code).tolist()
        return steps

    def path(self, one: Entity, other: Entity, steps: list[int]) -> str:
        """Say a path as `Paris — capital of → … ← borders — Germany`."""
        arrows = [self._arrow(step) for step in steps if step != END]
        return f"{one.label} {' … '.join(arrows)} {other.label}"

    def _arrow(self, step: int) -> str:
        turned, relation = divmod(step, len(self.relations))
        label = self.relations[relation].label
        return f"← {label} —" if turned else f"— {label} →"
