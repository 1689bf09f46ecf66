"""A joint model in pre-training: four losses, one update, and a memory that keeps up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.graph_losses import GraphLosses
from kgraft.joint.heads import Heads, mean_loss
from kgraft.joint.memories import remembering
from kgraft.joint.model import JointModel
from kgraft.joint.samplers import rivals
from kgraft.joint.settings import PretrainSettings
from kgraft.joint.texts import LinkedBatch, LinkedWindows
from kgraft.progress import Progress
from kgraft.text import TokenMask, length_batches
from kgraft.training import Processes, stream, torch_stream
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded
from kgraft.vectors.memory import Memory

VERSION = "memory.version"
_BATCH, _STEP, _VALID = 0, 1, 2  # what a stream of random numbers is for


class JointTrainee(Learner):
    """See `kgraft.training.Trainee`; with `knowing` false the merge is skipped."""

    def __init__(
        self,
        model: JointModel,
        heads: Heads,
        graph: Graph,
        memory: Memory,
        texts: LinkedWindows,
        valid: LinkedWindows | None,
        settings: PretrainSettings,
        *,
        knowing: bool = True,
        processes: Processes | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.model, self.heads, self.graph, self.memory = model, heads, graph, memory
        self.texts, self.valid, self.settings, self.knowing = texts, valid, settings, knowing
        self.processes, self.progress = processes or Processes(), progress
        self.mask = TokenMask(model.encoder)
        self.descriptions = Descriptions(graph, model.language)
        self.graph_losses = GraphLosses(
            model, heads, graph, memory, roots=settings.roots, length=settings.walk
        )
        groups = [
            (settings.language_rate, model.language.parameters()),
            (settings.knowledge_rate, model.knowledge.parameters()),
            (settings.head_rate, heads.parameters()),
        ]
        module = nn.ModuleDict({"model": model, "heads": heads})
        super().__init__(module, groups, weight_decay=settings.weight_decay)
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))
        self._saved = 0

    def state(self) -> dict[str, Tensor]:
        """Return parameters, optimiser, and which version of the memory goes with them."""
        version = torch.tensor([self.memory.version])
        self.memory.delete_before(self._saved)
        self._saved = self.memory.version
        return super().state() | {VERSION: version}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back; a memory that is no longer there is made anew when it is needed."""
        super().load(state)
        self._saved = int(state[VERSION])
        if not self.memory.switch_to(self._saved):
            self.memory.switch_to(0)

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return windows of like length together."""
        seed = int(stream(self.settings.seed, _BATCH, epoch).integers(1 << 31))
        return length_batches(self.texts.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Refresh the memory if it is time, and move the parameters once."""
        self._keep_up(place)
        self.module.train()
        here = (_STEP, place, self.processes.index)
        mine = batch[self.processes.index :: self.processes.count]
        drawn = torch_stream(self.settings.seed, *here)
        with seeded(drawn.initial_seed()):
            random = stream(self.settings.seed, *here)
            losses = self._losses(self.texts.batch(mine), drawn, random)
        weights = self.settings.weights
        loss = sum((getattr(weights, n) * x for n, x in losses.items()), torch.zeros(()))
        self.move(loss, place, self.processes)
        told = torch.stack([loss.detach(), *(x.detach() for x in losses.values())])
        told = self.processes.sum_(told) / self.processes.count
        return dict(zip(("loss", *losses), told.tolist(), strict=True))

    def _keep_up(self, place: int) -> None:
        """Refresh the memory until it is what the schedule asks for before a step.

        What an encoder reads at first it may have read before: see `remembering`.
        """
        refreshing = self.settings.refreshing
        while self.memory.version < 1 + refreshing.before(place):
            if self.processes.main:
                first = not self.memory.version and place == 0
                read = remembering(self.descriptions) if first else self.descriptions.read
                self.memory.refresh(read, momentum=refreshing.momentum, progress=self.progress)
            self.processes.wait()
            self.memory.switch_to(self.memory.version + (not self.processes.main))

    # The four losses

    def _losses(
        self, batch: LinkedBatch, drawn: torch.Generator, random: np.random.Generator
    ) -> dict[str, Tensor]:
        weights, losses = self.settings.weights, dict[str, Tensor]()
        if weights.words or weights.mentions:
            losses |= self._text_losses(batch, drawn, random)
        if weights.categories or weights.relations:
            losses |= self.graph_losses(random)
        return {name: loss for name, loss in losses.items() if getattr(weights, name)}

    def _text_losses(
        self, batch: LinkedBatch, drawn: torch.Generator, random: np.random.Generator
    ) -> dict[str, Tensor]:
        weights, losses = self.settings.weights, dict[str, Tensor]()
        if not len(batch.ids):  # a process may get no share of a small batch
            return {"words": torch.zeros(()), "mentions": torch.zeros(())}
        lost = torch.rand(len(batch.entity), generator=drawn) < self.settings.masked_mentions
        masked = self.mask(batch.ids, drawn)
        read = self._read(batch, masked.ids, ~lost, random)
        if weights.words:
            losses["words"] = self.heads.words.loss(read, masked, self.model.encoder.words)
        if weights.mentions:
            scores = self._mention_scores(batch, read, lost, random)
            losses["mentions"] = mean_loss(scores, scores.new_zeros(len(scores)).long())
        return losses

    def _read(
        self, batch: LinkedBatch, ids: Tensor, shown: Tensor, random: np.random.Generator
    ) -> Tensor:
        return self.model.read(
            batch,
            self.graph,
            self.memory,
            seed=int(random.integers(1 << 31)),
            ids=ids,
            shown=shown,
            knowing=self.knowing,
        )

    def _mention_scores(
        self, batch: LinkedBatch, read: Tensor, lost: Tensor, random: np.random.Generator
    ) -> Tensor:
        """Return the scores of the candidates of mentions whose entity is lost, the right first."""
        gold = batch.entity[lost].numpy()
        settings = self.settings
        found = rivals(self.graph, gold, settings.neighbours, settings.strangers, random)
        candidates = torch.from_numpy(found)
        vectors = self.memory.take(candidates).to(read.device)
        scores: Tensor = self.heads.mentions(batch.ends(read)[lost], vectors)
        return scores.masked_fill((candidates < 0).to(read.device), -torch.inf)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the perplexity of masked words, and how often masked entities are told."""
        if self.valid is None:
            return {}
        self._keep_up(0)
        self.module.eval()
        drawn = torch_stream(self.settings.seed, _VALID)
        random = stream(self.settings.seed, _VALID)
        loss, words, right, asked = 0.0, 0, 0, 0
        for numbers in length_batches(self.valid.lengths, self.settings.batch_tokens):
            batch = self.valid.batch(numbers)
            masked = self.mask(batch.ids, drawn)
            lost = torch.rand(len(batch.entity), generator=drawn) < self.settings.masked_mentions
            read = self._read(batch, masked.ids, ~lost, random)
            mean = self.heads.words.loss(read, masked, self.model.encoder.words)
            loss, words = loss + mean.item() * len(masked.target), words + len(masked.target)
            scores = self._mention_scores(batch, read, lost, random)
            best = scores[:, 0] > scores[:, 1:].amax(-1)
            right, asked = right + int(best.sum()), asked + len(scores)
        perplexity = math.exp(min(loss / max(words, 1), 50.0))
        told = right / max(asked, 1)
        return {"perplexity": perplexity, "mentions": told, "score": told - math.log(perplexity)}
