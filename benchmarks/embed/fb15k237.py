"""How well each model of `kgraft.embed` completes FB15k-237."""

from __future__ import annotations

from benchmarks.embed.quality import measure

if __name__ == "__main__":
    measure(
        "fb15k237",
        {
            "transe": (0.313, 0.497),
            "rotate": (0.333, 0.522),
            "distmult": (0.343, 0.531),
            "complex": (0.360, 0.545),
        },
    )
