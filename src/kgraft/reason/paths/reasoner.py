"""The reasoner: what follows from the paths of any graph, without anything learnt about it.

    score(u, q, v) = MLP_path([hᵀ(v), q]) + MLP_ends([z_q(v), q])

hᵀ(v) sums the paths from u to v (see `network`), over the ball of u alone: an entity that no path
of T steps reaches has hᵀ(v) = 0. z_q(v) = Σ_r log(1 + count_r(v)) w(r) says which relations v has
at all, as q sees them: whether v is the kind of thing that q leads to.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.arrays import expand
from kgraft.reason.paths.balls import MOST, Balls, draw_balls
from kgraft.reason.paths.network import EntityNetwork, RelationNetwork, Trace
from kgraft.reason.paths.path_graph import PathGraph
from kgraft.reason.paths.relation_graph import KINDS
from kgraft.reason.settings import ReasonerConfig
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import load_tensors, write_tensors
from kgraft.training import ModelManifest, Pretrained, seeded

WEIGHTS = "reasoner.safetensors"
ISOLATED = -30.0  # score by ends of an entity without facts: nothing speaks for it
SHIPPED = Path(__file__).parents[2] / "data" / "reasoner"


@dataclass(frozen=True)
class AskedFacts:
    """Queries, each with an answer whose fact is hidden while it is asked for, or without."""

    entity: np.ndarray  # (B,)
    relation: np.ndarray  # (B,) r, or R + r for heads
    answer: np.ndarray | None = None  # (B,)

    def __len__(self) -> int:
        return len(self.entity)


class Reasoner(nn.Module, Pretrained[ReasonerConfig]):
    """Scores answers of queries on any graph."""

    kind = Kind("reasoner", MODEL_MANIFEST)
    made_by = "kgraft reason train"
    config_class = ReasonerConfig

    def __init__(self, config: ReasonerConfig | None = None, *, seed: int = 0) -> None:
        super().__init__()
        self.config = config or ReasonerConfig()
        self.calibration: dict[str, Any] | None = None  # of probabilities, on graphs it never saw
        width = self.config.width
        with seeded(seed):
            self.relations = RelationNetwork(width, self.config.relation_layers, KINDS)
            self.entities = EntityNetwork(width, self.config.entity_layers)
            self.path_score = _scorer(2 * width, width)
            self.end_norm = nn.LayerNorm(width)
            self.end_score = _scorer(2 * width + 1, width)

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Self:
        """Load a reasoner for use; None is the one that ships with kgraft."""
        return cls.from_pretrained(SHIPPED if folder is None else folder)

    def relation_vectors(self, graph: PathGraph, relations: Tensor) -> Tensor:
        """Return vectors (K, 2R, D) of all relations for each of some relations, (K,).

        A query for heads is conditioned on the relation itself, as one for tails is.
        """
        vectors: Tensor = self.relations(relations, graph.relation_edges)
        return vectors

    def forward(self, graph: PathGraph, asked: AskedFacts, *, most: int = MOST) -> Tensor:
        """Return the scores (B, N) of all entities."""
        relation = torch.from_numpy(asked.relation).long()
        direct, row = torch.unique(relation % graph.relations, return_inverse=True)
        vectors = self.relation_vectors(graph, direct)  # (K, 2R, D)
        query = vectors[row, relation]  # (B, D)
        ends = self.end_scores(graph, vectors, row, relation)  # (B, N)
        if asked.answer is not None:
            ends = self._without_asked(graph, asked, vectors[row], query, ends)
        return self.add_paths(graph, asked, vectors[row], query, ends, most=most)

    def add_paths(
        self,
        graph: PathGraph,
        asked: AskedFacts,
        vectors: Tensor,
        query: Tensor,
        ends: Tensor,
        *,
        most: int = MOST,
    ) -> Tensor:
        """Add the scores of paths to those by ends (B, N); queries see `vectors` (B, 2R, D)."""
        balls = draw_balls(
            graph.edges,
            graph.relations,
            asked.entity,
            steps=self.config.entity_layers,
            asked=None if asked.answer is None else asked.relation,
            answer=asked.answer,
            most=most,
            for_training=torch.is_grad_enabled(),
        )
        reached, unreached = self.path_scores(balls, vectors, query)
        rows, entity = (torch.from_numpy(a).long() for a in (balls.query, balls.entity))
        change = reached - unreached[rows]
        return (ends + unreached[:, None]).index_put((rows, entity), change, accumulate=True)

    def path_scores(
        self, balls: Balls, vectors: Tensor, query: Tensor, *, trace: Trace | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the scores of what is reached, (M,), and of what is not, (B,)."""
        flat = vectors.reshape(1, -1, vectors.shape[-1])  # (1, B · 2R, D)
        states = self.entities(query[None], flat, balls.edges, balls.rows[1:], trace)[0]
        rows = torch.from_numpy(balls.query).long()
        reached = self.path_score(torch.cat([states, query[rows]], dim=1))[:, 0]
        unreached = self.path_score(torch.cat([torch.zeros_like(query), query], dim=1))[:, 0]
        return reached, unreached

    def end_scores(
        self, graph: PathGraph, vectors: Tensor, row: Tensor, relation: Tensor
    ) -> Tensor:
        """Return the scores of all entities by the relations that they have, (B, N).

        Query b asks for relation b, as the vectors of row b see it.
        """
        distinct, back = torch.unique(torch.stack([row, relation]), dim=1, return_inverse=True)
        scores = []
        for k, which in distinct.T.tolist():
            sums = graph.relation_sums(vectors[k])  # (N, D)
            scores.append(self._end_score(sums, vectors[k, which], graph.degree_weights))
        return torch.stack(scores)[back]

    def _end_score(self, sums: Tensor, query: Tensor, degree: Tensor) -> Tensor:
        """Return the scores (n,) of sums Σ log(1 + count) w, (n, D), and log(1 + degree), (n,)."""
        parts = [self.end_norm(sums), query.expand(len(sums), -1), degree[:, None]]
        scores: Tensor = self.end_score(torch.cat(parts, dim=1))[:, 0]
        return scores.masked_fill(degree == 0, ISOLATED)

    def _without_asked(
        self, graph: PathGraph, asked: AskedFacts, vectors: Tensor, query: Tensor, ends: Tensor
    ) -> Tensor:
        """Score each right answer as if it had not the fact that is asked for."""
        assert asked.answer is not None
        counts = graph.relation_counts[asked.answer].toarray()  # (B, 2R)
        np.subtract.at(counts, _asked_edges(graph, asked), 1)
        weights = torch.from_numpy(np.log1p(counts))
        degree = torch.from_numpy(np.log1p(counts.sum(1)))
        sums = torch.einsum("br,brd->bd", weights, vectors)
        scores = self._end_score(sums, query, degree)
        answer = torch.from_numpy(asked.answer).long()
        return ends.index_put((torch.arange(len(asked)), answer), scores)

    def _write_files(self, folder: Path) -> None:
        write_tensors(folder / WEIGHTS, self.state_dict())

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: ReasonerConfig,
        manifest: ModelManifest,
        **context: Any,  # noqa: ARG003
    ) -> Self:
        reasoner = cls(config)
        load_tensors(reasoner, folder / WEIGHTS)
        reasoner.calibration = manifest.facts.get("calibration")
        return reasoner.eval()


def _asked_edges(graph: PathGraph, asked: AskedFacts) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of answers that are asked facts, as (row, relation or inverse).

    A fact of an entity with itself is two of them; one that the graph does not have is none.
    """
    assert asked.answer is not None
    edges = graph.edges
    row, edge = expand(edges.bounds[asked.answer], edges.bounds[asked.answer + 1])
    kind = edges.relation[edge]
    inverse = (asked.relation + graph.relations) % (2 * graph.relations)
    is_loop = (asked.entity == asked.answer)[row] & (kind == asked.relation[row])
    is_asked = edges.neighbour[edge] == asked.entity[row]
    is_asked &= (kind == inverse[row]) | is_loop
    return row[is_asked], kind[is_asked]


def _scorer(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 2 * width), nn.ReLU(), nn.Linear(2 * width, 1))
