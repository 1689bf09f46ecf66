"""Classification of spans: a head on any encoder, with or without knowledge, and its training."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from transformers import PreTrainedModel

from kgraft.graft import GraftedEncoder, knowledge_off, record_grafts
from kgraft.tasks.examples import ClassTask, Examples
from kgraft.text import Encoder, TokenSpans, Windows, freeze_bottom, length_batches
from kgraft.training import stream, torch_stream
from kgraft.training.learner import Learner
from kgraft.training.seeds import seeded

_BATCH, _DROP = 0, 1  # what a stream of random numbers is for


@dataclass(frozen=True)
class ClassSettings:
    """How an encoder is fine-tuned to classify."""

    epochs: int = 4
    patience: int = 2
    learning_rate: float = 5e-5
    graft_rate: float = 1e-4  # of what is grafted on: faster, it forgets what it has learnt
    head_rate: float = 1e-3
    frozen: int = 0  # layers at the bottom, with the word vectors, that stay as they are
    batch_tokens: int = 1024
    dropout: float = 0.1
    seed: int = 0


class Classifier(nn.Module):
    """From the vectors of an example's spans to the log-odds of classes.

    Of two spans a and b it looks at [a, b, |a - b|, a * b].
    """

    def __init__(self, size: int, spans: int, classes: int, dropout: float) -> None:
        super().__init__()
        wide = size * (4 if spans == 2 else spans)
        self.layers = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(wide, size), nn.GELU(), nn.Dropout(dropout),
            nn.Linear(size, classes),
        )  # fmt: skip

    def forward(self, spans: Tensor) -> Tensor:
        """Take spans (N, P, D) to log-odds (N, C)."""
        if spans.shape[1] == 2:
            a, b = spans.unbind(1)
            spans = torch.stack([a, b, (a - b).abs(), a * b], dim=1)
        return self.layers(spans.flatten(1))


@dataclass(frozen=True)
class Ready:
    """Examples made ready for an encoder: their windows, and where their spans stand."""

    examples: Examples
    windows: Windows
    places: TokenSpans  # (N P,)

    @classmethod
    def of(cls, encoder: Encoder, examples: Examples) -> Ready:
        """Cut the texts of examples; a span that no window holds is read at its window's start."""
        windows = encoder.windows(examples.texts)
        sides = (examples.text, examples.start, examples.end)
        places = windows.locate(*(side.ravel() for side in sides))
        first = np.searchsorted(windows.text, examples.text.ravel())
        lost = places.window < 0
        window = np.where(lost, first, places.window)
        last = np.where(lost, 1, places.last)
        return cls(examples, windows, TokenSpans(window, places.first, last))

    @property
    def lengths(self) -> np.ndarray:
        """How many tokens the longest window of each example has."""
        window = self.places.window.reshape(len(self.examples), -1)
        return self.windows.lengths[window].max(1)

    def vectors(self, encoder: Encoder, rows: np.ndarray) -> Tensor:
        """Read the spans of some examples, (n, P, D + E).

        That is the mean of their tokens, and beside it the mean of what grafts knew of the mentions
        they touch: zeros where nothing is known.
        """
        spans = self.examples.text.shape[1]
        row = (rows[:, None] * spans + np.arange(spans)).ravel()
        place = self.places.select(row)
        windows, which = np.unique(place.window, return_inverse=True)
        ids, mask = map(torch.from_numpy, self.windows.padded(windows))
        extra_inputs = encoder.extra_inputs(self.windows, windows)
        with record_grafts() as seen:
            read = encoder.read(ids, mask, **extra_inputs)
        window = torch.from_numpy(which)
        first, last = torch.from_numpy(place.first)[:, None], torch.from_numpy(place.last)[:, None]
        column = torch.arange(read.shape[1])
        parts = [_means((column >= first) & (column < last), read[window])]
        for layer, size in known_sizes(encoder).items():
            if layer in seen:
                at = extra_inputs["knowledge"][layer]
                touched = (at.first[window] < last) & (at.last[window] > first)
                parts.append(
                    _means(touched & at.present[window], seen[layer].mention_vectors[window])
                )
            else:
                parts.append(read.new_zeros(len(row), size))
        return torch.cat(parts, -1).view(len(rows), spans, -1)


