"""A link model in training: spans of a part of the texts, one update, validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.graph.adjacency import expand
from kgraft.link.coherence import Pairs, Support
from kgraft.link.evaluate import best_threshold, score_texts
from kgraft.link.head import link_loss, log_probabilities
from kgraft.link.linking import encoder_features
from kgraft.link.losses import entity_loss, mention_loss
from kgraft.link.model import COHERENCE_FEATURES, EncoderOutput, LinkModel
from kgraft.link.reading import SpanVectors, word_spans
from kgraft.link.settings import LinkSettings
from kgraft.link.spans import logits_at, span_logits, span_means
from kgraft.link.training_texts import TrainingSpans, TrainingTexts, training_spans
from kgraft.text import length_batches
from kgraft.training import stream, torch_stream
from kgraft.training.adam import Adam, under, warmed_up
from kgraft.training.seeds import seeded

_BATCH, _DROPOUT, _PARTS, _SILENCE = range(4)  # what a stream of random numbers is for
_EPOCH = "epoch"


@dataclass(frozen=True)
class Part:
    """Some texts of one source, which are gone through together."""

    source: TrainingTexts
    rows: np.ndarray  # of the texts


class LinkTask:
    """A link model in training; see `kgraft.training.Trainee`.

    An epoch of the loop is one part of the texts: before it, the model looks for the spans and
    candidates to learn from, so that the nearest wrong candidates are always those of today.
    """

    def __init__(
        self,
        model: LinkModel,
        sources: Sequence[TrainingTexts],
        valid: Sequence[TrainingTexts],
        settings: LinkSettings,
    ) -> None:
        self.model, self.valid, self.settings = model, valid, settings
        self.parts = _cut_parts(sources, settings)
        head = list(model.head.parameters())
        in_head = {id(parameter) for parameter in head}
        others = [p for p in model.parameters() if p.requires_grad and id(p) not in in_head]
        self.rates = [settings.learning_rate, settings.head_rate]
        groups = [{"params": others}, {"params": head}]
        self.optimiser = Adam(groups, settings.learning_rate, weight_decay=settings.weight_decay)
        self.spans: TrainingSpans | None = None
        self.spans_epoch = -1
        self._found_by: dict[str, Tensor] = {}  # the model that proposed spans, and in which epoch
        self._steps_per_epoch: dict[int, int] = {}

    @property
    def epochs(self) -> int:
        """How many parts all passes have together."""
        return self.settings.epochs * len(self.parts)

    # What the loop asks for

    def state(self) -> dict[str, Tensor]:
        """Return parameters and optimiser."""
        state = {f"model.{name}": tensor for name, tensor in self.model.small_state().items()}
        state |= {f"optimiser.{n}": tensor for n, tensor in self.optimiser.flat_state().items()}
        state |= {f"found_by.{name}": tensor for name, tensor in self._found_by.items()}
        return {name: tensor.clone() for name, tensor in state.items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        self.model.load_small_state(under("model.", state))
        self.optimiser.load_flat(under("optimiser.", state))
        self._found_by = under("found_by.", state)

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Look for the spans of an epoch, and return its windows in batches of like length."""
        if self.spans_epoch != epoch:
            self._find_spans(epoch)
        assert self.spans is not None
        seed = int(stream(self.settings.seed, _BATCH, epoch).integers(1 << 31))
        lengths = self.spans.windows.lengths
        return length_batches(lengths, self.settings.batch_tokens, seed=seed)

    def _find_spans(self, epoch: int) -> None:
        """Find spans with the model as it is when an epoch begins, also where that is resumed."""
        part, index = self._part(epoch), torch.tensor(epoch)
        own = {name: tensor.clone() for name, tensor in self.model.small_state().items()}
        resumed = bool(self._found_by.get(_EPOCH, index - 1) == index)
        if resumed:
            self.model.load_small_state(self._found_by)
        self.model.eval()
        with torch.no_grad():
            self.spans = training_spans(self.model, part.source, part.rows)
        self.spans_epoch = epoch
        if resumed:
            self.model.load_small_state(own)
        elif part.source.knowledge.index is not None:  # names do not depend on the model
            self._found_by = {**own, _EPOCH: index}

    def _part(self, epoch: int) -> Part:
        order = stream(self.settings.seed, _PARTS, epoch // len(self.parts))
        return self.parts[order.permutation(len(self.parts))[epoch % len(self.parts)]]

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Update the parameters once; dropout comes from the seed and the place."""
        self.model.train()
        drawn = torch_stream(self.settings.seed, _DROPOUT, place)
        with seeded(drawn.initial_seed()):
            losses = self._losses(batch, stream(self.settings.seed, _SILENCE, place))
        loss = torch.stack(list(losses.values())).sum()
        scale = warmed_up(place, self._total_steps())
        self.optimiser.update(loss, [rate * scale for rate in self.rates])
        return {"loss": loss.item(), **{name: part.item() for name, part in losses.items()}}

    def _total_steps(self) -> int:
        """Return about how many steps there are, by the number of characters."""
        if not self._steps_per_epoch:
            tokens = sum(
                len(part.source.texts.texts[row]) / 4 + 4
                for part in self.parts
                for row in part.rows
            )
            self._steps_per_epoch[0] = max(1, int(tokens / (0.75 * self.settings.batch_tokens)))
        return self._steps_per_epoch[0] * self.settings.epochs

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

    # The losses of a batch

    def _losses(self, batch: np.ndarray, draw: np.random.Generator) -> dict[str, Tensor]:
        spans = self.spans
        assert spans is not None
        ids, mask = map(torch.from_numpy, spans.windows.padded(batch))
        output = self.model(ids, mask)
        losses = self._link_losses(batch, output, draw)
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
        self, batch: np.ndarray, output: EncoderOutput, draw: np.random.Generator
    ) -> dict[str, Tensor]:
        """Return the losses of the mentions of a batch and their candidates."""
        spans = self.spans
        assert spans is not None
        row, mention = spans.places.rows_in(batch)
        bounds = spans.mentions.bounds
        owner_rows, candidate = expand(bounds[mention], bounds[mention + 1])
        if not len(candidate):
            return {"links": output.marks.sum() * 0}
        columns = tuple(
            map(torch.from_numpy, (row, spans.places.first[mention], spans.places.last[mention]))
        )
        vectors = span_means(output.vectors, *columns)
        read = SpanVectors(spans.places.select(mention), logits_at(output.marks, *columns), vectors)
        owner = torch.from_numpy(owner_rows)
        entities = spans.entity_vectors[torch.from_numpy(spans.entity_row[candidate])]
        dots = (entities * vectors[owner]).sum(1)
        readable = draw.random(len(batch)) >= self.settings.silence
        encoded = encoder_features(dots, read, owner, torch.from_numpy(readable[row]))
        fixed = torch.cat([torch.from_numpy(spans.features[candidate]), encoded], dim=1)
        gold = _local_rows(spans.gold[mention], candidate)
        dropped, gold_left = self._drop_gold(gold, len(candidate), draw)
        weight = torch.from_numpy(spans.weight[mention])
        links = self._two_passes(fixed, owner, gold_left, weight, dropped, candidate)
        losses = {"links": links}
        marked = np.flatnonzero(gold >= 0)
        if len(marked):
            rows = torch.from_numpy(gold[marked])
            ids = torch.from_numpy(spans.mentions.entity[candidate[gold[marked]]])
            losses["entities"] = entity_loss(
                dots, owner, rows, vectors[torch.from_numpy(marked)], entities[rows], ids
            )
        return losses

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
        weight: Tensor,
        dropped: Tensor,
        candidate: np.ndarray,
    ) -> Tensor:
        """Return the mean loss of the link head without and with coherence."""
        spans, right = self.spans, torch.from_numpy(gold)
        assert spans is not None
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
    for number, source in enumerate(sources):
        order = stream(settings.seed, _PARTS, 1 << 20, number).permutation(len(source.texts))
        count = max(1, -(-len(order) // settings.part))
        parts += [Part(source, np.sort(rows)) for rows in np.array_split(order, count) if len(rows)]
    return parts
