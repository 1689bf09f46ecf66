"""A joint model in pre-training: four losses, one update, and a memory that keeps up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.corpus import AnnotatedTexts
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.graph_losses import GraphLosses
from kgraft.joint.graph_memory import cached_reader
from kgraft.joint.heads import mean_loss, new_heads
from kgraft.joint.merge_norm import init_merge_norm
from kgraft.joint.model import JointModel
from kgraft.joint.samplers import negative_candidates
from kgraft.joint.settings import PretrainSettings
from kgraft.joint.windows import GoldWindows, TextBatch
from kgraft.progress import Progress
from kgraft.tensors import write_tensors
from kgraft.text import Masked, TokenMask, length_batches, masked_losses, masked_perplexity
from kgraft.training import (
    AdamWTask,
    ParameterGroups,
    Processes,
    Purpose,
    seeded,
    stream,
    torch_stream,
)
from kgraft.vectors import Memory

HEADS = "heads.safetensors"
VERSION = "memory.version"


class MaskedBatch(NamedTuple):
    """What was read of a batch in which words and entities were masked."""

    batch: TextBatch
    masked: Masked
    is_lost: Tensor  # (S,) the mentions whose entity was masked
    hidden: Tensor  # (B, L, F)


class JointTask(AdamWTask[np.ndarray]):
    """A joint model in pre-training; without `use_knowledge` its texts are read without the graph.

    A batch is the indices of windows. The memory of the graph is in the folder of the run.
    """

    kind = JointModel.kind
    remedy = "lower the learning rates"
    memory: Memory
    graph_losses: GraphLosses

    def __init__(
        self,
        model: JointModel,
        graph: Graph,
        texts: AnnotatedTexts,
        valid: AnnotatedTexts | None,
        settings: PretrainSettings,
        *,
        identity: Mapping[str, Any] | None = None,
        use_knowledge: bool = True,
        processes: Processes | None = None,
    ) -> None:
        if not len(texts):
            raise BadInput("there is no text to learn from", remedy="give more texts")
        self.model, self.graph, self.settings = model, graph, settings
        self.use_knowledge = use_knowledge
        self.texts = _gold_windows(model, texts)
        self.valid = _gold_windows(model, valid) if valid else None
        self._identity = {**(identity or {}), "texts": texts.digest()}
        self.heads = new_heads(model, graph, settings.seed)
        self.mask = TokenMask(model.encoder)
        self.descriptions = Descriptions(graph, model.language)
        self.progress: Progress | None = None
        super().__init__(
            nn.ModuleDict({"model": model, "heads": self.heads}),
            _parameter_groups(model, self.heads, settings),
            weight_decay=settings.weight_decay,
            processes=processes,
        )
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))
        self._saved_version = 0

    # What the loop asks for

    def identity(self) -> dict[str, Any]:
        """Return the model, the graph and the texts."""
        return {
            **self._identity,
            "model": self.model.config.to_dict(),
            "encoder": self.model.encoder.name,
            "graph": self.graph.manifest.version,
            "use_knowledge": self.use_knowledge,
        }

    def set_up(self, folder: Path, progress: Progress) -> None:
        """Open the memory, and initialise the merging norm of a model that is not trained yet."""
        init_merge_norm(self.model, self.graph)
        facts = {**self.settings.to_dict(), **self.identity()}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        self.memory = Memory(
            folder / f"memory-{digest[:8]}",
            entities=len(self.graph.entities),
            relations=len(self.graph.relations),
            size=self.model.encoder.dimension,
        )
        self.graph_losses = GraphLosses(
            self.model,
            self.heads,
            self.graph,
            self.memory,
            roots=self.settings.roots,
            length=self.settings.walk,
        )
        self.progress = progress

    def state(self) -> dict[str, Tensor]:
        """Return parameters, optimiser, and which version of the memory goes with them."""
        version = torch.tensor([self.memory.version])
        self.memory.delete_before(self._saved_version)
        self._saved_version = self.memory.version
        return super().state() | {VERSION: version}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back; a memory that is no longer there is read again when it is needed."""
        super().load_state(state)
        self._saved_version = int(state[VERSION])
        if not self.memory.switch_to(self._saved_version):
            self.memory.switch_to(0)

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return windows of similar length together."""
        seed = int(stream(self.settings.seed, Purpose.ORDER, epoch).integers(1 << 31))
        return length_batches(self.texts.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Refresh the memory if it is time, and update the parameters once."""
        self._refresh_memory(step)
        self.module.train()
        own = batch[self.processes.index :: self.processes.count]
        path = (self.settings.seed, Purpose.STEP, step, self.processes.index)
        drawn = torch_stream(*path)
        with seeded(drawn.initial_seed()):
            losses = self._losses(self.texts.batch(own), drawn, stream(*path))
        weights = self.settings.weights
        total = sum((getattr(weights, n) * x for n, x in losses.items()), torch.zeros(()))
        self.update(total, step)
        values = torch.stack([total.detach(), *(x.detach() for x in losses.values())])
        means = self.processes.sum_(values) / self.processes.count
        return dict(zip(("loss", *losses), means.tolist(), strict=True))

    def _refresh_memory(self, step: int) -> None:
        """Refresh the memory until it is what the schedule asks for before a step.

        What an encoder reads at first it may have read before: see `cached_reader`.
        """
        refresh = self.settings.refresh
        while self.memory.version < 1 + refresh.before(step):
            if self.processes.main:
                is_first = not self.memory.version and step == 0
                read = cached_reader(self.descriptions) if is_first else self.descriptions.read
                self.memory.refresh(read, momentum=refresh.momentum, progress=self.progress)
            self.processes.wait()
            self.memory.switch_to(self.memory.version + (not self.processes.main))

    def save(self, folder: Path) -> None:
        """Write the model, and the heads it was pre-trained with."""
        write_tensors(folder / HEADS, self.heads.state_dict())
        facts = {"settings": self.settings.to_dict(), **self.identity()}
        self.model.save_pretrained(folder, facts=facts)

    # The four losses

    def _losses(
        self, batch: TextBatch, drawn: torch.Generator, random: np.random.Generator
    ) -> dict[str, Tensor]:
        weights, losses = self.settings.weights, dict[str, Tensor]()
        if weights.words or weights.mentions:
            losses |= self._text_losses(batch, drawn, random)
        if weights.categories or weights.relations:
            losses |= self.graph_losses(random)
        return {name: loss for name, loss in losses.items() if getattr(weights, name)}

    def _text_losses(
        self, batch: TextBatch, drawn: torch.Generator, random: np.random.Generator
    ) -> dict[str, Tensor]:
        weights, losses = self.settings.weights, dict[str, Tensor]()
        if not len(batch.ids):  # a process may get no part of a small batch
            return {"words": torch.zeros(()), "mentions": torch.zeros(())}
        read = self._read(batch, drawn, random)
        if weights.words:
            words = self.model.encoder.words
            losses["words"] = self.heads.words.loss(read.hidden, read.masked, words)
        if weights.mentions:
            scores = self._mention_scores(read, random)
            losses["mentions"] = mean_loss(scores, scores.new_zeros(len(scores)).long())
        return losses

    def _read(
        self, batch: TextBatch, drawn: torch.Generator, random: np.random.Generator
    ) -> MaskedBatch:
        """Mask words and entities of a batch, and read it."""
        draws = torch.rand(len(batch.mentions.window), generator=drawn)
        is_lost = draws < self.settings.masked_mentions
        masked = self.mask(batch.ids, drawn)
        hidden = self.model.read(
            batch._replace(ids=masked.ids),
            self.graph,
            self.memory,
            seed=int(random.integers(1 << 31)),
            shown=~is_lost,
            use_knowledge=self.use_knowledge,
        )
        return MaskedBatch(batch, masked, is_lost, hidden)

    def _mention_scores(self, read: MaskedBatch, random: np.random.Generator) -> Tensor:
        """Return the scores of the candidates of mentions whose entity is masked, gold first."""
        mentions = read.batch.mentions
        candidates = torch.from_numpy(
            negative_candidates(
                self.graph,
                mentions.first_entity[read.is_lost].numpy(),
                self.settings.neighbours,
                self.settings.random_negatives,
                random,
            )
        )
        vectors = self.memory.take(candidates).to(read.hidden.device)
        asked = mentions.end_means(read.hidden)[read.is_lost]
        scores: Tensor = self.heads.mentions(asked, vectors)
        return scores.masked_fill((candidates < 0).to(scores.device), -torch.inf)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the perplexity of masked words, and how often masked entities are told."""
        valid = self.valid
        if valid is None:
            return {}
        self._refresh_memory(0)
        self.module.eval()
        drawn = torch_stream(self.settings.seed, Purpose.VALID)
        random = stream(self.settings.seed, Purpose.VALID)
        is_right = [torch.zeros(0, dtype=torch.bool)]

        def read(indices: np.ndarray) -> tuple[Tensor, Masked]:
            output = self._read(valid.batch(indices), drawn, random)
            scores = self._mention_scores(output, random)
            is_right.append((scores[:, 0] > scores[:, 1:].amax(-1)).cpu())
            return output.hidden, output.masked

        budget = self.settings.batch_tokens
        words = self.model.encoder.words
        losses = masked_losses(self.heads.words, words, valid, read, token_budget=budget)
        return _figures(masked_perplexity(losses), torch.cat(is_right))


def _gold_windows(model: JointModel, texts: AnnotatedTexts) -> GoldWindows:
    return GoldWindows.of(model.encoder.windows(texts.texts), texts)


def _parameter_groups(
    model: JointModel, heads: nn.Module, settings: PretrainSettings
) -> ParameterGroups:
    """Return the parameters that are trained, by their learning rate."""
    return [
        (settings.language_rate, model.language.parameters()),
        (settings.knowledge_rate, model.knowledge.parameters()),
        (settings.head_rate, heads.parameters()),
    ]


def _figures(perplexity: float, is_right: Tensor) -> dict[str, float]:
    """Return the figures of a validation: of masked words, and of masked entities (M,)."""
    mentions = int(is_right.sum()) / max(len(is_right), 1)
    return {"perplexity": perplexity, "mentions": mentions, "score": mentions - log(perplexity)}
