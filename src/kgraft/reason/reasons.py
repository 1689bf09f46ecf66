"""`Reason`: why a fact may hold, or may not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgraft.graph import GraphPath


@dataclass(frozen=True)
class Reason:
    """What one source says for a fact, or against it.

    `paths` are the facts of the graph that it rests on, as chains that begin at the entity that was
    asked about. A reason without paths is one of vectors or texts, which cannot be checked.
    """

    source: str  # rules, paths, embedding, text, facts or graph
    words: str  # one line for people
    score: float  # between 0 and 1: a rule's confidence, a path's importance, …
    paths: tuple[GraphPath, ...] = ()
    against: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as JSON has it; facts are triples of ids."""
        return {
            "source": self.source,
            "words": self.words,
            "score": self.score,
            "against": self.against,
            "facts": [list(triple) for path in self.paths for triple in path.triples()],
        }
