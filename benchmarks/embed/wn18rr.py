"""How well each model of `kgraft.embed` completes WN18RR."""

from __future__ import annotations

from benchmarks.embed.quality import measure
from benchmarks.harness import Benchmark

BENCHMARK = Benchmark(
    name="embed_wn18rr",
    measures="link prediction on WN18RR by each embedding model",
    minutes=150,
    data=("graphs/wn18rr",),
)

LEAST = {
    "transe": (0.228, 0.520),
    "rotate": (0.476, 0.553),
    "distmult": (0.452, 0.530),
    "complex": (0.480, 0.550),
}  # MRR and Hits@10


def main() -> None:
    """Train each model, rank the test split and record."""
    measure(BENCHMARK, "wn18rr", LEAST)


if __name__ == "__main__":
    main()
