"""Train a link model, from annotated texts or from graphs alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.link.learned_names import LearnedName
from kgraft.link.model import LinkConfig, LinkModel
from kgraft.link.settings import LinkSettings
from kgraft.link.task import LinkTask
from kgraft.link.training_texts import TrainingTexts
from kgraft.progress import Progress
from kgraft.storage import refuse_existing
from kgraft.training import Epoch, fit


def train_linker(
    model: LinkModel,
    sources: Sequence[TrainingTexts],
    out: str | Path,
    *,
    valid: Sequence[TrainingTexts] = (),
    names: tuple[LearnedName, ...] = (),
    settings: LinkSettings | None = None,
    errors_ahead: float = 0.0,
    overwrite: bool = False,
    checkpoint_minutes: float = 5.0,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train on annotated texts and write the model to `out`, yielding after each part of them.

    The best state and the threshold are those with the best weak F1 on `valid`. Where no state is
    better there than the model was before, by `errors_ahead` standard errors, its weights are
    written as they were. `names` are what the texts call entities: the model finds them by these
    names too. Interrupted or killed, the same call resumes (see `kgraft.training.fit`).
    """
    settings = settings or LinkSettings()
    refuse_existing(Path(out), LinkModel.kind, overwrite=overwrite)
    if not any(len(source.texts.mentions) for source in sources):
        raise BadInput("no mention is marked in the texts", remedy="mark some")
    task = LinkTask(model, sources, valid, settings, names=names, errors_ahead=errors_ahead)
    yield from fit(
        task,
        out,
        settings,
        overwrite=overwrite,
        checkpoint_minutes=checkpoint_minutes,
        progress=progress,
    )


def new_model(encoder: str | None, settings: LinkSettings) -> LinkModel:
    """Return a link model that is not trained yet."""
    return LinkModel(LinkConfig(encoder=encoder, rank=settings.rank), seed=settings.seed)
