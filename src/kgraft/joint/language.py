"""The language module: an encoder cut in two, with knowledge merged in at the cut.

Z  = LM1(text)                             the layers up to the cut
Z' = LayerNorm(Z + E)                      E is an entity's vector at the tokens of its mentions,
                                           nothing elsewhere
LM = LM2(Z')                               the layers above
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgraft.errors import BadInput
from kgraft.text import Encoder, changed_after, layers_of


class Language(nn.Module):
    """An encoder of any family, cut after one of its layers (counted from 1)."""

    def __init__(self, encoder: Encoder, cut: int | None = None) -> None:
        super().__init__()
        layers = layers_of(encoder.model)
        self.cut = len(layers) // 2 if cut is None else cut
        if not 1 <= self.cut < len(layers):
            remedy = f"choose 1 to {len(layers) - 1}, so that both halves have layers"
            raise BadInput(f"the encoder cannot be cut after layer {self.cut}", remedy=remedy)
        self.encoder, self.model = encoder, encoder.model
        self.norm = nn.LayerNorm(encoder.dimension).to(encoder.device)

    @property
    def is_initialised(self) -> bool:
        """Whether the merging norm was initialised or trained."""
        return not (bool((self.norm.weight == 1).all()) and bool((self.norm.bias == 0).all()))

    @torch.no_grad()
    def init_merge_norm(self, below: Tensor) -> None:
        """Let the merging norm change almost nothing at first, given some Z (n, F) of LM1."""
        self.norm.weight.fill_(float(below.std(-1, correction=0).mean()))
        self.norm.bias.fill_(float(below.mean(-1).mean()))

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return Z (B, L, F) of tokens and their mask (B, L); the upper layers do no work."""
        try:
            with changed_after(self.model, self.cut, _stop):
                self.encoder.read(ids, mask)
        except _CutError as cut:
            return cut.hidden.to(ids.device)
        raise AssertionError("no layer was read")

    def forward(self, ids: Tensor, mask: Tensor, knowledge: Tensor | None = None) -> Tensor:
        """Return LM (B, L, F); `knowledge` is E (B, L, F), None where there is none."""

        def merge(hidden: Tensor) -> Tensor:
            total = hidden if knowledge is None else hidden + knowledge.to(hidden)
            merged: Tensor = self.norm(total)
            return merged

        with changed_after(self.model, self.cut, merge):
            return self.encoder.read(ids, mask)


class _CutError(Exception):
    """Carries Z out of an encoder that need not read on."""

    def __init__(self, hidden: Tensor) -> None:
        super().__init__()
        self.hidden = hidden


def _stop(hidden: Tensor) -> Tensor:
    raise _CutError(hidden)
