"""Synthetic graphs and texts of any size: skewed degrees, names with collisions, seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

VOCABULARY = 200_000
_SYLLABLES = np.array([c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"], object)
_ROWS = 200_000  # lines written at a time


class SyntheticNames:
    """Names and running text over one made-up vocabulary whose words follow Zipf's law."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        sizes = self.random.integers(2, 6, VOCABULARY)
        picks = self.random.integers(0, len(_SYLLABLES), (VOCABULARY, 5))
        words = ["".join(_SYLLABLES[row[:size]]) for row, size in zip(picks, sizes, strict=True)]
        self.words = pa.array(words)
        self.capitals = pc.utf8_capitalize(self.words)

    def _zipf(self, count: int) -> np.ndarray:
        """Ranks with p(rank) ∝ 1 / rank, by inversion."""
        return (VOCABULARY ** self.random.random(count)).astype(np.int64) - 1

    def phrases(self, count: int, shortest: int, longest: int, *, names: bool) -> pa.Array:
        """Return phrases of `shortest` to `longest` words; names are evener and in capitals."""
        sizes = self.random.integers(shortest, longest + 1, count)
        total = int(sizes.sum())
        rank = self._zipf(total)
        if names:
            rare = self.random.random(total) < 0.7
            rank = np.where(rare, self.random.integers(0, VOCABULARY, total), rank)
        words = (self.capitals if names else self.words).take(pa.array(rank))
        bounds = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
        return pc.binary_join(pa.ListArray.from_arrays(bounds, words), " ")

    def text(self, characters: int, names: pa.Array) -> str:
        """Return running text in which about one word in five belongs to one of the names."""
        count = characters // 60 + 1
        between = self.phrases(count, 5, 12, names=False)
        chosen = names.take(pa.array(self.random.integers(0, len(names), count)))
        joined = pc.binary_join_element_wise(between, chosen, " ").to_pylist()
        return ". ".join(joined)[:characters]


def write_synthetic(
    folder: Path, *, entities: int, relations: int, triples: int, seed: int = 0
) -> None:
    """Write a graph as a TSV folder; heads are even, tails and relations are skewed."""
    folder.mkdir(parents=True)
    made = SyntheticNames(seed)
    with (folder / "entities.tsv").open("w", encoding="utf-8") as file:
        file.write("id\tlabel\tdescription\n")
        for first in range(0, entities, _ROWS):
            count = min(_ROWS, entities - first)
            ids = _ids("Q", np.arange(first, first + count))
            labels = made.phrases(count, 1, 3, names=True)
            texts = made.phrases(count, 5, 12, names=False)
            _write(file, ids, labels, texts)
    with (folder / "relations.tsv").open("w", encoding="utf-8") as file:
        file.write("id\tlabel\n")
        labels = made.phrases(relations, 1, 3, names=False)
        _write(file, _ids("P", np.arange(relations)), labels)
    with (folder / "triples.tsv").open("w", encoding="utf-8") as file:
        file.write("head\trelation\ttail\n")
        for first in range(0, triples, _ROWS):
            count = min(_ROWS, triples - first)
            head = made.random.integers(0, entities, count)
            relation = (relations ** made.random.random(count)).astype(np.int64) - 1
            tail = (entities ** made.random.random(count)).astype(np.int64) - 1
            _write(file, _ids("Q", head), _ids("P", relation), _ids("Q", tail))


def _ids(letter: str, numbers: np.ndarray) -> pa.Array:
    texts = pa.array(numbers).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(letter), texts, "")


def _write(file: object, *columns: pa.Array) -> None:
    lines = pc.binary_join_element_wise(*columns, "\t").to_pylist()
    file.write("\n".join(lines) + "\n")  # type: ignore[attr-defined]
