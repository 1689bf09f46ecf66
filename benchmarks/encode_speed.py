"""How much kgraft's encoding costs over the bare encoder: python -m benchmarks.encode_speed."""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.harness import RESULTS, Benchmark
from kgraft.text import Encoder, length_batches

SEED = 0
WORDS = (3, 256)  # the shortest and the longest text
PROTOCOL = """
Both paths turn the same texts into normalised mean vectors with the same weights, the same
truncation and the same batches (length_batches on the true lengths, given to the bare path for
free). Ours is Encoder.encode from texts to vectors. The bare path calls the Hugging Face
tokenizer (padding and truncating) and model on each batch under torch.inference_mode, and pools
with one line. After one round that is not counted, the two take turns, each going first every
other time; the figure is the ratio of the medians, the spread is over the ratios of single turns.
The results of both are checked to agree within 1e-5.
"""


def mixed_texts(encoder: Encoder, count: int, seed: int = SEED) -> list[str]:
    """Make texts of log-normal length from words of the vocabulary, by Zipf's law."""
    random = np.random.default_rng(seed)
    vocabulary = sorted(word for word in encoder.tokenizer.get_vocab() if word.isalpha())
    lengths = np.clip(random.lognormal(3.4, 0.9, count), *WORDS).astype(int)
    ranks = (random.zipf(1.3, lengths.sum()) - 1) % len(vocabulary)
    words = np.array(random.permutation(vocabulary))[ranks]
    return [" ".join(part) for part in np.split(words, np.cumsum(lengths)[:-1])]


def bare(encoder: Encoder, texts: list[str], batches: list[np.ndarray]) -> np.ndarray:
    """Encode with nothing but Hugging Face's tokenizer and model."""
    vectors = np.empty((len(texts), encoder.dimension), np.float32)
    with torch.inference_mode():
        for numbers in batches:
            inputs = encoder.tokenizer(
                [texts[n] for n in numbers],
                padding=True,
                truncation=True,
                max_length=encoder.max_length,
                return_tensors="pt",
            )
            hidden = encoder.model(**inputs).last_hidden_state  # (B, L, D)
            mask = inputs["attention_mask"].unsqueeze(-1)
            mean = (hidden * mask).sum(1) / mask.sum(1)
            vectors[numbers] = torch.nn.functional.normalize(mean).numpy()
    return vectors


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(
    run: Benchmark, encoder: Encoder, texts: list[str], *, budget: int, repeats: int
) -> None:
    """Let the two paths take turns and record the figures."""
    ids = encoder.tokenizer(texts, truncation=True, max_length=encoder.max_length)["input_ids"]
    batches = length_batches(np.array([len(row) for row in ids]), budget)
    paths: dict[str, Callable[[], np.ndarray]] = {
        "encode": lambda: encoder.encode(texts, token_budget=budget),
        "bare": lambda: bare(encoder, texts, batches),
    }
    worst = float(np.abs(paths["encode"]() - paths["bare"]()).max())
    if worst > 1e-5:
        raise ValueError(f"the two paths differ by {worst}")
    taken: dict[str, list[float]] = {"encode": [], "bare": []}
    for turn in range(repeats):
        for name in sorted(paths, reverse=turn % 2 == 0):
            taken[name].append(seconds(paths[name]))
    ratios = [ours / theirs for ours, theirs in zip(taken["encode"], taken["bare"], strict=True)]
    ratio = statistics.median(taken["encode"]) / statistics.median(taken["bare"])
    run.figure("encode_vs_bare", ratios, value=ratio)
    run.figure("encode_seconds", taken["encode"])
    run.figure("bare_seconds", taken["bare"])


def main() -> None:
    """Run the benchmark; with other options than the default, write elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--token-budget", type=int, default=2048)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    encoder = Encoder.load(device="cpu")
    texts = mixed_texts(encoder, options.texts)
    run = Benchmark(
        "encode_speed",
        protocol=PROTOCOL,
        data={
            "name": f"{len(texts)} synthetic texts of {WORDS[0]} to {WORDS[1]} words, log-normal",
            "sha256": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
            "encoder": encoder.name,
        },
        seeds=[SEED],
        goals={"encode_vs_bare": {"at_most": 1.1}},
        folder=options.out,
    )
    with run:
        measure(run, encoder, texts, budget=options.token_budget, repeats=options.repeats)


if __name__ == "__main__":
    main()
