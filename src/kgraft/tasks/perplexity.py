"""Masked-word perplexity: how surprised a model is by hidden words, with and without knowledge.

Of each text 15 % of the tokens are hidden, the same ones on both sides. What knowledge may tell of
a mention with hidden words is a choice: nothing (its candidates are masked too), or, for texts with
links, where those lead (`told`; candidates of all other such mentions are masked).
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from kgraft.graft import GraftedEncoder, NoticedWindows
from kgraft.text import length_batches
from kgraft.text.masked import MaskedHead, TokenMask
from kgraft.training import torch_stream


@torch.no_grad()
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
    mask_tokens, counts = TokenMask(encoder), np.zeros((len(texts), 2))
    encoder.model.eval()
    for numbers in length_batches(texts.lengths, 4096):
        ids, mask = map(torch.from_numpy, texts.padded(numbers))
        masked = mask_tokens(ids, torch_stream(seed, *numbers[:1].tolist(), len(numbers)))
        beside = {}
        if knowing:
            found = texts.mentions(numbers)
            if told:
                found = {layer: m.gold_only() for layer, m in found.items()}
            found = {
                layer: m.mask_candidates(masked.chosen, keep_gold=told)
                for layer, m in found.items()
            }
            beside = {"knowledge": found}
        read = encoder.read(masked.ids, mask, **beside)
        logits = head(read[masked.chosen], encoder.words)
        loss = cross_entropy(logits, masked.target, reduction="none").double().numpy()
        row = masked.chosen.nonzero()[:, 0].numpy()
        counts[numbers, 0] = np.bincount(row, weights=loss, minlength=len(numbers))
        counts[numbers, 1] = np.bincount(row, minlength=len(numbers))
    return counts
