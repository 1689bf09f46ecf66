"""How well each model of `kgraft.embed` completes WN18RR."""

from __future__ import annotations

from benchmarks.embed.quality import measure

if __name__ == "__main__":
    measure(
        "wn18rr",
        {
            "transe": (0.228, 0.520),
            "rotate": (0.476, 0.553),
            "distmult": (0.452, 0.530),
            "complex": (0.480, 0.550),
        },
    )
