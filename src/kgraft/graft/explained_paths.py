"""The relation paths that a graft read between the candidates of a text, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgraft.graft.candidate_pairs import CandidatePairs
from kgraft.graft.interfaces import Graft, Knowledge
from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import PathSource
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
    pairs = CandidatePairs.of(mentions)
    paths = knowledge.paths_between(pairs.entity, pairs.other_entity)
    vectors = knowledge.relation_vectors().to(graft.paths.device)
    _, shares = graft.paths.weigh(pairs, paths, vectors)
    weight = shares.cpu().numpy()
    mixed_in = output.weights.flatten().cpu().numpy()[pairs.row[paths.pair]]
    near, far = pairs.entity[paths.pair], pairs.other_entity[paths.pair]
    order = np.argsort(-weight * mixed_in, kind="stable")
    order = order[mixed_in[order] > 0]
    keys = np.stack([near, far, paths.code], axis=1)[order]
    order = order[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
    steps = StepCodes(len(vectors) // 2).steps(paths.code[order]).tolist()
    names = _Names(knowledge)
    return [
        ExplainedPath(layer, one.id, other.id, names.path(one, other, row), confidence, share)
        for one, other, row, confidence, share in zip(
            knowledge.entities(near[order]),
            knowledge.entities(far[order]),
            steps,
            paths.weight[order].tolist(),
            weight[order].tolist(),
            strict=True,
        )
    ]


class _Names:
    """Sequences of relations in words."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.relations = knowledge.graph.all_relations

    def path(self, one: Entity, other: Entity, steps: list[int]) -> str:
        """Say a path as `Paris — capital of → … ← borders — Germany`."""
        arrows = [self._arrow(step) for step in steps if step != END]
        return f"{one.label} {' … '.join(arrows)} {other.label}"

    def _arrow(self, step: int) -> str:
        turned, relation = divmod(step, len(self.relations))
        label = self.relations[relation].label
        return f"← {label} —" if turned else f"— {label} →"
