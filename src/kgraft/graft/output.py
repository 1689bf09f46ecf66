"""What a graft gives out besides the vectors that are read on."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch import Tensor


@dataclass(frozen=True)
class GraftOutput:
    """What a graft made of the mentions of a batch."""

    scores: Tensor  # (B, M, K) ψ, -inf where there is no candidate
    weights: Tensor  # (B, M, K) how much of each candidate was mixed in; zeros for none of them
    attention: Tensor  # (B, L, M) how much each word took from each span
    mention_vectors: Tensor  # (B, M, E) each span with what was mixed in

    def cpu(self) -> GraftOutput:
        """Return the same on the CPU."""
        return GraftOutput(*(getattr(self, f.name).cpu() for f in fields(self)))

    @property
    def chosen(self) -> Tensor:
        """The rank of the candidate that weighs most, -1 where none does, (B, M)."""
        best = self.weights.argmax(-1)
        return best.masked_fill((self.weights == 0).all(-1), -1)
