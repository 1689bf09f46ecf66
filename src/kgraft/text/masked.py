"""Masked tokens: hide tokens of a text, predict them with a head, and measure the perplexity.

Devlin et al. 2018: of the tokens 15 % are chosen; of those 80 % become the mask token, 10 % a
random one, 10 % stay. The head is h ↦ norm(gelu(h A + a)) Wᵀ + b, with W the encoder's own token
vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, linear

from kgraft.errors import BadInput
from kgraft.tensors import write_tensors
from kgraft.text.batching import length_batches
from kgraft.text.encoder import Encoder
from kgraft.text.windows import Windows

SHARE = 0.15  # of the tokens that are chosen
HEAD = "head.safetensors"  # the file of a head in a folder
LARGEST = 50.0  # mean loss up to which the perplexity is finite


@dataclass(frozen=True)
class Masked:
    """A batch of token ids, some of them masked."""

    ids: Tensor  # (B, L) what the model reads
    chosen: Tensor  # (B, L) bool: the tokens to predict
    target: Tensor  # (chosen,) their ids


class TokenMask:
    """Hides tokens of an encoder's input; special tokens and padding are never chosen."""

    def __init__(self, encoder: Encoder, *, share: float = SHARE) -> None:
        tokenizer = encoder.tokenizer
        if tokenizer.mask_token_id is None:
            raise BadInput(f"{encoder.name} has no mask token", remedy="choose another encoder")
        if not 0 < share < 1:
            raise BadInput(f"share is {share}", remedy="give a number between 0 and 1")
        self.mask, self.share = int(tokenizer.mask_token_id), share
        self.words = encoder.model.get_input_embeddings().num_embeddings
        self.special = torch.tensor(sorted(tokenizer.all_special_ids))

    def __call__(
        self, ids: Tensor, generator: torch.Generator, *, shares: Tensor | None = None
    ) -> Masked:
        """Hide tokens of a batch (B, L); `shares` (B, L) are probabilities for each one."""
        ordinary = ~torch.isin(ids, self.special)
        share = torch.full(ids.shape, self.share) if shares is None else shares
        draw = torch.rand(ids.shape, generator=generator)
        chosen = ordinary & (draw < share)
        other = torch.randint(self.words, ids.shape, generator=generator)
        shown = torch.where(chosen & (draw < 0.9 * share), other, ids)
        shown = shown.masked_fill(chosen & (draw < 0.8 * share), self.mask)
        return Masked(shown, chosen, ids[chosen])


class MaskedHead(nn.Module):
    """Predicts masked tokens."""

    def __init__(self, size: int, words: int) -> None:
        super().__init__()
        self.dense, self.norm = nn.Linear(size, size), nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(words))

    @classmethod
    def of(cls, encoder: Encoder) -> MaskedHead:
        """Return a new head for an encoder."""
        words = encoder.model.get_input_embeddings().num_embeddings
        return cls(encoder.dimension, words)

    @classmethod
    def load(cls, folder: str | Path, encoder: Encoder) -> MaskedHead:
        """Load a head that was trained on an encoder, from its folder."""
        head, file = cls.of(encoder), Path(folder) / HEAD
        try:
            head.load_state_dict(load_file(file))
        except (OSError, RuntimeError) as error:
            raise BadInput(f"no head fits ({error})", file=str(file)) from error
        return head.eval()

    def save(self, folder: str | Path) -> None:
        """Write the head to a folder."""
        write_tensors(Path(folder) / HEAD, self.state_dict())

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """Return the logits of all tokens, from (n, D) and token vectors (V, D) to (n, V)."""
        embeddings = embeddings.to(hidden.device)
        return linear(self.norm(gelu(self.dense(hidden))), embeddings, self.bias)

    def loss(self, hidden: Tensor, masked: Masked, embeddings: Tensor) -> Tensor:
        """Return the mean cross-entropy of the chosen tokens, given hidden states (B, L, D)."""
        if not len(masked.target):
            return (hidden * 0.0).sum().abs()
        return cross_entropy(self(hidden[masked.chosen], embeddings), masked.target)


@torch.no_grad()
def masked_losses(
    head: MaskedHead,
    embeddings: Tensor,
    windows: Windows,
    read: Callable[[np.ndarray], tuple[Tensor, Masked]],
    *,
    token_budget: int,
) -> np.ndarray:
    """Return the summed loss and the number of masked tokens of each window, (W, 2).

    `read` masks and reads windows, given their indices: it returns the hidden states (B, L, D) and
    what was masked.
    """
    losses = np.zeros((len(windows), 2))
    for indices in length_batches(windows.lengths, token_budget):
        hidden, masked = read(indices)
        logits = head(hidden[masked.chosen], embeddings)
        loss = cross_entropy(logits, masked.target, reduction="none").double().cpu().numpy()
        row = masked.chosen.nonzero()[:, 0].cpu().numpy()
        losses[indices, 0] = np.bincount(row, weights=loss, minlength=len(indices))
        losses[indices, 1] = np.bincount(row, minlength=len(indices))
    return losses


def masked_perplexity(losses: np.ndarray) -> float:
    """Return e to the mean loss of masked tokens, given `masked_losses`; 1 if none are masked."""
    loss, count = losses.sum(0)
    return exp(min(loss / max(count, 1), LARGEST))
