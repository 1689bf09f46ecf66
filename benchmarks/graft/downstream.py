"""What WordNet adds to tasks that do not ask for it: python -m benchmarks.graft.downstream."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.cached import cached_counts, graft_facts
from benchmarks.graft.senses import HYPERNYMS, LINKER_LAYER, SEEDS, linker_folder, wordnet
from benchmarks.harness import Benchmark, Goal, shared_data
from kgraft.graft import GraftedEncoder, WordNetKnowledge
from kgraft.measure import paired_difference
from kgraft.storage import sha256
from kgraft.tasks import Classification, ClassificationSettings
from kgraft.tasks.graft.semeval2010_8 import SEMEVAL
from kgraft.tasks.graft.typing import TYPING
from kgraft.tasks.graft.wic import WIC

BENCHMARK = Benchmark(
    name="graft_downstream",
    measures="what WordNet adds to tasks that do not ask for it: WiC, SemEval, UFET",
    minutes=None,
    data=("relations/semeval2010-8", "typing/ufet", "wic", "wordnet-3.0", "wsd"),
    off="trained alike",
)

TASKS = {
    "wic": (WIC, Path("wic")),
    "semeval2010_8": (SEMEVAL, Path("relations/semeval2010-8")),
    "ufet": (TYPING, Path("typing/ufet")),
}
SETTINGS = ClassificationSettings(epochs=3, frozen_layers=3)
PROTOCOL = """
Accuracy on WiC, the official macro-F1 on SemEval-2010 task 8, micro-F1 of the nine coarse types on
UFET. WordNet stands after the fourth layer of the default encoder; its linker was trained on SemCor
and on WordNet's examples (without any that is in WiC) while the encoder stayed as it is. It is
fine-tuned with its knowledge on and off: the same settings and seeds, the upper three layers
learning, the epoch chosen on dev (for SemEval a tenth of train). The classifier reads the mean of a
span's tokens, and S' of the graft for the words of the span, which is zero when it is off: off is
thus the plain encoder. Differences are on minus off with a 95 % interval, paired bootstrap
over examples, seeds pooled. above_zero: on how many of the three the whole interval is above zero.
"""
GOALS: dict[str, Goal] = {"above_zero": {"at_least": 2}}


def main() -> None:
    """Fine-tune, measure and record."""
    data = shared_data()
    if data is None:
        return
    knowledge = wordnet(data, HYPERNYMS)
    graft = linker_folder(knowledge, data)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wic", "sha256": sha256(data / "wic" / "test.jsonl")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        above = 0
        for name, (task, folder) in TASKS.items():
            pairs = [_counts(knowledge, graft, task, data / folder, seed) for seed in SEEDS]
            on, off = (np.sum([pair[side] for pair in pairs], 0) for side in (0, 1))
            difference = paired_difference(on, off, figure=task.figure)
            print(name, difference, flush=True)
            run.difference(name, difference)
            above += difference.low > 0
        run.figure("above_zero", above)


def _counts(
    knowledge: WordNetKnowledge, graft: Path, task: Classification, folder: Path, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of the test examples with knowledge on, and off."""
    splits = task.read_splits(folder)

    def tuned(*, use_knowledge: bool) -> np.ndarray:
        encoder = GraftedEncoder.from_pretrained(graft, {LINKER_LAYER: knowledge})
        return task.fine_tune(
            encoder, splits, seed=seed, settings=SETTINGS, use_knowledge=use_knowledge
        )

    made_by = (SETTINGS, sha256(folder / "test.jsonl"))
    name = f"{task.name}.{seed}"
    off = cached_counts(f"{name}.off", made_by, partial(tuned, use_knowledge=False))
    on = cached_counts(
        f"{name}.on", (*made_by, graft_facts(graft)), partial(tuned, use_knowledge=True)
    )
    print(name, *(float(task.figure(side.sum(0))) for side in (on, off)), flush=True)
    return on, off


if __name__ == "__main__":
    main()
