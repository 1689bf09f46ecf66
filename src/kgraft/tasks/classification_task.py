"""An encoder in fine-tuning to classify spans, with or without knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot

from kgraft.graft import GraftedEncoder, GraftOutput, knowledge_off, record_grafts
from kgraft.tasks.examples import Examples
from kgraft.tasks.settings import ClassificationSettings
from kgraft.text import Encoder, MentionBatch, TokenSpans, Windows, freeze_bottom, length_batches
from kgraft.training import AdamWTask, Purpose, seeded, stream, torch_stream

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from kgraft.tasks.classification import Classification


class SpanClassifier(nn.Module):
    """From the vectors of an example's spans to the log-odds of classes.

    Of two spans a and b it looks at [a, b, |a - b|, a * b].
    """

    def __init__(self, size: int, spans: int, classes: int, dropout: float) -> None:
        super().__init__()
        width = size * (4 if spans == 2 else spans)
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(width, size),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(size, classes),
        )

    def forward(self, spans: Tensor) -> Tensor:
        """Take spans (N, P, D) to log-odds (N, C)."""
        if spans.shape[1] == 2:
            a, b = spans.unbind(1)
            spans = torch.stack([a, b, (a - b).abs(), a * b], dim=1)
        logits: Tensor = self.layers(spans.flatten(1))
        return logits


@dataclass(frozen=True)
class ExampleWindows:
    """Examples with their windows and the tokens of their spans."""

    examples: Examples
    windows: Windows
    spans: TokenSpans  # (N P,)

    @classmethod
    def of(cls, encoder: Encoder, examples: Examples) -> ExampleWindows:
        """Cut the texts of examples; a span that no window holds is read at its window's start."""
        windows = encoder.windows(examples.texts)
        columns = (examples.text, examples.start, examples.end)
        spans = windows.locate(*(column.ravel() for column in columns))
        first_window = np.searchsorted(windows.text, examples.text.ravel())
        is_lost = spans.window < 0
        window = np.where(is_lost, first_window, spans.window)
        last = np.where(is_lost, 1, spans.last)
        return cls(examples, windows, TokenSpans(window, spans.first, last))

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of the longest window of each example, (N,)."""
        window = self.spans.window.reshape(len(self.examples), -1)
        lengths: np.ndarray = self.windows.lengths[window].max(1)
        return lengths

    def vectors(self, encoder: Encoder, rows: np.ndarray) -> Tensor:
        """Read the spans of some examples, (n, P, D + E).

        That is the mean of their tokens, followed by the mean of the vectors that grafts have of
        the mentions they overlap: zeros where there are none.
        """
        spans = self._spans_of(rows)
        indices, window_row = np.unique(spans.window, return_inverse=True)
        read, record, knowledge = self._read(encoder, indices)
        window = torch.from_numpy(window_row)
        first, last = (torch.from_numpy(side)[:, None] for side in (spans.first, spans.last))
        parts = [_means(_covered(first, last, read.shape[1]), read[window])]
        for layer, size in mention_sizes(encoder).items():
            if layer in record:
                overlaps = _overlaps(knowledge[layer], window, first, last)
                parts.append(_means(overlaps, record[layer].mention_vectors[window]))
            else:
                parts.append(read.new_zeros(len(window), size))
        vectors = torch.cat(parts, -1)
        return vectors.view(len(rows), -1, vectors.shape[1])

    def _read(
        self, encoder: Encoder, indices: np.ndarray
    ) -> tuple[Tensor, dict[int, GraftOutput], dict[int, MentionBatch]]:
        """Read windows; return their tokens, what grafts made of them, and their mentions."""
        ids, mask = map(torch.from_numpy, self.windows.padded(indices))
        extra_inputs = encoder.extra_inputs(self.windows, indices)
        with record_grafts() as record:
            read = encoder.read(ids, mask, **extra_inputs)
        return read, record, extra_inputs.get("knowledge", {})

    def _spans_of(self, rows: np.ndarray) -> TokenSpans:
        """Return the spans of some examples, those of one after those of another."""
        per_example = self.examples.text.shape[1]
        return self.spans.select((rows[:, None] * per_example + np.arange(per_example)).ravel())


def _covered(first: Tensor, last: Tensor, length: int) -> Tensor:
    """Return which columns each span first:last covers, (n, length)."""
    column = torch.arange(length)
    return (column >= first) & (column < last)


def _overlaps(batch: MentionBatch, window: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return which mentions of its window overlap each span first:last, (n, M)."""
    overlaps = (batch.first[window] < last) & (batch.last[window] > first)
    return overlaps & batch.present[window]


