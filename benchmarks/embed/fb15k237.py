"""How well each model of `kgraft.embed` completes FB15k-237."""

from __future__ import annotations

from benchmarks.embed.quality import measure
from benchmarks.harness import Benchmark

BENCHMARK = Benchmark(
    name="embed_fb15k237",
    measures="link prediction on FB15k-237 by each embedding model",
    minutes=130,
    data=("graphs/fb15k237",),
)

LEAST = {
    "transe": (0.313, 0.497),
    "rotate": (0.333, 0.522),
    "distmult": (0.343, 0.531),
    "complex": (0.360, 0.545),
}  # MRR and Hits@10


def main() -> None:
    """Train each model, rank the test split and record."""
    measure(BENCHMARK, "fb15k237", LEAST)


if __name__ == "__main__":
    main()
