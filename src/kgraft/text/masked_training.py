"""Training on masked words: a head learns to read an encoder, which may learn with it.

An encoder that was published without a head gets one here. While the encoder does not change, no
gradient is computed through it.

    fit(MaskedTask(encoder, MaskedHead.of(encoder), texts, valid, settings), "head", settings)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.storage import Kind
from kgraft.text.batching import length_batches
from kgraft.text.encoder import Encoder
from kgraft.text.masked import (
    HEAD,
    Masked,
    MaskedHead,
    TokenMask,
    masked_losses,
    masked_perplexity,
)
from kgraft.text.settings import MaskedSettings
from kgraft.text.windows import Windows
from kgraft.training import AdamWTask, Purpose, seeded, stream, torch_stream


class MaskedTask(AdamWTask[np.ndarray]):
    """A head for masked words in training, and its encoder if that has a learning rate.

    The result is a folder with `head.safetensors`, and the encoder if it learned too.
    """

    kind: ClassVar[Kind] = Kind("head for masked words", HEAD)

    def __init__(
        self,
        encoder: Encoder,
        head: MaskedHead,
        texts: Windows,
        valid: Windows | None,
        settings: MaskedSettings,
        *,
        identity: Mapping[str, Any] | None = None,
    ) -> None:
        self.encoder, self.head, self.settings = encoder, head, settings
        self.texts, self.valid, self.mask = texts, valid, TokenMask(encoder)
        self._identity = dict(identity or {})
        parts: dict[str, nn.Module] = {"head": head}
        groups = [(settings.head_rate, head.parameters())]
        if settings.encoder_rate is not None:
            parts["encoder"] = encoder.model
            groups.append((settings.encoder_rate, encoder.model.parameters()))
        super().__init__(nn.ModuleDict(parts), groups, weight_decay=settings.weight_decay)
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))

    def identity(self) -> Mapping[str, Any]:
        """Return the encoder's name, and what is known of the texts."""
        return {**self._identity, "encoder": self.encoder.name}

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return windows of similar length together."""
        seed = int(stream(self.settings.seed, Purpose.ORDER, epoch).integers(1 << 31))
        return length_batches(self.texts.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once; all randomness comes from the seed and the step."""
        self.module.train()
        drawn = torch_stream(self.settings.seed, Purpose.STEP, step)
        with seeded(drawn.initial_seed()):
            hidden, masked = self._read(self.texts, batch, drawn)
            may_learn = self.settings.encoder_rate is not None
            words = self.encoder.words if may_learn else self.encoder.words.detach()
            loss = self.head.loss(hidden, masked, words)
        return self.update(loss, step)

    def _read(
        self, texts: Windows, indices: np.ndarray, drawn: torch.Generator
    ) -> tuple[Tensor, Masked]:
        ids, mask = map(torch.from_numpy, texts.padded(indices))
        masked, model = self.mask(ids, drawn), self.encoder.model
        may_learn = self.settings.encoder_rate is not None
        learns = torch.is_grad_enabled() and may_learn
        if not may_learn:
            model.eval()
        with torch.set_grad_enabled(learns):
            extra_inputs = self.encoder.extra_inputs(texts, indices)
            hidden = self.encoder.read(masked.ids, mask, **extra_inputs)
        return hidden, masked

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the perplexity of masked words."""
        if self.valid is None:
            return {}
        self.module.eval()
        drawn = torch_stream(self.settings.seed, Purpose.VALID)
        losses = masked_losses(
            self.head,
            self.encoder.words,
            self.valid,
            partial(self._read, self.valid, drawn=drawn),
            token_budget=self.settings.batch_tokens,
        )
        perplexity = masked_perplexity(losses)
        return {"perplexity": perplexity, "score": -perplexity}

    def save(self, folder: Path) -> None:
        """Write the head, and the encoder if it learned too."""
        if self.settings.encoder_rate is not None:
            self.encoder.save(folder)
        self.head.save(folder)
