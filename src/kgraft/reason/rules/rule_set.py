"""`RuleSet`: rules as columns of one table, with support and confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

LONGEST = 3  # atoms in a body


@dataclass(frozen=True)
class RuleSet:
    """Horn rules by index, in no particular order.

    Relations are 0…R−1, and R + r for the inverse of r. There are two forms:

    - closed paths `head(X, Y) ⇐ b₁(X, Z₁), …, bₙ(Zₙ₋₁, Y)`, with `constant` −1;
    - rules with a constant, `head(X, c) ⇐ b(X, d)`, `head(X, c) ⇐ b(X, Z)` (`body_constant` −1),
      and `head(X, c)` without a body (`body` all −1).

    Terms with different names mean different entities, but for c and d, which may be the same.
    """

    head: np.ndarray  # (K,) int32
    constant: np.ndarray  # (K,) int32: c, −1 for a closed path
    body: np.ndarray  # (K, 3) int32, −1 behind the last atom
    body_constant: np.ndarray  # (K,) int32: d, −1 where there is none
    support: np.ndarray  # (K,) int64: pairs (X, Y) for which body and head hold
    body_count: np.ndarray  # (K,) int64: pairs for which the body holds
    sampled: np.ndarray  # (K,) bool: both were counted on a sample of the groundings
    pessimism: float = 5.0

    @classmethod
    def empty(cls, pessimism: float = 5.0) -> RuleSet:
        """Return no rules."""
        column = np.zeros(0, np.int32)
        counts = np.zeros(0, np.int64)
        body = np.zeros((0, LONGEST), np.int32)
        return cls(column, column, body, column, counts, counts, np.zeros(0, bool), pessimism)

    @classmethod
    def concat(cls, parts: Iterable[RuleSet], pessimism: float = 5.0) -> RuleSet:
        """Join several sets of rules."""
        sets = [cls.empty(pessimism), *parts]
        columns = [field.name for field in fields(cls) if field.name != "pessimism"]
        joined = {name: np.concatenate([getattr(s, name) for s in sets]) for name in columns}
        return cls(**joined, pessimism=pessimism)

    def __len__(self) -> int:
        return len(self.head)

    @property
    def confidence(self) -> np.ndarray:
        """Support / (body count + pessimism), (K,): a rule that is seen rarely is trusted less."""
        return self.support / np.maximum(self.body_count + self.pessimism, 1e-12)

    @property
    def length(self) -> np.ndarray:
        """How many atoms the bodies have, (K,)."""
        return (self.body >= 0).sum(1)

    @property
    def is_closed(self) -> np.ndarray:
        """Which rules are closed paths, (K,)."""
        return self.constant < 0

    def take(self, rows: np.ndarray) -> RuleSet:
        """Return some of the rules (rows or a mask)."""
        columns = [field.name for field in fields(self) if field.name != "pessimism"]
        taken = {name: getattr(self, name)[rows] for name in columns}
        return RuleSet(**taken, pessimism=self.pessimism)

    def sorted(self) -> RuleSet:
        """Return the rules by confidence, then support, best first, always in the same order."""
        keys = (self.body_constant, *self.body.T[::-1], self.constant, self.head)
        return self.take(np.lexsort((*keys, -self.support, -self.confidence)))
