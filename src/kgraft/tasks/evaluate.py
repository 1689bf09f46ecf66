"""What knowledge is worth on a task: on, off, and the difference with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgraft.corpus import hold_out, read_annotated
from kgraft.errors import BadInput
from kgraft.graft import (
    GraftedEncoder,
    WordNetKnowledge,
    locate_mentions,
    look_up_senses,
    make_clozes,
    sense_sentences,
)
from kgraft.graph import SPLITS, Graph
from kgraft.measure import Difference, paired_difference, perplexity
from kgraft.progress import Progress
from kgraft.tasks.classify import ClassSettings, ClassTrainee, Ready
from kgraft.tasks.examples import ClassTask, Examples
from kgraft.tasks.facts import reciprocal_ranks
from kgraft.tasks.perplexity import perplexity_counts
from kgraft.tasks.relations import SEMEVAL
from kgraft.tasks.senses import choose_senses, first_senses, sense_counts
from kgraft.tasks.typing import TYPING
from kgraft.tasks.wic import WIC
from kgraft.text import Encoder, MaskedHead
from kgraft.training import Schedule, train_in_passing

CLASS_TASKS = {task.name: task for task in (WIC, SEMEVAL, TYPING)}
Load = Callable[[], GraftedEncoder]


def evaluate(
    task: str, data: Path, model: Path, *, seeds: int = 1, progress: Progress | None = None
) -> Difference:
    """Measure the graft of a folder on a task, whose files are in `data`."""
    if task in CLASS_TASKS:
        return classify(
            CLASS_TASKS[task],
            data,
            lambda: GraftedEncoder.from_pretrained(model),
            range(seeds),
            progress=progress,
        )
    if task not in MEASURED:
        raise BadInput(f"no task is called {task}", remedy=f"choose from {', '.join(TASKS)}")
    return MEASURED[task](model, data)


def splits_of(task: ClassTask, data: Path) -> tuple[Examples, Examples, Examples]:
    """Read the train, dev and test files of a task; without dev, a tenth of train is it."""
    train_file, dev_file, test_file = (data / f"{name}.jsonl" for name in ("train", "dev", "test"))
    examples, test = task.read(train_file), task.read(test_file)
    if dev_file.exists():
        return examples, task.read(dev_file), test
    learnt, apart = hold_out(len(examples))
    return examples.part(learnt), examples.part(apart), test


def classify(
    task: ClassTask,
    data: Path,
    load: Load,
    seeds: range,
    *,
    settings: ClassSettings | None = None,
    progress: Progress | None = None,
) -> Difference:
    """Fine-tune an encoder with its knowledge on and off, for each seed, and compare on test."""
    parts = splits_of(task, data)
    on, off = (
        np.sum(
            [
                fine_tune(task, load(), *parts, seed, settings, knowing=knowing, progress=progress)
                for seed in seeds
            ],
            axis=0,
        )
        for knowing in (True, False)
    )
    return paired_difference(on, off, figure=task.figure)


def evaluate_plain(
    task: str,
    data: Path,
    encoder: str | Path | None,
    *,
    seeds: int = 1,
    settings: ClassSettings | None = None,
    progress: Progress | None = None,
) -> float:
    """Fine-tune an encoder without any knowledge on a task, and return the figure on test."""
    if task not in CLASS_TASKS:
        remedy = f"choose from {', '.join(CLASS_TASKS)}, or give a graft"
        raise BadInput(f"{task} needs a graft", remedy=remedy)
    chosen = CLASS_TASKS[task]
    parts = splits_of(chosen, data)
    counts = [
        fine_tune(chosen, Encoder.load(encoder), *parts, seed, settings, progress=progress)
        for seed in range(seeds)
    ]
    return float(chosen.figure(np.sum(counts, axis=(0, 1))))


def fine_tune(
    task: ClassTask,
    encoder: Encoder,
    examples: Examples,
    dev: Examples,
    test: Examples,
    seed: int,
    settings: ClassSettings | None = None,
    *,
    knowing: bool = True,
    progress: Progress | None = None,
) -> np.ndarray:
    """Fine-tune once, and return the counts of each test example, (N, K)."""
    chosen = replace(settings or ClassSettings(), seed=seed)
    trainee = ClassTrainee(encoder, task, examples, dev, chosen, knowing=knowing)
    schedule = Schedule(epochs=chosen.epochs, watch=task.metric, patience=chosen.patience)
    train_in_passing(trainee, schedule, progress=progress)
    return trainee.counts(Ready.of(encoder, test))


def _senses(model: Path, data: Path) -> Difference:
    encoder = GraftedEncoder.from_pretrained(model)
    layer, knowledge = next(
        ((n, k) for n, k in encoder.grafts.knowledge.items() if isinstance(k, WordNetKnowledge)),
        (0, None),
    )
    if knowledge is None:
        raise BadInput("the graft knows no word senses", remedy="graft WordNet", file=str(model))
    found = [
        look_up_senses(knowledge, sense_sentences(path)) for path in sorted(data.glob("*.jsonl"))
    ]
    on = [sense_counts(part, choose_senses(encoder, layer, part)) for part in found]
    off = [sense_counts(part, first_senses(part)) for part in found]
    return paired_difference(np.concatenate(on), np.concatenate(off))


def _perplexity(model: Path, data: Path) -> Difference:
    encoder = GraftedEncoder.from_pretrained(model)
    head = MaskedHead.load(model, encoder)
    layer = encoder.grafts.layers[0]
    graph = encoder.grafts.knowledge[layer].graph
    texts = locate_mentions(encoder, read_annotated(data, graph), layer)
    on, off = (
        perplexity_counts(encoder, head, texts, use_knowledge=knowing) for knowing in (True, False)
    )
    return paired_difference(on, off, figure=perplexity)


def _facts(model: Path, data: Path) -> Difference:
    encoder = GraftedEncoder.from_pretrained(model)
    head = MaskedHead.load(model, encoder)
    graph = Graph.open(data).whole()
    asked = graph.triples
    if graph.manifest.splits["test"]:
        asked = asked.take(asked.split == SPLITS.index("test"))
    found = make_clozes(encoder, graph, asked, graph.triples)
    if not len(found):
        said = "no fact of this graph has an object of one word"
        raise BadInput(said, file=str(data), remedy="give one with labels that the encoder knows")
    on, off = (
        reciprocal_ranks(encoder, head, found, use_knowledge=knowing) for knowing in (True, False)
    )
    return paired_difference(on, off)


MEASURED: dict[str, Callable[[Path, Path], Difference]] = {
    "senses": _senses,
    "perplexity": _perplexity,
    "facts": _facts,
}
TASKS = (*CLASS_TASKS, *MEASURED)
