"""How much kgraft's encoding costs over the bare encoder: python -m benchmarks.text.speed."""

from __future__ import annotations

import argparse
import hashlib
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from transformers import BatchEncoding

from benchmarks.harness import RESULTS, Benchmark, Run, seconds
from kgraft.text import Encoder, length_batches

BENCHMARK = Benchmark(
    name="encode_speed",
    measures="encoding texts, against the bare Hugging Face model",
    minutes=6,
)

SEED = 0
WORDS = (3, 256)  # the shortest and the longest text
PROTOCOL = """
All paths turn the same texts into normalised mean vectors with the same weights, the same
truncation and the same batches (length_batches on the true lengths, given to the other paths for
free). `encode` is Encoder.encode, from texts to vectors. `bare` is nothing but the Hugging Face
model under torch.inference_mode on batches that were tokenised and padded beforehand, and a line
that pools. `loop` calls the tokenizer on each batch, too, as one would without kgraft. After one
round that is not counted, the paths take turns, in another order each time; a figure is the ratio
of medians, its spread is over the ratios of single turns. The results are checked to agree
within 1e-5.
"""


def mixed_texts(encoder: Encoder, count: int, seed: int = SEED) -> list[str]:
    """Make texts of log-normal length from words of the vocabulary, by Zipf's law."""
    random = np.random.default_rng(seed)
    vocabulary = sorted(word for word in encoder.tokenizer.get_vocab() if word.isalpha())
    lengths = np.clip(random.lognormal(3.4, 0.9, count), *WORDS).astype(int)
    ranks = (random.zipf(1.3, lengths.sum()) - 1) % len(vocabulary)
    words = np.array(random.permutation(vocabulary))[ranks]
    return [" ".join(part) for part in np.split(words, np.cumsum(lengths)[:-1])]


def tokenised(encoder: Encoder, texts: list[str], indices: np.ndarray) -> BatchEncoding:
    """Return the input of the model for one batch."""
    return encoder.tokenizer(
        [texts[n] for n in indices],
        padding=True,
        truncation=True,
        max_length=encoder.max_length,
        return_tensors="pt",
    )


def plain(encoder: Encoder, batches: Iterable[tuple[np.ndarray, BatchEncoding]]) -> np.ndarray:
    """Encode batches with nothing but Hugging Face's model."""
    rows, vectors = [], []
    with torch.inference_mode():
        for indices, inputs in batches:
            hidden = encoder.model(**inputs).last_hidden_state  # (B, L, D)
            mask = inputs["attention_mask"].unsqueeze(-1)
            mean = (hidden * mask).sum(1) / mask.sum(1)
            rows.append(indices)
            vectors.append(torch.nn.functional.normalize(mean).numpy())
    return np.concatenate(vectors)[np.argsort(np.concatenate(rows))]


def measure(run: Run, encoder: Encoder, texts: list[str], *, budget: int, repeats: int) -> None:
    """Let the paths take turns and record the figures."""
    ids = encoder.tokenizer(texts, truncation=True, max_length=encoder.max_length)["input_ids"]
    batches = length_batches(np.array([len(row) for row in ids]), budget)
    ready = [(indices, tokenised(encoder, texts, indices)) for indices in batches]
    paths: dict[str, Callable[[], np.ndarray]] = {
        "encode": lambda: encoder.encode(texts, token_budget=budget),
        "bare": lambda: plain(encoder, ready),
        "loop": lambda: plain(encoder, ((n, tokenised(encoder, texts, n)) for n in batches)),
    }
    ours, *others = (path() for path in paths.values())
    worst = max(float(np.abs(ours - theirs).max()) for theirs in others)
    if worst > 1e-5:
        raise ValueError(f"the paths differ by {worst}")
    taken: dict[str, list[float]] = {name: [] for name in paths}
    for turn in range(repeats):
        names = list(paths)
        for name in names[turn % 3 :] + names[: turn % 3]:
            taken[name].append(seconds(paths[name]))
    for name in ("bare", "loop"):
        ratios = np.divide(taken["encode"], taken[name]).tolist()
        ratio = statistics.median(taken["encode"]) / statistics.median(taken[name])
        run.figure(f"encode_vs_{name}", ratios, value=ratio)


def main() -> None:
    """Run the benchmark; with other options than the default, write elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--token-budget", type=int, default=2048)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    encoder = Encoder.load(device="cpu")
    texts = mixed_texts(encoder, options.texts)
    run = BENCHMARK.run(
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
