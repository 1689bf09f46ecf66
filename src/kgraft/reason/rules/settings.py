"""How rules are mined."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.settings import COUNT, FRACTION, SEED, Settings, setting

MINUTES = (0, 100_000)


@dataclass(frozen=True)
class MiningSettings(Settings):
    """How rules are mined; the same settings and number of rounds give the same rules."""

    minutes: float = setting(5.0, "Minutes to search for longer paths.", MINUTES)
    rounds: int | None = setting(
        None,
        "Rounds of samples in place of minutes; the same rounds give the same rules.",
        (0, COUNT[1]),
    )
    seed: int = setting(0, "Seed of all random choices.", SEED)
    longest: int = setting(3, "Atoms in the body of a path rule, at most.", (1, 3))
    long_paths: int = setting(
        100, "Rules of three atoms that are kept per relation, the most reliable.", COUNT
    )
    constants: bool = setting(True, "Mine rules with constants, too.")
    min_support: int = setting(2, "Facts that a path rule explains, at least.", COUNT)
    constant_support: int = setting(
        5, "Facts that a rule with a constant explains, at least.", COUNT
    )
    min_confidence: float = setting(0.01, "Confidence of a path rule, at least.", FRACTION)
    constant_confidence: float = setting(
        0.03, "Confidence of a rule with a constant, at least.", FRACTION
    )
    pessimism: float = setting(
        5.0, "Added to the groundings of a body, against rules seen rarely.", (0, 1000)
    )
    hub_edges: int = setting(
        20_000, "Entities with more edges do not count for rules with constants.", COUNT
    )
    groundings: int = setting(
        50_000, "Edges visited to count one rule; beyond, it is counted on a sample.", COUNT
    )
