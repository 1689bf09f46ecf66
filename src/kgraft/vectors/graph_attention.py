"""Graph attention over relations: an entity's vector from its own and its neighbourhood's.

Yu et al. 2022, JAKET's knowledge module. Layer l, head k, for the edges (v, r, u) of entity v:

    M_ur = f(E_u, R_r)                       f(x, y) = x + y, or an MLP of both
    S_ur = a · [W E_v ⊕ W M_ur]              α = softmax over v's edges of LeakyReLU(S)
    m_v  = σ(Σ α W M_ur)                     the heads side by side
    E_v  = LayerNorm(m_v + E_v)

The relations' vectors are those of all layers. An edge that comes in, (u, r, v), counts as one of
the inverse relation: R_r + a vector of its own.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, embedding, leaky_relu

from kgraft.errors import BadInput
from kgraft.vectors.neighbourhood import Neighbourhood
from kgraft.vectors.settings import GraphAttentionSettings


class GraphAttention(nn.Module):
    """As many layers of attention as the hops that are looked at."""

    def __init__(self, size: int, settings: GraphAttentionSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or GraphAttentionSettings()
        self.size = size
        self.layers = nn.ModuleList(
            RelationalLayer(size, self.settings) for _ in range(self.settings.layers)
        )
        self.back = nn.Parameter(torch.zeros(size))

    def forward(self, neighbourhood: Neighbourhood, entities: Tensor, relations: Tensor) -> Tensor:
        """Return the vectors of the roots, (roots, F).

        `entities` are the first vectors of all rows of `neighbourhood`, (n, F), `relations` those
        of all relations, (R, F).
        """
        hops = len(neighbourhood.source)
        if hops != len(self.layers):
            raise BadInput(
                f"{hops} hops for {len(self.layers)} layers of graph attention",
                remedy="sample as many hops as there are layers",
            )
        both = torch.cat([relations, relations + self.back])
        bounds = neighbourhood.bounds
        vectors = [entities[a:b] for a, b in pairwise(bounds)]
        for layer in self.layers:
            vectors = [
                layer(
                    vectors[hop],
                    vectors[hop + 1],
                    neighbourhood.source[hop],
                    self._with_direction(neighbourhood, hop, relations),
                    both,
                )
                for hop in range(len(vectors) - 1)
            ]
        return vectors[0]

    @staticmethod
    def _with_direction(neighbourhood: Neighbourhood, hop: int, relations: Tensor) -> Tensor:
        """Return the relations of a hop's edges, of those that come in the inverse ones."""
        return neighbourhood.relation[hop] + len(relations) * (~neighbourhood.forward[hop]).long()


class RelationalLayer(nn.Module):
    """One layer: entities look along their edges."""

    def __init__(self, size: int, settings: GraphAttentionSettings) -> None:
        super().__init__()
        if size % settings.heads:
            reason = f"vectors of {size} numbers cannot be divided among {settings.heads} heads"
            raise BadInput(reason, remedy="give a number of heads that divides them")
        self.heads = settings.heads
        self.project = nn.Linear(size, size, bias=False)  # the W of all heads
        self.own = nn.Parameter(torch.empty(settings.heads, size // settings.heads))  # a, the half
        self.other = nn.Parameter(torch.empty(settings.heads, size // settings.heads))  # of each
        for part in (self.own, self.other):
            nn.init.xavier_uniform_(part)
        self.compose = (
            nn.Sequential(nn.Linear(2 * size, size), nn.GELU(), nn.Linear(size, size))
            if settings.composition == "mlp"
            else None
        )
        self.norm, self.dropout = nn.LayerNorm(size), nn.Dropout(settings.dropout)

    def forward(
        self, entities: Tensor, others: Tensor, source: Tensor, relation: Tensor, relations: Tensor
    ) -> Tensor:
        """Take the vectors of entities (n, F) to new ones.

        Edge i leads from entity source[i] along a relation to the vector others[i], (e, F).
        """
        seen = self._messages(others, relation, relations)  # W M, (e, heads, F / heads)
        mine = self._split(self.project(entities))
        scores = (mine * self.own).sum(-1)[source] + (seen * self.other).sum(-1)
        weights = softmax_by(leaky_relu(scores, 0.2), source, len(entities))  # (e, heads)
        weighed = (seen * self.dropout(weights)[..., None]).flatten(1)
        mixed = torch.zeros_like(entities).index_add_(0, source, weighed)
        new: Tensor = self.norm(elu(mixed) + entities)
        return new

    def _messages(self, others: Tensor, relation: Tensor, relations: Tensor) -> Tensor:
        """Return W f(E_u, R_r) of all edges; a sum is projected part by part."""
        if self.compose is None:
            along = embedding(relation, self.project(relations))
            return self._split(self.project(others) + along)
        both = torch.cat([others, embedding(relation, relations)], dim=-1)
        return self._split(self.project(self.compose(both)))

    def _split(self, vectors: Tensor) -> Tensor:
        return vectors.view(len(vectors), self.heads, vectors.shape[-1] // self.heads)


def softmax_by(scores: Tensor, group: Tensor, groups: int) -> Tensor:
    """Return the softmax of scores (e, …) over the rows of each group, (e,) indices below `groups`.

    >>> softmax_by(torch.zeros(3), torch.tensor([0, 1, 1]), 2)
    tensor([1.0000, 0.5000, 0.5000])
    """
    shape = (groups, *scores.shape[1:])
    where = group.reshape(-1, *[1] * (scores.dim() - 1)).expand_as(scores)
    least = scores.new_full(shape, -torch.inf)
    highest = least.scatter_reduce(0, where, scores.detach(), "amax")
    power = (scores - highest[group]).exp()
    total = scores.new_zeros(shape).index_add(0, group, power)
    return power / total[group]
