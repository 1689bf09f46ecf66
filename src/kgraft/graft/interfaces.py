"""What a graft is, and what it asks of the knowledge that it brings in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from torch import Tensor, nn

from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import PathEncoder, PathSource, PathVectors
from kgraft.graph import Entity, Graph, Mentions
from kgraft.settings import Settings
from kgraft.text import MentionBatch

if TYPE_CHECKING:
    from kgraft.graft.relations import Relations


class Knowledge(Protocol):
    """What an encoder may look up for a text; entities are indices below `count`."""

    name: str
    graph: Graph
    count: int  # of entities
    size: int  # of an entity's vector
    closed: bool  # whether one of the candidates of a mention is always right

    def find(self, texts: Sequence[str]) -> Mentions:
        """Find the mentions of texts, with candidates and priors."""
        ...

    def take(self, entities: Tensor) -> Tensor:
        """Return the vectors of entities (…) as (…, size); zeros below 0."""
        ...

    def entities(self, indices: np.ndarray) -> list[Entity]:
        """Return entities by their indices, to show."""
        ...

    @property
    def relations(self) -> Relations:
        """The relations between entities."""
        ...

    def identity(self) -> dict[str, object]:
        """Return what must be the same again when a graft is loaded."""
        ...


class Graft(nn.Module):
    """A module between two layers of an encoder, which brings in what is known of mentions.

    Subclasses are made by `(host_size, knowledge, settings)`, where settings may be None.
    """

    settings_class: ClassVar[type[Settings]]
    linker_parts: ClassVar[tuple[str, ...]] = ()
    """What the names of those parameters begin with that choose among the candidates."""

    kind = ""  # its name in the registry, set where it is attached
    settings: Any  # of `settings_class`
    mention_size: int  # of the vector that it makes of a mention
    paths: PathEncoder | None  # `path_encoder(knowledge, size)`, made last in `__init__`

    def __init__(
        self,
        host_size: int,  # noqa: ARG002
        knowledge: Knowledge,  # noqa: ARG002
        settings: Any = None,  # noqa: ANN401, ARG002
    ) -> None:
        super().__init__()
        self.paths = None

    @abstractmethod
    def forward(
        self, hidden: Tensor, mentions: MentionBatch, knowledge: Knowledge
    ) -> tuple[Tensor, GraftOutput]:
        """Take H (B, L, D), what a layer gives out, to H' (B, L, D), what the next one reads."""

    def path_vectors(self, mentions: MentionBatch, knowledge: Knowledge) -> PathVectors | None:
        """Return what paths to the other mentions of a text add to candidates, if there are any."""
        if self.paths is None or not isinstance(knowledge, PathSource):
            return None
        vectors = self.paths(mentions, knowledge)
        return vectors if len(vectors.row) else None
