"""Train grafts: first the linkers inside them, then all together with the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.errors import BadInput
from kgraft.graft.attach import knowledge_off
from kgraft.graft.encoder import GraftedEncoder, NoticedWindows
from kgraft.graft.mentions import UNKNOWN
from kgraft.graft.next_sentence import Pairs
from kgraft.graft.noticed import Noticed
from kgraft.graft.saving import GRAFT, host_digest
from kgraft.graft.settings import GraftSettings
from kgraft.graft.trainee import GraftTrainee
from kgraft.graph.annotated import Annotated
from kgraft.graph.names import Named
from kgraft.progress import Progress
from kgraft.storage import new_folder, refuse_existing
from kgraft.text import MaskedHead, MaskedSettings, adapt, freeze_bottom, train_masked
from kgraft.training import Epoch, Schedule, train
from kgraft.training.folder import RunFolder, run_folder
from kgraft.training.seeds import seeded

LONG = 5  # characters of a name that is hardly a word by chance


def notice(
    encoder: GraftedEncoder,
    data: Annotated | Pairs | Sequence[str],
    layer: int,
    *,
    linked: bool = False,
    sure: bool = False,
) -> NoticedWindows:
    """Cut texts into windows that know their mentions; marked ones know what they mean.

    The marks are of the knowledge after `layer`; the other layers find mentions alone. A mark where
    the knowledge finds no mention is lost, or with `linked` a mention that may mean nothing else.
    With `sure`, names of some length that only one entity bears count as marked too. Of pairs, the
    windows that hold both halves know whether the second follows.
    """
    if isinstance(data, Pairs):
        found = notice(encoder, data.data, layer, linked=linked, sure=sure)
        alone = np.bincount(found.text)[found.text] == 1
        return replace(found, follows=np.where(alone, data.follows[found.text], UNKNOWN))
    texts = data.texts if isinstance(data, Annotated) else list(data)
    windows = encoder.windows(texts, extra_inputs=False)
    noticed = {}
    for number, knowledge in encoder.grafts.knowledge.items():
        named, gold = knowledge.find(texts), None
        if isinstance(data, Annotated) and number == layer:
            named, gold = _marked(named, data, linked=linked, sure=sure)
        noticed[number] = Noticed.of(windows, named, gold=gold)
    return NoticedWindows.of(windows, noticed)


def _marked(named: Named, data: Annotated, *, linked: bool, sure: bool) -> tuple[Named, np.ndarray]:
    """Return the names of texts and what each means, UNKNOWN where no mark says it."""
    length = np.array([len(text) for text in data.texts], np.int64)[data.text]
    inside = (data.start >= 0) & (data.start < data.end) & (data.end <= length)
    known = inside & (data.entity >= 0)
    shift = named.bounds[data.text[known]]
    start, end, entity = data.start[known] + shift, data.end[known] + shift, data.entity[known]
    if linked:
        new = named.rows(start, end) < 0
        named = named.also(start[new], end[new], entity[new])
    gold = _sure(named) if sure else np.full(len(named), UNKNOWN)
    row = named.rows(start, end)
    gold[row[row >= 0]] = entity[row >= 0]
    return named, gold


def _sure(named: Named) -> np.ndarray:
    """Return the entity of each name that only one bears, UNKNOWN for the others and short ones."""
    only = (np.diff(named.candidates) == 1) & (named.end - named.start >= LONG)
    gold = np.full(len(named), UNKNOWN)
    gold[only] = named.entity[named.candidates[:-1][only]]
    return gold


def train_graft(
    encoder: GraftedEncoder,
    texts: NoticedWindows,
    out: str | Path,
    *,
    valid: NoticedWindows | None = None,
    head: MaskedHead | None = None,
    settings: GraftSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    knowing: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train an encoder with its grafts and write them to `out`, yielding after each epoch.

    Where no head for masked words is given, one is trained on the texts first. The epoch kept is
    the one with the lowest perplexity on `valid`, or with the best linker where no words are
    masked. Interrupted or killed, the same call goes on at the last checkpoint.
    """
    out, settings = Path(out), settings or GraftSettings()
    if not len(texts):
        raise BadInput("there is no text to learn from", remedy="give more texts")
    valid = valid if valid is not None and len(valid) else None
    refuse_existing(out, GRAFT, overwrite=overwrite)
    if settings.rank is not None:
        adapt(encoder.model, settings.rank, seed=settings.seed, keep=["grafts"])
    if settings.frozen:
        freeze_bottom(encoder.model, settings.frozen, keep=["grafts"])
    folder = run_folder(out)
    host = {**(identity or {}), "host": host_digest(encoder.grafts.host_digests)}
    whole = {**asdict(settings), **host, "knowing": knowing}
    if overwrite:
        RunFolder(folder, whole).make_way()
    if head is None:
        head = _untrained_head(encoder, settings.seed)
        if settings.masks:
            few = MaskedSettings(seed=settings.seed)
            with knowledge_off(encoder.model):
                for _ in train_masked(
                    encoder, head, texts, folder / "head", settings=few, identity=host,
                    overwrite=overwrite, progress=progress,
                ):  # fmt: skip
                    pass
    trainee = GraftTrainee(encoder, head, texts, valid, settings, knowing=knowing)
    watch = "score" if settings.masks else "accuracy"
    schedule = Schedule(
        epochs=settings.all_epochs,
        watch=watch,
        patience=None if valid is None else settings.patience,
    )
    yield from train(
        trainee, folder, schedule, identity=whole, remedy="lower the learning rates",
        progress=progress,
    )  # fmt: skip
    with new_folder(out, GRAFT, overwrite=overwrite) as written:
        encoder.save_pretrained(written, facts=whole)
        head.save(written)
        if settings.all_epochs:
            shutil.copyfile(folder / "log.jsonl", written / "log.jsonl")
    shutil.rmtree(folder, ignore_errors=True)


def _untrained_head(encoder: GraftedEncoder, seed: int) -> MaskedHead:
    with seeded(seed):
        return MaskedHead.of(encoder)
