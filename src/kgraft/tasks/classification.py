"""Tasks that classify spans of texts; an encoder is fine-tuned on each, with knowledge and without.

WIC = Classification("wic", ("different", "same"), _rows, _counts, ratio, "accuracy")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.corpus import hold_out, read_json_lines
from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder
from kgraft.json_text import parse_json
from kgraft.measure import Difference, Figure, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.classification_task import ClassificationTask, ExampleWindows
from kgraft.tasks.examples import Examples, Row
from kgraft.tasks.interfaces import GraftEvaluation
from kgraft.tasks.settings import ClassificationSettings
from kgraft.text import Encoder
from kgraft.training import train_in_memory

Counts = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From true and predicted classes, (N, C) bool each, to the counts of each example, (N, K)."""
Splits = tuple[Examples, Examples, Examples]


@dataclass(frozen=True)
class Classification(GraftEvaluation):
    """A task that classifies spans."""

    name: str
    classes: tuple[str, ...]
    rows: Callable[[Mapping[str, Any]], list[Row]]  # from a line of the file to its examples
    counts: Counts
    figure: Figure
    metric: str
    several: bool = False  # whether an example may have several classes
    settings: ClassificationSettings = field(default_factory=ClassificationSettings)

    def read(self, path: Path) -> Examples:
        """Read a file of the task; a bad line is refused with its number."""
        rows: list[Row] = []
        for number, line in read_json_lines(path):
            try:
                rows += self.rows(parse_json(line))
            except (ValueError, LookupError, TypeError) as error:
                reason = f"is not an example of {self.name} ({type(error).__name__}: {error})"
                raise BadInput(reason, file=str(path), line=number) from error
        if not rows:
            raise BadInput(f"contains no example of {self.name}", file=str(path))
        return Examples.of(rows, self.classes)

    def read_splits(self, data: Path) -> Splits:
        """Read the train, dev and test files of a folder; without dev, a tenth of train is it."""
        train, test = self.read(data / "train.jsonl"), self.read(data / "test.jsonl")
        if (data / "dev.jsonl").exists():
            return train, self.read(data / "dev.jsonl"), test
        kept, apart = hold_out(len(train))
        return train.select(kept), train.select(apart), test

    def fine_tune(
        self,
        encoder: Encoder | GraftedEncoder,
        splits: Splits,
        *,
        seed: int = 0,
        settings: ClassificationSettings | None = None,
        use_knowledge: bool = True,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Fine-tune once, and return the counts of each test example, (N, K)."""
        train, valid, test = splits
        settings = (settings or self.settings).replace(seed=seed)
        task = ClassificationTask(
            encoder, self, train, valid, settings, use_knowledge=use_knowledge
        )
        train_in_memory(task, settings, progress=progress)
        return task.counts(ExampleWindows.of(encoder, test))

    def compare(
        self, model: Path, data: Path, *, seeds: int = 1, progress: Progress | None = None
    ) -> Difference:
        """Fine-tune the graft of a folder with its knowledge on and off, and compare on test."""
        splits = self.read_splits(data)

        def measure(seed: int, use_knowledge: bool) -> np.ndarray:
            encoder = GraftedEncoder.from_pretrained(model)
            return self.fine_tune(
                encoder, splits, seed=seed, use_knowledge=use_knowledge, progress=progress
            )

        on, off = (
            np.sum([measure(seed, side) for seed in range(seeds)], axis=0) for side in (True, False)
        )
        return paired_difference(on, off, figure=self.figure)

    def measure_plain(
        self,
        encoder: str | Path | None,
        data: Path,
        *,
        seeds: int = 1,
        progress: Progress | None = None,
    ) -> float:
        """Fine-tune an encoder without any knowledge, and return the figure on test."""
        splits = self.read_splits(data)
        counts = [
            self.fine_tune(Encoder.load(encoder), splits, seed=seed, progress=progress)
            for seed in range(seeds)
        ]
        return float(self.figure(np.sum(counts, axis=(0, 1))))
