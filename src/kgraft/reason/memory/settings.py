"""Settings of a memory of facts."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import SIZE, Settings, setting


@dataclass(frozen=True)
class RecallSettings(Settings):
    """How a memory attends to its slots; the defaults were chosen on questions over Wikidata."""

    temperature: float = setting(0.04, "τ of the attention: small is sure.", (1e-6, 1e6))
    slots: int = setting(64, "Slots that are attended to, the best ones (M).", SIZE)
    prior: float = setting(0.01, "Weight of log p(entity | name) in a score.", (0, 100))
    nested: float = setting(0.1, "Taken from the score where a name is part of another.", (0, 100))
    candidates: int = setting(30, "Entities that a name may mean, the likeliest ones.", SIZE)
    shown: int = setting(5, "Entities that one line lists, the best connected ones.", SIZE)