def _token_means(tokens: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the mean of the tokens first:last of each row, (n, D)."""
    column = torch.arange(tokens.shape[1])
    return _means((column >= first) & (column < last), tokens)


def _means(chosen: Tensor, vectors: Tensor) -> Tensor:
    """Return the mean of those of some vectors (n, K, D) that are chosen (n, K); 0 of none."""
    weights = chosen / chosen.sum(1, keepdim=True).clamp_min(1)
    return torch.bmm(weights[:, None].to(vectors.dtype), vectors)[:, 0]


def mention_sizes(encoder: Encoder) -> dict[int, int]:
    """Return the sizes of the vectors that grafts have of mentions, by layer."""
    return encoder.grafts.mention_sizes if isinstance(encoder, GraftedEncoder) else {}


class ClassificationTask(AdamWTask[np.ndarray]):
    """An encoder and a classifier in training; a batch is the indices of examples."""

    remedy = "lower the learning rates"

    def __init__(
        self,
        encoder: Encoder,
        task: Classification,
        examples: Examples,
        valid: Examples,
        settings: ClassificationSettings,
        *,
        use_knowledge: bool = True,
    ) -> None:
        self.encoder, self.task, self.settings = encoder, task, settings
        self.train = ExampleWindows.of(encoder, examples)
        self.valid = ExampleWindows.of(encoder, valid)
        self.turns_off = isinstance(encoder, GraftedEncoder) and not use_knowledge
        with seeded(settings.seed):
            spans = examples.text.shape[1]
            size = encoder.dimension + sum(mention_sizes(encoder).values())
            self.head = SpanClassifier(size, spans, len(task.classes), settings.dropout)
        if settings.frozen_layers:
            freeze_bottom(encoder.model, settings.frozen_layers, keep=["grafts"])
        module = nn.ModuleDict({"model": encoder.model, "head": self.head})
        super().__init__(module, _groups(encoder.model, self.head, settings))
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return the examples of an epoch in batches of similar length."""
        seed = int(stream(self.settings.seed, Purpose.ORDER, epoch).integers(1 << 31))
        return length_batches(self.train.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once."""
        self.module.train()
        drawn = torch_stream(self.settings.seed, Purpose.STEP, step)
        with seeded(drawn.initial_seed()), self._knowledge():
            loss = self._loss(batch)
        return self.update(loss, step)

    def _loss(self, batch: np.ndarray) -> Tensor:
        logits = self.head(self.train.vectors(self.encoder, batch))
        classes = torch.from_numpy(self.train.examples.classes[batch])
        if self.task.several:
            return binary_cross_entropy_with_logits(logits, classes.float())
        return cross_entropy(logits, classes.int().argmax(1))

    def validate(self) -> dict[str, float]:
        """Return the task's figure on validation examples."""
        figure = float(self.task.figure(self.counts(self.valid).sum(0)))
        return {self.task.metric: figure, "score": figure}

    @torch.no_grad()
    def counts(self, data: ExampleWindows) -> np.ndarray:
        """Return the counts of each example, (N, K), that the task's figure is made of."""
        self.module.eval()
        predicted = np.zeros_like(data.examples.classes)
        with self._knowledge():
            for rows in length_batches(data.lengths, self.settings.batch_tokens):
                logits = self.head(data.vectors(self.encoder, rows))
                predicted[rows] = self._decide(logits).numpy()
        return self.task.counts(data.examples.classes, predicted)

    def _decide(self, logits: Tensor) -> Tensor:
        """Return the classes of examples: the likeliest, and with several all above one half."""
        best = one_hot(logits.argmax(1), logits.shape[1]).bool()
        return best | (logits > 0) if self.task.several else best

    def _knowledge(self) -> AbstractContextManager[None]:
        return knowledge_off(self.encoder.model) if self.turns_off else nullcontext()


def _groups(
    model: PreTrainedModel, head: SpanClassifier, settings: ClassificationSettings
) -> list[tuple[float, list[nn.Parameter]]]:
    """Return what is trained, by its rate."""
    trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    host, grafts = (
        [p for n, p in trainable if n.startswith("grafts.") == is_graft]
        for is_graft in (False, True)
    )
    return [
        (settings.learning_rate, host),
        (settings.graft_rate, grafts),
        (settings.head_rate, list(head.parameters())),
    ]
