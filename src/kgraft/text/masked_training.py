"""Training on masked words: a head learns to read an encoder, which may learn with it.

An encoder that was published without a head gets one here. While the encoder does not change, no
gradient is computed through it.

    fit(MaskedTask(encoder, MaskedHead.of(encoder), texts, valid, settings), "head", settings)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.storage import Kind
from kgraft.tensors import write_tensors
from kgraft.text.batching import length_batches
from kgraft.text.encoder import Encoder
from kgraft.text.masked import HEAD, Masked, MaskedHead, TokenMask
from kgraft.text.settings import MaskedSettings
from kgraft.text.windows import Windows
from kgraft.training import AdamWTask, Purpose, seeded, stream, torch_stream

MOST_LOSS = 50.0  # above it, a perplexity is no number that is worth telling


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
            loss, _ = self._loss(self.texts, batch, drawn)
        return self.update(loss, step)

    def _loss(
        self, texts: Windows, indices: np.ndarray, drawn: torch.Generator
    ) -> tuple[Tensor, Masked]:
        ids, mask = map(torch.from_numpy, texts.padded(indices))
        masked, model = self.mask(ids, drawn), self.encoder.model
        may_learn = self.settings.encoder_rate is not None
        learns = torch.is_grad_enabled() and may_learn
        if not may_learn:
            model.eval()
        with torch.set_grad_enabled(learns):
            extra_inputs = self.encoder.beside(texts, indices)
            read = self.encoder.read(masked.ids, mask, **extra_inputs)
        words = self.encoder.words if learns else self.encoder.words.detach()
        return self.head.loss(read, masked, words), masked

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the perplexity of masked words."""
        if self.valid is None:
            return {}
        self.module.eval()
        drawn = torch_stream(self.settings.seed, Purpose.VALID)
        loss, words = 0.0, 0
        for indices in length_batches(self.valid.lengths, self.settings.batch_tokens):
            mean, masked = self._loss(self.valid, indices, drawn)
            loss += mean.item() * len(masked.target)
            words += len(masked.target)
        perplexity = math.exp(min(loss / max(words, 1), MOST_LOSS))
        return {"perplexity": perplexity, "score": -perplexity}

    def save(self, folder: Path) -> None:
        """Write the head, and the encoder if it learned too."""
        if self.settings.encoder_rate is not None:
            self.encoder.save(folder)
        write_tensors(folder / HEAD, self.head.state_dict())
