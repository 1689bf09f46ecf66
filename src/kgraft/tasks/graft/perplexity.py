"""Masked-word perplexity, with and without knowledge.

Of each text 15 % of the tokens are masked, the same ones on both sides. What knowledge may say of a
mention with masked tokens is a choice: nothing (its candidates are masked too), or, for texts with
links, where those lead (`gold_only`; candidates of all other such mentions are masked).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kgraft.corpus import read_annotated
from kgraft.graft import GraftedEncoder, MentionWindows, locate_mentions
from kgraft.measure import Difference, paired_difference, perplexity
from kgraft.progress import Progress
from kgraft.tasks.graft import GRAFT_TASKS
from kgraft.tasks.interfaces import GraftEvaluation
from kgraft.text import Masked, MaskedHead, TokenMask, masked_losses
from kgraft.training import torch_stream

TOKENS = 4096  # read at once


def perplexity_counts(
    encoder: GraftedEncoder,
    head: MaskedHead,
    texts: MentionWindows,
    *,
    gold_only: bool = False,
    use_knowledge: bool = True,
    seed: int = 0,
) -> np.ndarray:
    """Return the summed loss and the number of masked tokens of each window, (W, 2)."""
    mask_tokens = TokenMask(encoder)
    encoder.model.eval()

    def read(windows: np.ndarray) -> tuple[Tensor, Masked]:
        ids, mask = map(torch.from_numpy, texts.padded(windows))
        masked = mask_tokens(ids, torch_stream(seed, *windows[:1].tolist(), len(windows)))
        if not use_knowledge:
            return encoder.read(masked.ids, mask), masked
        shown = {}
        for layer, mentions in texts.mentions(windows).items():
            mentions = mentions.gold_only() if gold_only else mentions
            shown[layer] = mentions.mask_candidates(masked.chosen, keep_gold=gold_only)
        return encoder.read(masked.ids, mask, knowledge=shown), masked

    return masked_losses(head, encoder.words, texts, read, token_budget=TOKENS)


class PerplexityEvaluation(GraftEvaluation):
    """Masked-word perplexity of annotated texts; nothing is trained."""

    def compare(
        self,
        model: Path,
        data: Path,
        *,
        seeds: int = 1,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Difference:
        """Compare the perplexity with the knowledge on and off."""
        encoder = GraftedEncoder.from_pretrained(model)
        head = MaskedHead.load(model, encoder)
        layer = encoder.grafts.layers[0]
        graph = encoder.grafts.knowledge[layer].graph
        texts = locate_mentions(encoder, read_annotated(data, graph), layer)
        on, off = (
            perplexity_counts(encoder, head, texts, use_knowledge=side) for side in (True, False)
        )
        return paired_difference(on, off, figure=perplexity)


GRAFT_TASKS.register("perplexity")(PerplexityEvaluation())
