"""Train grafts: first the linkers inside them, then all together with the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgraft.graft.encoder import GraftedEncoder
from kgraft.graft.settings import GraftSettings
from kgraft.graft.task import GraftTask
from kgraft.graft.windows import MentionWindows
from kgraft.progress import Progress
from kgraft.text import MaskedHead
from kgraft.training import Epoch, fit


def train_graft(
    encoder: GraftedEncoder,
    texts: MentionWindows,
    out: str | Path,
    *,
    valid: MentionWindows | None = None,
    head: MaskedHead | None = None,
    settings: GraftSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    use_knowledge: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train an encoder with its grafts and write them to `out`, yielding after each epoch.

    Where no head for masked words is given, one is trained on the texts first. The epoch kept is
    the one with the lowest perplexity on `valid`, or with the best linker where no words are
    masked. `identity` says what the texts are. Interrupted or killed, the same call resumes at the
    last checkpoint.
    """
    settings = settings or GraftSettings()
    task = GraftTask(
        encoder, texts, valid, settings, head=head, identity=identity, use_knowledge=use_knowledge
    )
    yield from fit(task, out, settings, overwrite=overwrite, progress=progress)
