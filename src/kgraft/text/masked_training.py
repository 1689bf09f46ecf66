"""Training on masked words: a head learns to read an encoder, and the encoder too if it may.

An encoder that was published without a head gets one here. While the encoder stays as it is,
nothing is worked out backwards through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.progress import Progress
from kgraft.text.batching import length_batches
from kgraft.text.encoder import Encoder
from kgraft.text.masked import Masked, MaskedHead, TokenMask, masked_losses, masked_perplexity
from kgraft.text.windows import Windows
from kgraft.training import Epoch, Schedule, stream, torch_stream, train
from kgraft.training.folder import RunFolder
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded

_BATCH, _STEP, _VALID = 0, 1, 2  # what a stream of random numbers is for


@dataclass(frozen=True)
class MaskedSettings:
    """How a head is trained, and the encoder with it."""

    epochs: int = 1
    head_rate: float = 2e-3
    encoder_rate: float | None = None  # None: the encoder stays as it is
    batch_tokens: int = 2048  # padding included
    weight_decay: float = 0.01
    seed: int = 0


class MaskedTrainee(Learner):
    """A head and perhaps its encoder in training; see `kgraft.training.Trainee`."""

    def __init__(
        self,
        encoder: Encoder,
        head: MaskedHead,
        texts: Windows,
        valid: Windows | None,
        settings: MaskedSettings,
    ) -> None:
        self.encoder, self.head, self.settings = encoder, head, settings
        self.texts, self.valid, self.mask = texts, valid, TokenMask(encoder)
        parts: dict[str, nn.Module] = {"head": head}
        groups = [(settings.head_rate, head.parameters())]
        if settings.encoder_rate is not None:
            parts["encoder"] = encoder.model
            groups.append((settings.encoder_rate, encoder.model.parameters()))
        super().__init__(nn.ModuleDict(parts), groups, weight_decay=settings.weight_decay)
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return windows of like length together."""
        seed = int(stream(self.settings.seed, _BATCH, epoch).integers(1 << 31))
        return length_batches(self.texts.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move what learns once; all that is random comes from the seed and the place."""
        self.module.train()
        drawn = torch_stream(self.settings.seed, _STEP, place)
        with seeded(drawn.initial_seed()):
            hidden, masked = self._read(self.texts, batch, drawn)
            may_learn = self.settings.encoder_rate is not None
            words = self.encoder.words if may_learn else self.encoder.words.detach()
            loss = self.head.loss(hidden, masked, words)
        return self.move(loss, place)

    def _read(
        self, texts: Windows, numbers: np.ndarray, drawn: torch.Generator
    ) -> tuple[Tensor, Masked]:
        ids, there = map(torch.from_numpy, texts.padded(numbers))
        masked, model = self.mask(ids, drawn), self.encoder.model
        may_learn = self.settings.encoder_rate is not None
        learns = torch.is_grad_enabled() and may_learn
        if not may_learn:
            model.eval()
        with torch.set_grad_enabled(learns):
            extra_inputs = self.encoder.extra_inputs(texts, numbers)
            hidden = self.encoder.read(masked.ids, there, **extra_inputs)
        return hidden, masked

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the perplexity of masked words."""
        if self.valid is None:
            return {}
        self.module.eval()
        drawn = torch_stream(self.settings.seed, _VALID)
        losses = masked_losses(
            self.head,
            self.encoder.words,
            self.valid,
            partial(self._read, self.valid, drawn=drawn),
            token_budget=self.settings.batch_tokens,
        )
        perplexity = masked_perplexity(losses)
        return {"perplexity": perplexity, "score": -perplexity}


def train_masked(
    encoder: Encoder,
    head: MaskedHead,
    texts: Windows,
    folder: str | Path,
    *,
    valid: Windows | None = None,
    settings: MaskedSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Iterator[Epoch]:
    """Train on masked words, yielding after each epoch.

    The run lives in `folder`; the same call goes on where an earlier one was stopped, and with
    `overwrite` another run there makes way.
    """
    settings = settings or MaskedSettings()
    trainee = MaskedTrainee(encoder, head, texts, valid, settings)
    schedule = Schedule(epochs=settings.epochs, watch="score")
    run_identity = {**asdict(settings), **(identity or {}), "encoder": encoder.name}
    if overwrite:
        RunFolder(Path(folder), run_identity).make_way()
    yield from train(trainee, Path(folder), schedule, identity=run_identity, progress=progress)
