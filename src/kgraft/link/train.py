"""Train a link model, from annotated texts or from graphs alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.link.evaluate import standard_error
from kgraft.link.learned_names import LearnedName
from kgraft.link.model import LinkConfig, LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.task import LinkTask
from kgraft.link.training_texts import TrainingTexts
from kgraft.progress import Progress
from kgraft.storage import Kind, new_folder, refuse_existing
from kgraft.training import Epoch, Schedule, train
from kgraft.training.folder import RunFolder, run_folder

WATCHED = "weak_f1"
FIGURES = "figures.json"  # on validation texts, before and after
LINKER = Kind("link model", "config.json")


def train_linker(
    model: LinkModel,
    sources: Sequence[TrainingTexts],
    out: Path,
    *,
    valid: Sequence[TrainingTexts] = (),
    names: tuple[LearnedName, ...] = (),
    settings: LinkSettings | None = None,
    errors_ahead: float = 0.0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train on annotated texts and write the model to `out`, yielding after each part of them.

    The best state and the threshold are those with the best weak F1 on `valid`. Where no state is
    better there than the model was before, by `errors_ahead` standard errors, its weights are
    written as they were. `names` are what the texts call entities: the model finds them by these
    names too. Interrupted or killed, the same call resumes at the last checkpoint.
    """
    settings = settings or LinkSettings()
    refuse_existing(out, LINKER, overwrite=overwrite)
    if not any(len(source.texts.text) for source in sources):
        raise BadInput("no mention is marked in the texts", remedy="mark some")
    identity = {
        **asdict(settings),
        "sources": [_identity(source) for source in sources],
        "valid": [_identity(source) for source in valid],
        "init_from": model.digest(),
    }
    task = LinkTask(model.prepare_training(seed=settings.seed), sources, valid, settings)
    initial = {name: tensor.clone() for name, tensor in model.small_state().items()}
    before = task.validate()
    learnt_before = model.names
    model.names = tuple(sorted({*model.names, *names}))
    for source in (*sources, *valid):
        source.knowledge.learn(model.names)
    schedule = Schedule(
        epochs=task.epochs,
        watch=WATCHED,
        patience=settings.patience if valid else None,
        validate_every=len(task.parts) if valid else task.epochs,
    )
    folder = run_folder(out)
    if overwrite:
        RunFolder(folder, identity).make_way()
    yield from train(
        task,
        folder,
        schedule,
        identity=identity,
        remedy=f"lower learning_rate, for example to {settings.learning_rate / 3:.2g}",
        progress=progress,
    )
    after = task.validate()
    improved = not valid or _gain(before, after, valid, errors_ahead) >= 0
    if not improved:
        model.load_small_state(initial)
        model.names = learnt_before
    kept = after if improved else before
    threshold = kept.get("threshold", model.config.threshold)
    model.config = replace(model.config, threshold=threshold)
    with new_folder(out, LINKER, overwrite=overwrite) as written:
        model.save_pretrained(written)
        outcome = {"before": before, "after": after, "improved": improved}
        (written / FIGURES).write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
    shutil.rmtree(folder, ignore_errors=True)


def _gain(
    before: dict[str, float],
    after: dict[str, float],
    valid: Sequence[TrainingTexts],
    errors_ahead: float,
) -> float:
    """Return how much better the model is than before, beyond a number of standard errors."""
    mentions = sum(len(source.texts.text) for source in valid)
    margin = errors_ahead * standard_error(before[WATCHED], mentions)
    return after[WATCHED] - before[WATCHED] - margin


def new_model(encoder: str | None, settings: LinkSettings) -> LinkModel:
    """Return a link model that knows nothing yet."""
    return LinkModel(LinkConfig(encoder=encoder, rank=settings.rank), seed=settings.seed)


def _identity(source: TrainingTexts) -> list[str]:
    weights = f"{source.unmarked} {source.none_ratio} {source.teaches_mentions}"
    return [source.knowledge.graph.manifest.version, source.texts.digest(), weights]