def _means(chosen: Tensor, vectors: Tensor) -> Tensor:
    """Return the mean of those of some vectors (n, K, D) that are chosen (n, K); 0 of none."""
    shares = chosen / chosen.sum(1, keepdim=True).clamp_min(1)
    return torch.bmm(shares[:, None].to(vectors.dtype), vectors)[:, 0]


def known_sizes(encoder: Encoder) -> dict[int, int]:
    """Return how much is known of a span beside its tokens: see `Grafts.mention_sizes`."""
    return encoder.grafts.mention_sizes if isinstance(encoder, GraftedEncoder) else {}


class ClassTrainee(Learner):
    """An encoder and a classifier in training; see `kgraft.training.Trainee`."""

    def __init__(
        self,
        encoder: Encoder,
        task: ClassTask,
        examples: Examples,
        valid: Examples,
        settings: ClassSettings,
        *,
        knowing: bool = True,
    ) -> None:
        self.encoder, self.task, self.settings = encoder, task, settings
        self.ready, self.valid = Ready.of(encoder, examples), Ready.of(encoder, valid)
        self.off = isinstance(encoder, GraftedEncoder) and not knowing
        with seeded(settings.seed):
            spans = examples.text.shape[1]
            classes = len(task.classes)
            size = encoder.dimension + sum(known_sizes(encoder).values())
            self.head = Classifier(size, spans, classes, settings.dropout)
        if settings.frozen:
            freeze_bottom(encoder.model, settings.frozen, keep=["grafts"])
        module = nn.ModuleDict({"model": encoder.model, "head": self.head})
        super().__init__(module, _groups(encoder.model, self.head, settings))
        self.steps = sum(len(self.batches(epoch)) for epoch in range(settings.epochs))

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Return the examples of an epoch in batches of like length."""
        seed = int(stream(self.settings.seed, _BATCH, epoch).integers(1 << 31))
        return length_batches(self.ready.lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once."""
        self.module.train()
        drawn = torch_stream(self.settings.seed, _DROP, place)
        with seeded(drawn.initial_seed()), self._knowledge():
            loss = self._loss(batch)
        return self.move(loss, place)

    def _loss(self, batch: np.ndarray) -> Tensor:
        logits = self.head(self.ready.vectors(self.encoder, batch))
        classes = torch.from_numpy(self.ready.examples.classes[batch])
        if self.task.several:
            return binary_cross_entropy_with_logits(logits, classes.float())
        return cross_entropy(logits, classes.int().argmax(1))

    def validate(self) -> dict[str, float]:
        """Return the task's figure on validation examples."""
        return {self.task.metric: float(self.task.figure(self.counts(self.valid).sum(0)))}

    @torch.no_grad()
    def counts(self, ready: Ready) -> np.ndarray:
        """Return the counts of each example, (N, K), that the task's figure is made of."""
        self.module.eval()
        found = np.zeros_like(ready.examples.classes)
        with self._knowledge():
            for rows in length_batches(ready.lengths, self.settings.batch_tokens):
                logits = self.head(ready.vectors(self.encoder, rows))
                found[rows] = self._decide(logits).numpy()
        return self.task.counts(ready.examples.classes, found)

    def _decide(self, logits: Tensor) -> Tensor:
        """Return the classes of examples: the likeliest, and with several all above one half."""
        best = torch.nn.functional.one_hot(logits.argmax(1), logits.shape[1]).bool()
        return best | (logits > 0) if self.task.several else best

    def _knowledge(self) -> AbstractContextManager[None]:
        return knowledge_off(self.encoder.model) if self.off else nullcontext()


def _groups(
    model: PreTrainedModel, head: Classifier, settings: ClassSettings
) -> list[tuple[float, list[nn.Parameter]]]:
    """Return what is trained, by its rate."""
    learning = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    host, grafts = (
        [p for n, p in learning if n.startswith("grafts.") == grafted] for grafted in (False, True)
    )
    return [
        (settings.learning_rate, host),
        (settings.graft_rate, grafts),
        (settings.head_rate, list(head.parameters())),
    ]
