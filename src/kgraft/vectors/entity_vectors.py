"""Entity vectors: the one interface by which models get a vector for an entity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
import torch

from kgraft.columns import list_rows, numbers
from kgraft.errors import BadInput
from kgraft.graph import Entity, EntityLike, Graph
from kgraft.notebook import html_block
from kgraft.vectors.nearest import nearest_rows

EntityIndices = np.ndarray | torch.Tensor | Sequence[int]
"""Entity indices of a graph, in any shape; -1 is padding."""

ORIGIN = "U16"  # how NumPy holds the name of an origin
NONE = "none"  # the origin of an entity of which nothing is known
BLOCK = 1 << 22  # numbers in memory at once in work over all entities: 16 MB


class SimilarEntity(NamedTuple):
    """An entity, and how similar its vector is: the cosine of the two."""

    entity: Entity
    cosine: float

    def to_dict(self) -> dict[str, Any]:
        """Return id and label of the entity, and the cosine."""
        return {"id": self.entity.id, "label": self.entity.label, "cosine": self.cosine}


class EntityVectors(ABC):
    """Whatever gives a vector for each entity of `graph`; all have `dimension` numbers.

    | you have                                   | use                                         |
    | ------------------------------------------ | ------------------------------------------- |
    | labels and descriptions, nothing trained   | `TextVectors`                               |
    | a table trained on the triples             | `TableVectors`                              |
    | such a table, and entities added since     | `TableVectors` with `cold_start=…`              |
    | both, and a model that may weigh the two   | `CombinedVectors`                           |
    | what stands next to an entity              | `NeighbourVectors` of any of these          |
    | the ancestors of an entity   | `AncestorVectors`                           |
    | names that a model must be able to say     | `WordVectors`                               |
    | a trained graph attention over any of them | `AttentionVectors`                          |

    A kind of vectors defines `_take` and `_origin`, for indices that are entities.
    """

    graph: Graph
    dimension: int

    @abstractmethod
    def _take(self, entities: np.ndarray) -> torch.Tensor:
        """Return the vectors of (n,) entities, repeated ones too, as (n, D) float32."""

    @abstractmethod
    def _origin(self, entities: np.ndarray) -> np.ndarray:
        """Return the origin of each of (n,) entities."""

    def __repr__(self) -> str:
        size = f"{len(self):,} entities, dimension {self.dimension}"
        return f"<{type(self).__name__} of {self.graph.manifest.name}: {size}>"

    def _repr_html_(self) -> str:
        name = self.graph.manifest.name
        rows = [("graph", name), ("entities", f"{len(self):,}"), ("dimension", self.dimension)]
        return html_block(type(self).__name__, rows)

    def __len__(self) -> int:
        return len(self.graph.entities)

    def take(self, entities: EntityIndices) -> torch.Tensor:
        """Return the vectors of entities of any shape (…), as (…, D) float32 on the CPU.

        Zeros stand for padding (-1) and for entities of which nothing is known. The tensor is
        the caller's own and carries no gradient.
        """
        asked = self._checked(entities)
        flat = asked.ravel()
        real = flat >= 0
        if real.all():
            vectors = self._take(flat)
        else:
            vectors = torch.zeros(len(flat), self.dimension)
            vectors[torch.from_numpy(real)] = self._take(flat[real])
        return vectors.reshape(*asked.shape, self.dimension)

    def origin(self, entities: EntityIndices) -> np.ndarray:
        """Return where each vector comes from: "trained", "text", "neighbours" or "none"."""
        asked = self._checked(entities)
        origins = np.full(asked.shape, NONE, ORIGIN)
        real = asked >= 0
        origins[real] = self._origin(asked[real])
        return origins

    def _checked(self, entities: EntityIndices) -> np.ndarray:
        asked = np.asarray(entities.cpu() if isinstance(entities, torch.Tensor) else entities)
        if asked.size and not np.issubdtype(asked.dtype, np.integer):
            raise BadInput(f"entity indices are {asked.dtype}", remedy="give whole numbers")
        strange = asked[(asked < -1) | (asked >= len(self))]
        if strange.size:
            limits = f"indices go from 0 to {len(self) - 1}, and -1 is padding"
            raise BadInput(f"no entity has the index {strange.flat[0]}", remedy=limits)
        return asked.astype(np.int64)

    def chunks(self, rows: int | None = None) -> Iterator[torch.Tensor]:
        """Yield the vectors of all entities in order, `rows` at a time (about 16 MB)."""
        for _, vectors in self._blocks(np.arange(len(self)), rows):
            yield vectors

    def all(self) -> torch.Tensor:
        """Return the vectors of all entities, (N, D): the whole matrix, in memory."""
        vectors = torch.empty(len(self), self.dimension)
        for entities, block in self._blocks(np.arange(len(self))):
            vectors[entities[0] : entities[-1] + 1] = block
        return vectors

    def _blocks(
        self, entities: np.ndarray, rows: int | None = None
    ) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
        rows = rows or max(1, BLOCK // self.dimension)
        for first in range(0, len(entities), rows):
            block = entities[first : first + rows]
            yield block, self._take(block)

    def nearest(
        self,
        query: EntityLike | np.ndarray | torch.Tensor,
        *,
        limit: int = 10,
        same_type: bool = False,
        among: EntityIndices | None = None,
    ) -> list[SimilarEntity]:
        """Return the entities most like an entity or a vector (D,), best first.

        An entity is given as such, by id, by exact label or by index. The entity itself and
        entities without a vector are left out; equals come in order of their indices. `among`
        looks at these entities only, `same_type` only at those that share a type with the entity
        asked for.
        """
        if limit < 1:
            raise BadInput(f"limit is {limit}", remedy="give 1 or more")
        vector, entity = self._queried(query)
        entities = np.arange(len(self)) if among is None else np.unique(self._checked(among))
        if same_type:
            entities = np.intersect1d(entities, self._of_same_type(entity))
        entities = entities[(entities >= 0) & (entities != entity)]
        indices, cosines = nearest_rows(self._blocks(entities), vector, limit)
        nearest = self.graph.entities_at(indices)
        return [SimilarEntity(*pair) for pair in zip(nearest, cosines.tolist(), strict=True)]

    def _queried(
        self, query: EntityLike | np.ndarray | torch.Tensor
    ) -> tuple[torch.Tensor, int | None]:
        """Return the vector that is asked for, and the index of the entity whose it is, if any."""
        if isinstance(query, Entity | str | int | np.integer):
            index = self.graph.index(query)
            return self.take([index])[0], index
        vector = torch.as_tensor(query, dtype=torch.float32).detach().cpu()
        if vector.shape != (self.dimension,):
            given = "×".join(map(str, vector.shape))
            raise BadInput(f"the vector has {given} numbers", remedy=f"give {self.dimension}")
        if not torch.isfinite(vector).all():
            raise BadInput("the vector holds a number that is not finite")
        return vector, None

    def _of_same_type(self, entity: int | None) -> np.ndarray:
        if entity is None:
            raise BadInput("same_type needs an entity", remedy="pass the entity, not a vector")
        row, types = list_rows(self.graph.entities["types"])
        same = pc.is_in(types, value_set=types.filter(row == entity))
        return np.unique(row[numbers(same)])


def same_graph(one: Graph, other: Graph) -> None:
    """Refuse vectors of different graphs: their indices mean different entities."""
    if one.manifest.version != other.manifest.version:
        names = (f"{g.manifest.name or g.folder} ({g.manifest.version})" for g in (one, other))
        raise BadInput(
            f"vectors of different graphs: {' and '.join(names)}", remedy="open both on one graph"
        )
