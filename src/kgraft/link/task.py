"""A link model in training: spans of a part of the texts, one update, validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.link.coherence import Pairs, Support
from kgraft.link.evaluate import best_threshold, score_texts, standard_error
from kgraft.link.head import link_loss, log_probabilities
from kgraft.link.learned_names import LearnedName
from kgraft.link.linking import fixed_features
from kgraft.link.losses import entity_loss, mention_loss
from kgraft.link.model import COHERENCE_FEATURES, EncoderOutput, LinkModel
from kgraft.link.reading import SpanVectors, word_spans
from kgraft.link.settings import LinkSettings
from kgraft.link.spans import logits_at, span_logits, span_means
from kgraft.link.training_texts import TrainingSpans, TrainingTexts, training_spans
from kgraft.text import length_batches
from kgraft.training import (
    AdamWTask,
    Purpose,
    Schedule,
    TrainingSettings,
    seeded,
    stream,
    torch_stream,
    without_prefix,
)

WATCHED = "weak_f1"
_EPOCH = "epoch"


@dataclass(frozen=True)
class Part:
    """Some texts of one source, which are gone through together."""

    source: TrainingTexts
    rows: np.ndarray  # of the texts


class LinkTask(AdamWTask[np.ndarray]):
    """A link model in training; a batch is the indices of windows.

    An epoch of the loop is one part of the texts: before it, the model looks for the spans and
    candidates to learn from, so that the nearest wrong candidates are always those of today.
    What is written is never worse on the validation texts than the model was before, by
    `errors_ahead` standard errors.
    """

    kind = LinkModel.kind
    watch = WATCHED

    def __init__(
        self,
        model: LinkModel,
        sources: Sequence[TrainingTexts],
        valid: Sequence[TrainingTexts],
        settings: LinkSettings,
        *,
        names: tuple[LearnedName, ...] = (),
        errors_ahead: float = 0.0,
    ) -> None:
        self.valid, self.settings, self.errors_ahead = valid, settings, errors_ahead
        self._identity = _identity(model, sources, valid)
        self.model = model.prepare_training(seed=settings.seed)
        self.parts = _cut_parts(sources, settings)
        head = list(model.head.parameters())
        in_head = {id(parameter) for parameter in head}
        others = [p for p in model.parameters() if p.requires_grad and id(p) not in in_head]
        groups = [(settings.learning_rate, others), (settings.head_rate, head)]
        super().__init__(model, groups, weight_decay=settings.weight_decay)
        lower = settings.learning_rate / 3
        self.remedy = f"lower learning_rate, for example to {lower:.2g}"
        self.before = Before.of(self)
        self._learn_names(sources, names)
        self.spans: TrainingSpans | None = None
        self.spans_epoch = -1
        self._proposed_by: dict[str, Tensor] = {}  # the model that did, and the epoch
        self.steps = self._count_steps()

    def _learn_names(
        self, sources: Sequence[TrainingTexts], names: tuple[LearnedName, ...]
    ) -> None:
        """Let the model find entities by further names, in training and validation too."""
        self.model.names = tuple(sorted({*self.model.names, *names}))
        for source in (*sources, *self.valid):
            source.knowledge.learn(self.model.names)

    @property
    def epochs(self) -> int:
        """How many parts all passes have together."""
        return self.settings.epochs * len(self.parts)

    def identity(self) -> dict[str, Any]:
        """Return the texts and the model that training starts from."""
        return self._identity

    def schedule(self, settings: TrainingSettings) -> Schedule:
        """Return the schedule: one validation per pass over all parts."""
        every = len(self.parts) if self.valid else self.epochs
        return Schedule(self.epochs, settings.patience, every)

    def state(self) -> dict[str, Tensor]:
        """Return parameters and optimiser."""
        state = {f"model.{name}": tensor for name, tensor in self.model.small_state().items()}
        state |= {f"optimiser.{n}": tensor for n, tensor in self.optimiser_state().items()}
        state |= {f"proposed_by.{name}": tensor for name, tensor in self._proposed_by.items()}
        return {name: tensor.clone() for name, tensor in state.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        self.model.load_small_state(without_prefix("model.", state))
        self.load_optimiser_state(without_prefix("optimiser.", state))
        self._proposed_by = without_prefix("proposed_by.", state)

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Look for the spans of an epoch, and return its windows in batches of like length."""
        if self.spans_epoch != epoch:
            self._find_spans(epoch)
        assert self.spans is not None
        seed = int(stream(self.settings.seed, Purpose.ORDER, epoch).integers(1 << 31))
        lengths = self.spans.windows.lengths
        return length_batches(lengths, self.settings.batch_tokens, seed=seed)

    def _find_spans(self, epoch: int) -> None:
        """Find spans with the model as it is when an epoch begins, also where that is resumed."""
        part, index = self._part(epoch), torch.tensor(epoch)
        own = {name: tensor.clone() for name, tensor in self.model.small_state().items()}
        resumed = bool(self._proposed_by.get(_EPOCH, index - 1) == index)
        if resumed:
            self.model.load_small_state(self._proposed_by)
        self.model.eval()
        with torch.no_grad():
            self.spans = training_spans(self.model, part.source, part.rows)
        self.spans_epoch = epoch
        if resumed:
            self.model.load_small_state(own)
        elif part.source.knowledge.index is not None:  # names do not depend on the model
            self._proposed_by = {**own, _EPOCH: index}

    def _part(self, epoch: int) -> Part:
        order = stream(self.settings.seed, Purpose.SPLIT, epoch // len(self.parts))
        return self.parts[order.permutation(len(self.parts))[epoch % len(self.parts)]]

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once; dropout comes from the seed and the step."""
        self.model.train()
        dropout = torch_stream(self.settings.seed, Purpose.STEP, step)
        with seeded(dropout.initial_seed()):
            losses = self._losses(batch, stream(self.settings.seed, Purpose.DATA, step))
        loss = torch.stack(list(losses.values())).sum()
        return self.update(loss, step) | {name: part.item() for name, part in losses.items()}

    def _count_steps(self) -> int:
        """Return about how many steps there are, by the number of characters."""
        characters = sum(
            len(part.source.texts.texts[row]) for part in self.parts for row in part.rows
        )
        texts = sum(len(part.rows) for part in self.parts)
        tokens = characters / 4 + 4 * texts
        per_epoch = max(1, int(tokens / (0.75 * self.settings.batch_tokens)))
        return per_epoch * self.settings.epochs

    def validate(self) -> dict[str, float]:
        """Return the mean figures on the validation texts, at a threshold that suits each.

        Where every mention is marked, it is one near that of the model. Where only some are, links
        that nobody has judged count as wrong, and any threshold is rather too high than too low.
        """
        if not self.valid:
            return {}
        self.model.eval()
        partial = not self.settings.fully_annotated
        near = None if partial else self.model.config.threshold
        every = []
        for source in self.valid:
            mentions = score_texts(self.model, source.knowledge, source.texts.texts)
            every.append(best_threshold(mentions, source.texts, partial=partial, near=near))
        return {name: float(np.mean([values[name] for values in every])) for name in every[0]}

    def save(self, folder: Path) -> None:
        """Write the better one of the trained model and the one before."""
        adaptation = self._keep_better()
        facts = {"settings": self.settings.to_dict(), **self._identity, "adaptation": adaptation}
        self.model.save_pretrained(folder, facts=facts)

    def _keep_better(self) -> dict[str, Any]:
        """Keep the trained model or the one before, with a threshold that suits it; say which."""
        model, before, after = self.model, self.before.figures, dict(self.best_figures)
        improved = not self.valid or self._gain(before, after) >= 0
        if not improved:
            model.load_small_state(self.before.state)
            model.names = self.before.names
        figures = after if improved else before
        threshold = figures.get("threshold", model.config.threshold)
        model.config = model.config.replace(threshold=threshold)
        return {"before": before, "after": after, "improved": improved}

    def _gain(self, before: dict[str, float], after: dict[str, float]) -> float:
        """Return how much better the model is than before, beyond a number of standard errors."""
        mentions = sum(len(source.texts.mentions) for source in self.valid)
        margin = self.errors_ahead * standard_error(before[WATCHED], mentions)
        return after[WATCHED] - before[WATCHED] - margin

    # The losses of a batch

    def _losses(self, batch: np.ndarray, draw: np.random.Generator) -> dict[str, Tensor]:
        spans = self.spans
        assert spans is not None
        ids, mask = map(torch.from_numpy, spans.windows.padded(batch))
        output = self.model(ids, mask)
        losses = self._link_losses(spans, batch, output, draw)
        if spans.teaches_mentions:
            losses["mentions"] = mention_loss(*self._mention_targets(spans, batch, output))
        return losses

    def _mention_targets(
        self, spans: TrainingSpans, batch: np.ndarray, output: EncoderOutput
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-odds, targets and weights of all spans, (B, L, W) each."""
        longest = self.model.longest
        logits = span_logits(output.marks, longest)
        weights = word_spans(spans.windows, batch, *spans.edges, longest).float()
        targets = torch.zeros_like(logits)
        row, mention = spans.places.rows_in(batch)
        first, last = spans.places.first[mention], spans.places.last[mention]
        short = last - first <= longest
        row, mention, first, last = (a[short] for a in (row, mention, first, last))
        where = (row, first, last - first - 1)
        is_gold = spans.is_gold[mention]
        own = np.where(is_gold, 1.0, spans.weight[mention]).astype(np.float32)
        weights[where] *= torch.from_numpy(own)
        targets[where] = torch.from_numpy(is_gold.astype(np.float32))
        return logits, targets, weights

    def _link_losses(
        self,
        spans: TrainingSpans,
        batch: np.ndarray,
        output: EncoderOutput,
        draw: np.random.Generator,
    ) -> dict[str, Tensor]:
        """Return the losses of the mentions of a batch and their candidates."""
        row, mention = spans.places.rows_in(batch)
        owner_rows, candidate = spans.candidates(mention)
        if not len(candidate):
            return {"links": output.marks.sum() * 0}
        gold = _local_rows(spans.gold[mention], candidate)
        read = self._read_mentions(spans, row, mention, output)
        owner = torch.from_numpy(owner_rows)
        dots = (_entity_vectors(spans, candidate) * read.vectors[owner]).sum(1)
        readable = draw.random(len(batch)) >= self.settings.silence
        fixed = fixed_features(spans.features[candidate], dots, read, owner, readable[row])
        losses = {"links": self._two_passes(fixed, owner, gold, mention, candidate, draw)}
        if (gold >= 0).any():
            losses["entities"] = _entity_loss(spans, candidate, dots, owner, gold, read.vectors)
        return losses

    @staticmethod
    def _read_mentions(
        spans: TrainingSpans, row: np.ndarray, mention: np.ndarray, output: EncoderOutput
    ) -> SpanVectors:
        """Return what the model sees at mentions of a batch, with gradients."""
        places = spans.places.select(mention)
        columns = tuple(map(torch.from_numpy, (row, places.first, places.last)))
        logits, vectors = logits_at(output.marks, *columns), span_means(output.vectors, *columns)
        return SpanVectors(places, logits, vectors)

    def _drop_gold(
        self, gold: np.ndarray, candidates: int, draw: np.random.Generator
    ) -> tuple[Tensor, np.ndarray]:
        """Take the right candidate of some mentions away, as if the graph had no such entity."""
        gone = (gold >= 0) & (draw.random(len(gold)) < self.settings.drop_gold)
        dropped = torch.zeros(candidates, dtype=torch.bool)
        dropped[torch.from_numpy(gold[gone])] = True
        return dropped, np.where(gone, -1, gold)

    def _two_passes(
        self,
        fixed: Tensor,
        owner: Tensor,
        gold: np.ndarray,
        mention: np.ndarray,
        candidate: np.ndarray,
        draw: np.random.Generator,
    ) -> Tensor:
        """Return the mean loss of the link head without and with coherence.

        The right candidate of some mentions is left out (see `_drop_gold`).
        """
        spans = self.spans
        assert spans is not None
        dropped, remaining = self._drop_gold(gold, len(candidate), draw)
        right, weight = torch.from_numpy(remaining), torch.from_numpy(spans.weight[mention])
        silence = torch.zeros(len(fixed), len(COHERENCE_FEATURES))
        first = self.model.head(torch.cat([fixed, silence], dim=1))
        first = first.masked_fill(dropped, -torch.inf)
        loss = link_loss(first, owner, right, weight)
        with torch.no_grad():
            score = log_probabilities(first, owner, len(gold))[0].exp()
            support = _within(spans.support, candidate).features(score)
        second = self.model.head(torch.cat([fixed, support], dim=1))
        second = second.masked_fill(dropped, -torch.inf)
        return (loss + link_loss(second, owner, right, weight)) / 2


def _entity_vectors(spans: TrainingSpans, candidate: np.ndarray) -> Tensor:
    return spans.entity_vectors[torch.from_numpy(spans.entity_row[candidate])]


def _entity_loss(
    spans: TrainingSpans,
    candidate: np.ndarray,
    dots: Tensor,
    owner: Tensor,
    gold: np.ndarray,
    vectors: Tensor,
) -> Tensor:
    """Return the loss of the mentions (M,) whose right candidate is known, by its row in `gold`."""
    marked = np.flatnonzero(gold >= 0)
    right = gold[marked]
    marked_vectors = vectors[torch.from_numpy(marked)]
    entities = _entity_vectors(spans, candidate[right])
    ids = torch.from_numpy(spans.mentions.entity[candidate[right]])
    return entity_loss(dots, owner, torch.from_numpy(right), marked_vectors, entities, ids)


def _local_rows(gold: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Return the rows of right candidates among the candidates of a batch, -1 where none is."""
    order = np.argsort(candidate)
    row = np.searchsorted(candidate, np.maximum(gold, 0), sorter=order)
    return np.where(gold >= 0, order[np.minimum(row, len(order) - 1)], -1)


def _within(support: Support, candidate: np.ndarray) -> Support:
    """Return which candidates of a batch support each other, by their rows in the batch."""
    return Support(_batch_pairs(support.pairs, candidate))


def _batch_pairs(pair: Pairs, candidate: np.ndarray) -> Pairs:
    if not len(pair[0]):
        return pair
    largest = max(int(candidate.max()), int(pair[0].max()), int(pair[1].max()))
    row = np.full(largest + 1, -1)
    row[candidate] = np.arange(len(candidate))
    one, other = row[pair[0]], row[pair[1]]
    inside = (one >= 0) & (other >= 0)
    return one[inside], other[inside]


def _cut_parts(sources: Sequence[TrainingTexts], settings: LinkSettings) -> list[Part]:
    """Return the texts of all sources in random parts."""
    parts = []
    for index, source in enumerate(sources):
        order = stream(settings.seed, Purpose.SPLIT, 1 << 20, index).permutation(len(source.texts))
        count = max(1, -(-len(order) // settings.part))
        parts += [Part(source, np.sort(rows)) for rows in np.array_split(order, count) if len(rows)]
    return parts


@dataclass(frozen=True)
class Before:
    """A model as it is before training."""

    state: dict[str, Tensor]
    names: tuple[LearnedName, ...]
    figures: dict[str, float]

    @classmethod
    def of(cls, task: LinkTask) -> Before:
        """Keep a model's weights and names, and its figures on the validation texts."""
        state = {name: tensor.clone() for name, tensor in task.model.small_state().items()}
        return cls(state, task.model.names, task.validate())


def _identity(
    model: LinkModel, sources: Sequence[TrainingTexts], valid: Sequence[TrainingTexts]
) -> dict[str, Any]:
    return {
        "sources": [_source_identity(source) for source in sources],
        "valid": [_source_identity(source) for source in valid],
        "init_from": model.digest(),
    }


def _source_identity(source: TrainingTexts) -> list[str]:
    weights = f"{source.unmarked} {source.none_ratio} {source.teaches_mentions}"
    return [source.knowledge.graph.manifest.version, source.texts.digest(), weights]
