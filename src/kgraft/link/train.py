"""Train a link model, from annotated texts or from graphs alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from torch import Tensor

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
    if not any(len(source.texts.mentions) for source in sources):
        raise BadInput("no mention is marked in the texts", remedy="mark some")
    identity = {
        **asdict(settings),
        "sources": [_identity(source) for source in sources],
        "valid": [_identity(source) for source in valid],
        "init_from": model.digest(),
    }
    task = LinkTask(model.prepare_training(seed=settings.seed), sources, valid, settings)
    start = _Start.of(task)
    _learn_names(task, sources, names)
    folder = run_folder(out)
    if overwrite:
        RunFolder(folder, identity).make_way()
    yield from train(
        task,
        folder,
        _schedule(task),
        identity=identity,
        remedy=f"lower learning_rate, for example to {settings.learning_rate / 3:.2g}",
        progress=progress,
    )
    outcome = _keep_better(task, start, errors_ahead)
    with new_folder(out, LINKER, overwrite=overwrite) as written:
        model.save_pretrained(written)
        (written / FIGURES).write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Start:
    """A model as it is before training."""

    state: dict[str, Tensor]
    names: tuple[LearnedName, ...]
    figures: dict[str, float]

    @classmethod
    def of(cls, task: LinkTask) -> _Start:
        state = {name: tensor.clone() for name, tensor in task.model.small_state().items()}
        return cls(state, task.model.names, task.validate())


def _learn_names(
    task: LinkTask, sources: Sequence[TrainingTexts], names: tuple[LearnedName, ...]
) -> None:
    """Let the model find entities by further names, in training and validation too."""
    model = task.model
    model.names = tuple(sorted({*model.names, *names}))
    for source in (*sources, *task.valid):
        source.knowledge.learn(model.names)


def _schedule(task: LinkTask) -> Schedule:
    return Schedule(
        epochs=task.epochs,
        watch=WATCHED,
        patience=task.settings.patience if task.valid else None,
        validate_every=len(task.parts) if task.valid else task.epochs,
    )


def _keep_better(task: LinkTask, start: _Start, errors_ahead: float) -> dict[str, object]:
    """Keep the trained model or the one before, with a threshold that suits it; say which."""
    model, before, after = task.model, start.figures, task.validate()
    improved = not task.valid or _gain(before, after, task.valid, errors_ahead) >= 0
    if not improved:
        model.load_small_state(start.state)
        model.names = start.names
    kept = after if improved else before
    threshold = kept.get("threshold", model.config.threshold)
    model.config = replace(model.config, threshold=threshold)
    return {"before": before, "after": after, "improved": improved}


def _gain(
    before: dict[str, float],
    after: dict[str, float],
    valid: Sequence[TrainingTexts],
    errors_ahead: float,
) -> float:
    """Return how much better the model is than before, beyond a number of standard errors."""
    mentions = sum(len(source.texts.mentions) for source in valid)
    margin = errors_ahead * standard_error(before[WATCHED], mentions)
    return after[WATCHED] - before[WATCHED] - margin


def new_model(encoder: str | None, settings: LinkSettings) -> LinkModel:
    """Return a link model that knows nothing yet."""
    return LinkModel(LinkConfig(encoder=encoder, rank=settings.rank), seed=settings.seed)


def _identity(source: TrainingTexts) -> list[str]:
    weights = f"{source.unmarked} {source.none_ratio} {source.teaches_mentions}"
    return [source.knowledge.graph.manifest.version, source.texts.digest(), weights]
