"""Masked-word perplexity: how surprised a model is by hidden words, with and without knowledge.

Of each text 15 % of the tokens are hidden, the same ones on both sides. What knowledge may tell of
a mention with hidden words is a choice: nothing (its candidates are masked too), or, for texts with
links, where those lead (`told`; candidates of all other such mentions are masked).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgraft.graft import GraftedEncoder, NoticedWindows
from kgraft.text import Masked, MaskedHead, TokenMask, masked_losses
from kgraft.training import torch_stream


def perplexity_counts(
    encoder: GraftedEncoder,
    head: MaskedHead,
    texts: NoticedWindows,
    *,
    told: bool = False,
    knowing: bool = True,
    seed: int = 0,
) -> np.ndarray:
    """Return the summed loss and the number of hidden words of each window, (W, 2)."""
    mask_tokens = TokenMask(encoder)
    encoder.model.eval()

    def read(windows: np.ndarray) -> tuple[Tensor, Masked]:
        ids, mask = map(torch.from_numpy, texts.padded(windows))
        masked = mask_tokens(ids, torch_stream(seed, *windows[:1].tolist(), len(windows)))
        if not knowing:
            return encoder.read(masked.ids, mask), masked
        mentions = texts.mentions(windows)
        if told:
            mentions = {layer: m.told() for layer, m in mentions.items()}
        mentions = {layer: m.silent(masked.chosen, told=told) for layer, m in mentions.items()}
        return encoder.read(masked.ids, mask, knowledge=mentions), masked

    return masked_losses(head, encoder.words, texts, read, token_budget=4096)
