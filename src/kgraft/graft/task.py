"""A grafted encoder in training: first the linkers inside the grafts, then all with the host."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.errors import BadInput
from kgraft.graft.encoder import GraftedEncoder
from kgraft.graft.graft_folder import GraftFolder, host_digest
from kgraft.graft.grafting import knowledge_off, record_grafts
from kgraft.graft.losses import likelihood_loss, margin_loss
from kgraft.graft.next_sentence import NextSentenceHead
from kgraft.graft.settings import GraftSettings
from kgraft.graft.windows import MentionWindows
from kgraft.progress import Progress
from kgraft.storage import Kind
from kgraft.text import (
    Masked,
    MaskedHead,
    MaskedSettings,
    MaskedTask,
    MentionBatch,
    TokenMask,
    adapt,
    freeze_bottom,
    layers_of,
    length_batches,
    masked_losses,
    masked_perplexity,
)
from kgraft.training import (
    AdamWTask,
    Purpose,
    Schedule,
    TrainingSettings,
    fit,
    seeded,
    stream,
    torch_stream,
)

PARTS = ("linker", "graft", "host", "above", "head")  # that have a learning rate each
LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "likelihood": likelihood_loss,
    "margin": margin_loss,
}
OFTEN = 0.5  # how often words of mentions are masked that stay known


class Batch(NamedTuple):
    """Windows that are read together, with masked words or with mentions to link."""

    windows: np.ndarray
    masked: bool


class _Phase(NamedTuple):
    """Steps in which the same parameters learn."""

    first: int
    last: int  # exclusive
    only_linker: bool


class GraftTask(AdamWTask[Batch]):
    """A grafted encoder in training, with a head for masked words.

    Where no head is given, one is trained first, on the same texts. Without `use_knowledge` the
    same is trained without knowledge, to compare with: as many epochs, all on masked words.
    """

    kind: ClassVar[Kind] = GraftFolder.kind
    remedy = "lower the learning rates"

    def __init__(
        self,
        encoder: GraftedEncoder,
        texts: MentionWindows,
        valid: MentionWindows | None,
        settings: GraftSettings,
        *,
        head: MaskedHead | None = None,
        identity: Mapping[str, Any] | None = None,
        use_knowledge: bool = True,
    ) -> None:
        if not len(texts):
            raise BadInput("there is no text to train on", remedy="give more texts")
        self.encoder, self.texts, self.use_knowledge = encoder, texts, use_knowledge
        self.valid = valid if valid is not None and len(valid) else None
        self.settings = settings if use_knowledge else settings.without_knowledge()
        self._identity, self._trains_head = dict(identity or {}), head is None
        self.mask = TokenMask(encoder)
        _limit_host(encoder, settings)
        modules = self._modules(head)
        self.groups = self._groups(modules)
        rates = [(self._rate(name), group) for name, group in self.groups.items()]
        super().__init__(nn.ModuleDict(modules), rates, weight_decay=settings.weight_decay)
        self.phases = self._phases()

    def _modules(self, head: MaskedHead | None) -> dict[str, nn.Module]:
        """Return what is trained, with new heads where they are needed."""
        with seeded(self.settings.seed):
            self.head = MaskedHead.of(self.encoder) if head is None else head
        modules: dict[str, nn.Module] = {"model": self.encoder.model, "head": self.head}
        if self.texts.follows is not None:
            with seeded(self.settings.seed):
                self.next_sentence = NextSentenceHead(self.encoder.dimension)
            modules["next"] = self.next_sentence
        return modules

    def _groups(self, modules: Mapping[str, nn.Module]) -> dict[str, list[nn.Parameter]]:
        """Return what is trained, by the part whose learning rate it has."""
        grafts = self.encoder.grafts
        layers = layers_of(self.encoder.model)
        above = {id(p) for layer in layers[grafts.layers[0] :] for p in layer.parameters()}
        groups: dict[str, list[nn.Parameter]] = {name: [] for name in PARTS}
        for name in ("head", "next"):
            if name in modules:
                groups["head"] += modules[name].parameters()
        for name, parameter in self.encoder.model.named_parameters():
            if name.startswith("grafts."):
                _, layer, part = name.split(".", 2)
                links = part.startswith(grafts.at(int(layer)).linker_parts)
                groups["linker" if links else "graft"].append(parameter)
            elif parameter.requires_grad:
                groups["above" if id(parameter) in above else "host"].append(parameter)
        return {name: group for name, group in groups.items() if group}

    def _rate(self, part: str) -> float:
        rate: float = getattr(self.settings, f"{part}_rate")
        return rate

    # What the loop asks for

    def identity(self) -> Mapping[str, Any]:
        """Return what defines the run besides its settings."""
        host = host_digest(self.encoder.grafts.host_digests)
        return {**self._identity, "host": host, "use_knowledge": self.use_knowledge}

    def schedule(self, settings: TrainingSettings) -> Schedule:
        """Return when the run validates and ends."""
        schedule = super().schedule(settings)
        patience = None if self.valid is None else schedule.patience
        return replace(schedule, epochs=self.settings.all_epochs, patience=patience)

    def set_up(self, folder: Path, progress: Progress) -> None:
        """Train the head on masked words, if it has to be; that resumes as the run does."""
        if not (self._trains_head and self.settings.masks_words):
            return
        settings = MaskedSettings(seed=self.settings.seed)
        task = MaskedTask(
            self.encoder, self.head, self.texts, None, settings, identity=self.identity()
        )
        facts = json.dumps({**settings.to_dict(), **task.identity()}, sort_keys=True, default=str)
        out = folder / f"head-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"
        if not out.exists():
            with knowledge_off(self.encoder.model):
                for _ in fit(task, out, settings, progress=progress):
                    pass
        trained = MaskedHead.load(out, self.encoder)
        self.head.load_state_dict(trained.state_dict())

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Return windows of similar length together, each batch with a kind."""
        draw = stream(self.settings.seed, Purpose.ORDER, epoch)
        only_linker = epoch < self.settings.linker_epochs
        fraction = 0.0 if only_linker else self.settings.masked_fraction
        seed = int(draw.integers(1 << 31))
        cut = length_batches(self.texts.lengths, self.settings.batch_tokens, seed=seed)
        return [Batch(windows, bool(draw.random() < fraction)) for windows in cut]

    def _phases(self) -> tuple[_Phase, _Phase]:
        """Return the steps in which the linker learns alone, and those after."""
        counts = [len(self.batches(epoch)) for epoch in range(self.settings.all_epochs)]
        turn = sum(counts[: self.settings.linker_epochs])
        return _Phase(0, turn, True), _Phase(turn, sum(counts), False)

    def step(self, batch: Batch, step: int) -> dict[str, float]:
        """Update the parameters once; all randomness comes from the seed and the step."""
        phase = self.phases[0] if step < self.phases[0].last else self.phases[1]
        self._enter(phase)
        self.module.train()
        drawn = torch_stream(self.settings.seed, Purpose.STEP, step)
        with seeded(drawn.initial_seed()):
            losses = self._losses(batch, drawn)
        total = sum(losses.values(), torch.zeros(()))
        figures = {name: loss.item() for name, loss in losses.items()}
        return {**self.update(total, step - phase.first), **figures}

    def _enter(self, phase: _Phase) -> None:
        """Let those parameters learn that do in a phase, at the rates that they have in it."""
        self.steps = phase.last - phase.first
        for name, group in self.groups.items():
            for parameter in group:
                parameter.requires_grad_(name == "linker" or not phase.only_linker)
        later = {"linker": "graft"}  # the linker's own rate is for when it learns alone
        self.rates = [
            self._rate(name if phase.only_linker else later.get(name, name)) for name in self.groups
        ]

    # Losses

    def _losses(self, batch: Batch, drawn: torch.Generator) -> dict[str, Tensor]:
        ids, mask, mentions = read_batch(self.texts, batch.windows)
        if not batch.masked:
            _, scores = self._read(ids, mask, mentions)
            return self._link_losses(scores, mentions)
        keep_gold = bool(torch.rand((), generator=drawn) < self.settings.gold_fraction)
        shares = self._mask_shares(ids, mentions) if keep_gold else None
        masked = self._masked(self.texts, batch.windows, ids, drawn, shares)
        shown = self._shown(mentions, masked, drawn, keep_gold=keep_gold)
        hidden, scores = self._read(masked.ids, mask, shown)
        losses = self._text_losses(batch, hidden, masked)
        if self.texts.masked_word is not None:
            losses |= self._link_losses(scores, mentions)
        return losses

    def _text_losses(self, batch: Batch, hidden: Tensor, masked: Masked) -> dict[str, Tensor]:
        """Return the losses of masked words, and of which text follows which."""
        losses = {"words": self.head.loss(hidden, masked, self.encoder.words)}
        if self.texts.follows is not None:
            follows = torch.from_numpy(self.texts.follows[batch.windows])
            losses["next"] = self.next_sentence.loss(hidden, follows)
        return losses

    def _link_losses(
        self, scores: dict[int, Tensor], mentions: dict[int, MentionBatch]
    ) -> dict[str, Tensor]:
        """Return the loss of each linker."""
        return {
            f"links.{layer}": self._linker_loss(layer)(scores[layer], mentions[layer].gold_rank)
            for layer in scores
        }

    def _linker_loss(self, layer: int) -> Callable[[Tensor, Tensor], Tensor]:
        closed = self.encoder.grafts.knowledge[layer].closed
        return LOSSES[self.settings.linker_loss or ("likelihood" if closed else "margin")]

    def _masked(
        self,
        texts: MentionWindows,
        windows: np.ndarray,
        ids: Tensor,
        drawn: torch.Generator,
        shares: Tensor | None = None,
    ) -> Masked:
        """Mask tokens of windows, or ask for those that the texts mask already."""
        if texts.masked_word is None:
            return self.mask(ids, drawn, shares=shares)
        chosen = ids == self.mask.mask
        words = torch.from_numpy(texts.masked_word[windows])
        return Masked(ids, chosen, words[chosen.nonzero()[:, 0]])

    def _mask_shares(self, ids: Tensor, mentions: dict[int, MentionBatch]) -> Tensor:
        """Return how often each token is masked, (B, L): those of known mentions often."""
        shares = torch.full(ids.shape, self.mask.share)
        for batch in mentions.values():
            has_gold = (batch.covers(ids.shape[1]) & (batch.gold_rank >= 0)[:, None]).any(-1)
            shares = shares.masked_fill(has_gold, OFTEN)
        return shares

    def _shown(
        self,
        mentions: dict[int, MentionBatch],
        masked: Masked,
        drawn: torch.Generator,
        *,
        keep_gold: bool = False,
    ) -> dict[int, MentionBatch]:
        """Mask the candidates that would give masked words away, but for gold ones to keep.

        Where the texts themselves mask words, no candidate gives them away.
        """
        if self.texts.masked_word is not None:
            return mentions
        shown = {}
        for layer, batch in mentions.items():
            count = self.encoder.grafts.knowledge[layer].count
            batch = batch.gold_only() if keep_gold else batch
            shown[layer] = batch.mask_randomly(masked.chosen, drawn, count, keep_gold=keep_gold)
        return shown

    def _read(
        self, ids: Tensor, mask: Tensor, mentions: dict[int, MentionBatch]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """Return what was read, (B, L, D), and the scores of candidates by layer."""
        extra_inputs = {"knowledge": mentions} if self.use_knowledge else {}
        with record_grafts() as record:
            read = self.encoder.read(ids, mask, **extra_inputs)
        return read, {layer: output.scores.to(ids.device) for layer, output in record.items()}

    # Figures

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return how often the linkers are right, and the perplexity if words are masked.

        The score is that of the words, or else of the linkers.
        """
        if self.valid is None:
            return {}
        self.module.eval()
        accuracy = self._accuracy(self.valid)
        if not self.settings.masks_words:
            return {"accuracy": accuracy, "score": accuracy}
        perplexity = self._perplexity(self.valid)
        return {"accuracy": accuracy, "perplexity": perplexity, "score": -perplexity}

    def _accuracy(self, texts: MentionWindows) -> float:
        """Return the fraction of mentions with a gold candidate whose best candidate it is."""
        right = links = 0
        for windows in length_batches(texts.lengths, self.settings.batch_tokens):
            ids, mask, mentions = read_batch(texts, windows)
            _, scores = self._read(ids, mask, mentions)
            for layer, score in scores.items():
                gold = mentions[layer].gold_rank
                has_gold = gold >= 0
                right += int(torch.eq(score[has_gold].argmax(-1), gold[has_gold]).sum())
                links += int(has_gold.sum())
        return right / max(links, 1)

    def _perplexity(self, texts: MentionWindows) -> float:
        """Return the perplexity of masked words."""
        drawn = torch_stream(self.settings.seed, Purpose.VALID)

        def read(windows: np.ndarray) -> tuple[Tensor, Masked]:
            ids, mask, mentions = read_batch(texts, windows)
            masked = self._masked(texts, windows, ids, drawn)
            hidden, _ = self._read(masked.ids, mask, self._shown(mentions, masked, drawn))
            return hidden, masked

        budget = self.settings.batch_tokens
        losses = masked_losses(self.head, self.encoder.words, texts, read, token_budget=budget)
        return masked_perplexity(losses)

    def save(self, folder: Path) -> None:
        """Write the grafts with what changed in the host, and the head."""
        self.head.save(folder)
        facts = {**self.settings.to_dict(), **self.identity()}
        self.encoder.save_pretrained(folder, facts=facts)


def _limit_host(encoder: GraftedEncoder, settings: GraftSettings) -> None:
    """Let a host learn only by changes of a rank, or only above its lowest layers."""
    if settings.rank is not None:
        adapt(encoder.model, settings.rank, seed=settings.seed, keep=["grafts"])
    if settings.frozen_layers:
        freeze_bottom(encoder.model, settings.frozen_layers, keep=["grafts"])


def read_batch(
    texts: MentionWindows, windows: np.ndarray
) -> tuple[Tensor, Tensor, dict[int, MentionBatch]]:
    """Return token ids and mask (B, L), and the mentions by layer."""
    ids, mask = map(torch.from_numpy, texts.padded(windows))
    return ids, mask, texts.mentions(windows)
