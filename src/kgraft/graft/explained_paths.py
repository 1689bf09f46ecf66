"""The relation paths that a graft read between the candidates of a text, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

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


class _ReadPaths(NamedTuple):
    """Paths between the candidates of a text, as a graft read them."""

    near: np.ndarray  # (n,) entity
    far: np.ndarray  # (n,)
    code: np.ndarray  # (n,)
    confidence: np.ndarray  # (n,)
    weight: np.ndarray  # (n,) a
    mixed_in: np.ndarray  # (n,) how much of the candidate was

    @classmethod
    def of(
        cls, encoder: PathEncoder, source: PathSource, mentions: MentionBatch, output: GraftOutput
    ) -> Self:
        """Weigh the paths between the candidates of mentions."""
        pairs = CandidatePairs.of(mentions)
        paths = source.paths_between(pairs.entity, pairs.other_entity)
        _, shares = encoder.weigh(pairs, paths, source.relation_vectors().to(encoder.device))
        ends = pairs.entity[paths.pair], pairs.other_entity[paths.pair]
        mixed_in = output.weights.flatten().cpu().numpy()[pairs.row[paths.pair]]
        return cls(*ends, paths.code, paths.weight, shares.cpu().numpy(), mixed_in)

    def best(self) -> Self:
        """Return those whose candidate was mixed in, each once, by how much they brought in."""
        order = np.argsort(-self.weight * self.mixed_in, kind="stable")
        order = order[self.mixed_in[order] > 0]
        keys = np.stack([self.near, self.far, self.code], axis=1)[order]
        order = order[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
        return type(self)(*(column[order] for column in self))


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
    paths = _ReadPaths.of(graft.paths, knowledge, mentions, output).best()
    relations = [relation.label for relation in knowledge.graph.all_relations]
    columns = (
        knowledge.entities(paths.near),
        knowledge.entities(paths.far),
        StepCodes(len(relations)).steps(paths.code).tolist(),
        paths.confidence.tolist(),
        paths.weight.tolist(),
    )
    return [
        ExplainedPath(layer, one.id, other.id, _words(one, other, steps, relations), *figures)
        for one, other, steps, *figures in zip(*columns, strict=True)
    ]


def _words(one: Entity, other: Entity, steps: list[int], relations: list[str]) -> str:
    """Say a path as `Paris — capital of → … ← borders — Germany`."""
    arrows = []
    for step in steps:
        if step != END:
            is_inverse, relation = divmod(step, len(relations))
            label = relations[relation]
            arrows.append(f"← {label} —" if is_inverse else f"— {label} →")
    return f"{one.label} {' … '.join(arrows)} {other.label}"
