"""A grafted encoder in training: batches of both kinds, one update, figures on validation texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graft.attach import looking
from kgraft.graft.encoder import GraftedEncoder, NoticedWindows
from kgraft.graft.losses import likelihood_loss, margin_loss
from kgraft.graft.mentions import Mentions
from kgraft.graft.next_sentence import NextHead
from kgraft.graft.settings import GraftSettings
from kgraft.text import (
    Masked,
    MaskedHead,
    TokenMask,
    layers_of,
    length_batches,
    masked_losses,
    masked_perplexity,
)
from kgraft.training import stream, torch_stream
from kgraft.training.adam import warmed_up
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded

LINKER = ("down.", "pool.", "own.", "entity.", "spans.", "score.")  # the parts of a graft that link
RATES = {name: f"{name}_rate" for name in ("linker", "graft", "host", "above", "head")}
LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "likelihood": likelihood_loss,
    "margin": margin_loss,
}
OFTEN = 0.5  # how often words of mentions are masked that stay known
_BATCH, _STEP, _VALID = 0, 1, 2  # what a stream of random numbers is for


class Batch(NamedTuple):
    """Windows that are read together, with masked words or with mentions to link."""

    windows: np.ndarray
    masked: bool


class GraftTrainee(Learner):
    """A grafted encoder and its head in training; see `kgraft.training.Trainee`.

    With `knowing` false the same is trained without knowledge, to compare with: as many epochs, all
    of them on masked words.
    """

    def __init__(
        self,
        encoder: GraftedEncoder,
        head: MaskedHead,
        texts: NoticedWindows,
        valid: NoticedWindows | None,
        settings: GraftSettings,
        *,
        knowing: bool = True,
    ) -> None:
        self.encoder, self.head, self.texts, self.valid = encoder, head, texts, valid
        self.settings, self.knowing = settings if knowing else settings.unknowing(), knowing
        self.mask = TokenMask(encoder)
        self.next = _next_head(encoder.dimension, settings.seed)
        parts: dict[str, nn.Module] = {"model": encoder.model, "head": head}
        if texts.follows is not None:
            parts["next"] = self.next
        self.groups = self._groups(parts)
        held = [(getattr(settings, RATES[name]), group) for name, group in self.groups.items()]
        super().__init__(nn.ModuleDict(parts), held, weight_decay=settings.weight_decay)
        self.bounds = self._bounds()

    def _groups(self, parts: Mapping[str, nn.Module]) -> dict[str, list[nn.Parameter]]:
        """Return what is trained, by the rate at which it learns."""
        lowest = self.encoder.grafts.layers[0]
        layers = layers_of(self.encoder.model)
        above = {id(p) for layer in layers[lowest:] for p in layer.parameters()}
        groups: dict[str, list[nn.Parameter]] = {name: [] for name in RATES}
        for name in ("head", "next"):
            if name in parts:
                groups["head"] += parts[name].parameters()
        for name, parameter in self.encoder.model.named_parameters():
            if name.startswith("grafts."):
                part = name.split(".", 2)[2]
                groups["linker" if part.startswith(LINKER) else "graft"].append(parameter)
            elif parameter.requires_grad:
                groups["above" if id(parameter) in above else "host"].append(parameter)
        return {name: held for name, held in groups.items() if held}

    # What the loop asks for

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Return windows of like length together, each with a kind."""
        draw = stream(self.settings.seed, _BATCH, epoch)
        share = 0.0 if self._linking(epoch) else self.settings.masked
        cut = length_batches(
            self.texts.lengths, self.settings.batch_tokens, seed=int(draw.integers(1 << 31))
        )
        return [Batch(windows, bool(draw.random() < share)) for windows in cut]

    def _linking(self, epoch: int) -> bool:
        return epoch < self.settings.linker_epochs

    def _bounds(self) -> list[int]:
        """Return the steps at which the two phases begin, and at which the last ends."""
        first, all_epochs = self.settings.linker_epochs, self.settings.all_epochs
        counts = [len(self.batches(epoch)) for epoch in range(all_epochs)]
        return [0, sum(counts[:first]), sum(counts)]

    def step(self, batch: Batch, place: int) -> dict[str, float]:
        """Move the parameters once; all that is random comes from the seed and the place."""
        linking = place < self.bounds[1]
        self._unfreeze(linking=linking)
        self.module.train()
        drawn = torch_stream(self.settings.seed, _STEP, place)
        with seeded(drawn.initial_seed()):
            losses = self._losses(batch, drawn)
        loss = sum(losses.values(), torch.zeros(()))
        self.optimiser.update(loss, self._rates(place, linking=linking))
        return {"loss": loss.item(), **{name: part.item() for name, part in losses.items()}}

    def _unfreeze(self, *, linking: bool) -> None:
        """Let all learn, or only the linker."""
        for name, group in self.groups.items():
            for parameter in group:
                parameter.requires_grad_(name == "linker" or not linking)

    def _rates(self, place: int, *, linking: bool) -> list[float]:
        """Return how fast each group learns at a step."""
        begin, end = self.bounds[:2] if linking else self.bounds[1:]
        share = warmed_up(place - begin, end - begin)
        named = ("graft" if name == "linker" and not linking else name for name in self.groups)
        return [getattr(self.settings, RATES[name]) * share for name in named]

    def _losses(self, batch: Batch, drawn: torch.Generator) -> dict[str, Tensor]:
        ids, mask, mentions = read_batch(self.texts, batch.windows)
        if not batch.masked:
            _, scores = self._read(ids, mask, mentions)
            return self._links(scores, mentions)
        told = bool(torch.rand((), generator=drawn) < self.settings.told)
        shares = self._often(ids, mentions) if told else None
        masked = self._masked(self.texts, batch.windows, ids, drawn, shares)
        shown = self._hidden(mentions, masked, drawn, told=told)
        hidden, scores = self._read(masked.ids, mask, shown)
        losses = {"words": self.head.loss(hidden, masked, self.encoder.words)}
        if self.texts.follows is not None:
            follows = torch.from_numpy(self.texts.follows[batch.windows])
            losses["next"] = self.next.loss(hidden, follows)
        if self.texts.hidden is not None:
            losses |= self._links(scores, mentions)
        return losses

    def _links(self, scores: dict[int, Tensor], mentions: dict[int, Mentions]) -> dict[str, Tensor]:
        """Return how far the linkers are from what is marked."""
        return {
            f"links.{layer}": self._linking_loss(layer)(scores[layer], mentions[layer].known)
            for layer in scores
        }

    def _masked(
        self,
        texts: NoticedWindows,
        windows: np.ndarray,
        ids: Tensor,
        drawn: torch.Generator,
        shares: Tensor | None = None,
    ) -> Masked:
        """Hide tokens of windows, or ask for those that are hidden already."""
        if texts.hidden is None:
            return self.mask(ids, drawn, shares=shares)
        chosen = ids == self.mask.mask
        return Masked(ids, chosen, torch.from_numpy(texts.hidden[windows])[chosen.nonzero()[:, 0]])

    def _often(self, ids: Tensor, mentions: dict[int, Mentions]) -> Tensor:
        """Return how often each token is masked, (B, L): those of known mentions often."""
        shares = torch.full(ids.shape, self.mask.share)
        for found in mentions.values():
            known = (found.held(ids.shape[1]) & (found.known >= 0)[:, None]).any(-1)
            shares = shares.masked_fill(known, OFTEN)
        return shares

    def _linking_loss(self, layer: int) -> Callable[[Tensor, Tensor], Tensor]:
        closed = self.encoder.grafts.knowledge[layer].closed
        return LOSSES[self.settings.loss or ("likelihood" if closed else "margin")]

    def _hidden(
        self,
        mentions: dict[int, Mentions],
        masked: Masked,
        drawn: torch.Generator,
        *,
        told: bool = False,
    ) -> dict[int, Mentions]:
        """Hide the candidates that would give masked words away, or tell what marked ones mean.

        What stands hidden in the texts already gives nothing away.
        """
        if self.texts.hidden is not None:
            return mentions
        known = self.encoder.grafts.knowledge
        shown = {layer: found.told() if told else found for layer, found in mentions.items()}
        return {
            layer: found.masked(masked.chosen, drawn, known[layer].count, told=told)
            for layer, found in shown.items()
        }

    def _read(
        self, ids: Tensor, mask: Tensor, mentions: dict[int, Mentions]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """Return what was read, (B, L, D), and the scores of candidates by layer."""
        given = {"knowledge": mentions} if self.knowing else {}
        with looking() as seen:
            read = self.encoder.read(ids, mask, **given)
        return read, {layer: looked.scores.to(ids.device) for layer, looked in seen.items()}

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return how often the linker is right, and the perplexity of words if some are masked."""
        if self.valid is None:
            return {}
        self.module.eval()
        right, links = 0, 0
        for windows in length_batches(self.valid.lengths, self.settings.batch_tokens):
            ids, mask, mentions = read_batch(self.valid, windows)
            _, scores = self._read(ids, mask, mentions)
            for layer, found in scores.items():
                gold = mentions[layer].known
                known = gold >= 0
                right += int(torch.eq(found[known].argmax(-1), gold[known]).sum())
                links += int(known.sum())
        figures = {"accuracy": right / max(links, 1)}
        if self.settings.masks:
            perplexity = self._perplexity(self.valid)
            figures |= {"perplexity": perplexity, "score": -perplexity}
        return figures

    def _perplexity(self, texts: NoticedWindows) -> float:
        """Return the perplexity of masked tokens of some texts."""
        drawn = torch_stream(self.settings.seed, _VALID)

        def read(windows: np.ndarray) -> tuple[Tensor, Masked]:
            ids, mask, mentions = read_batch(texts, windows)
            masked = self._masked(texts, windows, ids, drawn)
            hidden, _ = self._read(masked.ids, mask, self._hidden(mentions, masked, drawn))
            return hidden, masked

        budget = self.settings.batch_tokens
        losses = masked_losses(self.head, self.encoder.words, texts, read, token_budget=budget)
        return masked_perplexity(losses)


def _next_head(size: int, seed: int) -> NextHead:
    with seeded(seed):
        return NextHead(size)


def read_batch(
    texts: NoticedWindows, windows: np.ndarray
) -> tuple[Tensor, Tensor, dict[int, Mentions]]:
    """Return token ids and mask (B, L), and the mentions by layer."""
    ids, mask = map(torch.from_numpy, texts.padded(windows))
    return ids, mask, texts.mentions(windows)
