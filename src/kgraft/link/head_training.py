"""Training the link head alone, on what the encoder, as it is, sees in annotated texts.

Each text is read once; after that an epoch takes seconds. It is the second stage of training, and
the way to learn from a handful of annotated texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.link.coherence import Support
from kgraft.link.features import FEATURES
from kgraft.link.head import link_loss, log_probabilities
from kgraft.link.linking import encoder_features
from kgraft.link.model import COHERENCE_FEATURES, ENCODER_FEATURES, LinkModel
from kgraft.link.reading import read_spans
from kgraft.link.training_texts import TrainingTexts, training_spans
from kgraft.training import stream

TEXTS = 256  # read together
MENTIONS = 800  # of a batch
NOISE = 0.5  # added to features, in standard deviations
SOURCE_FEATURES = [  # columns that identify a source of texts
    FEATURES.index(name) for name in ("covered English", "covered text", "text words", "generic")
]
IN_QUESTION = FEATURES.index("in question")
WARM_UP = 0.1  # fraction of the steps in which the learning rate rises


@dataclass(frozen=True)
class HeadExamples:
    """Mentions of some texts with the features of their candidates."""

    features: Tensor  # (C, F) without those of coherence
    owner: Tensor  # (C,)
    gold: Tensor  # (M,) row of the right candidate, -1 where none is
    weight: Tensor  # (M,)
    support: Support


def collect_examples(model: LinkModel, source: TrainingTexts) -> list[HeadExamples]:
    """Read annotated texts, and return the examples of part after part."""
    parts = np.array_split(np.arange(len(source.texts)), -(-len(source.texts) // TEXTS))
    read = (_read_part(model.eval(), source, part) for part in parts)
    return [batch for examples in read for batch in _cut(examples)]


def _cut(examples: HeadExamples) -> list[HeadExamples]:
    """Cut examples into batches of so many mentions."""
    count, owner = len(examples.gold), examples.owner.numpy()
    starts = np.arange(0, count, MENTIONS)
    edges = np.searchsorted(owner, np.append(starts, count))
    batches = []
    for start, low, high in zip(starts.tolist(), edges[:-1], edges[1:], strict=True):
        gold = examples.gold[start : start + MENTIONS]
        batches.append(
            HeadExamples(
                examples.features[low:high],
                examples.owner[low:high] - start,
                torch.where(gold >= 0, gold - low, gold),
                examples.weight[start : start + MENTIONS],
                examples.support.between(int(low), int(high)),
            )
        )
    return batches


@torch.no_grad()
def _read_part(model: LinkModel, source: TrainingTexts, part: np.ndarray) -> HeadExamples:
    spans = training_spans(model, source, part)
    read, _ = read_spans(model, spans.windows, spans.places)
    owner = torch.from_numpy(spans.mentions.owner)
    entities = spans.entity_vectors[torch.from_numpy(spans.entity_row)]
    dots = (entities * read.vectors[owner]).sum(1)
    readable = torch.ones(len(read), dtype=torch.bool)
    encoded = encoder_features(dots, read, owner, readable)
    return HeadExamples(
        torch.cat([torch.from_numpy(spans.features), encoded], dim=1),
        owner,
        torch.from_numpy(spans.gold),
        torch.from_numpy(spans.weight),
        spans.support,
    )


@dataclass(frozen=True)
class FeatureNoise:
    """What keeps the head from learning the sources by heart: noise, and features left out.

    The head is to work on graphs and texts that it has never seen. Features that hardly differ
    within one source, such as how much of general English its graph covers, identify the source and
    the habits of its annotators: in half of the steps each of them has its mean value.
    Questions are alike everywhere: there, what the encoder says stays as it is.
    """

    mean: Tensor  # (F,)
    spread: Tensor  # (F,) standard deviation
    strength: float = NOISE

    @classmethod
    def of(cls, examples: Sequence[HeadExamples]) -> FeatureNoise:
        """Measure the features of examples."""
        features = torch.cat([part.features for part in examples])
        return cls(features.mean(0), features.std(0, correction=0))

    def add(self, features: Tensor, owner: Tensor, draw: np.random.Generator) -> Tensor:
        """Return features with noise; it is the same for all candidates of a mention."""
        mentions = int(owner.max()) + 1
        drawn = draw.standard_normal((mentions, features.shape[1]), np.float32)
        noise = torch.from_numpy(drawn)[owner] * self.spread * self.strength
        noise[features[:, IN_QUESTION] > 0, -len(ENCODER_FEATURES) :] = 0
        noisy = features + noise
        for column in SOURCE_FEATURES:
            if draw.random() < 0.5:
                noisy[:, column] = self.mean[column]
        return noisy


def fit_head(
    model: LinkModel,
    examples: Sequence[HeadExamples],
    *,
    epochs: int = 40,
    learning_rate: float = 1e-3,
    silence: float = 0.15,
    drop_gold: float = 0.03,
    seed: int = 0,
) -> None:
    """Train the link head of a model on examples, in place."""
    usable = [e for e in examples if len(e.features) and float(e.weight.sum()) > 0]
    if not usable:
        return
    noise = FeatureNoise.of(usable)
    head = model.head.requires_grad_(True)
    optimiser = torch.optim.AdamW(head.parameters(), learning_rate, weight_decay=1e-3)
    steps = epochs * len(usable)
    for step in range(steps):
        epoch, index = divmod(step, len(usable))
        part = usable[stream(seed, epoch).permutation(len(usable))[index]]
        draw = stream(seed, epoch, index)
        loss = _loss(model, part, noise, silence, drop_gold, draw)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate * _rate(step / steps)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    head.requires_grad_(False)


def _rate(done: float) -> float:
    """Return the fraction of the learning rate after a fraction of the steps: up, then to zero."""
    return min(done / WARM_UP, (1 - done) / (1 - WARM_UP))


def _loss(
    model: LinkModel,
    examples: HeadExamples,
    noise: FeatureNoise,
    silence: float,
    drop_gold: float,
    draw: np.random.Generator,
) -> Tensor:
    """Return the mean loss without and with coherence, some knowledge being left out."""
    owner, mentions = examples.owner, len(examples.gold)
    fixed = _silenced(examples.features, owner, draw.random(mentions) < silence)
    fixed = noise.add(fixed, owner, draw)
    dropped, gold = _drop_gold(examples, draw.random(mentions) < drop_gold)
    nothing = torch.zeros(len(fixed), len(COHERENCE_FEATURES))
    first = model.head(torch.cat([fixed, nothing], dim=1)).masked_fill(dropped, -torch.inf)
    with torch.no_grad():
        score = log_probabilities(first, owner, mentions)[0].exp()
        support = examples.support.features(score)
    second = model.head(torch.cat([fixed, support], dim=1)).masked_fill(dropped, -torch.inf)
    losses = [link_loss(logits, owner, gold, examples.weight) for logits in (first, second)]
    return torch.stack(losses).mean()


def _drop_gold(examples: HeadExamples, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return which candidates are dropped, and the right ones that remain, -1 where none does.

    The right candidate of each of the `chosen` mentions is dropped, as if the graph lacked it.
    """
    gone = torch.from_numpy(chosen) & (examples.gold >= 0)
    dropped = torch.zeros(len(examples.features), dtype=torch.bool)
    dropped[examples.gold[gone]] = True
    return dropped, torch.where(gone, -1, examples.gold)


def _silenced(features: Tensor, owner: Tensor, silent: np.ndarray) -> Tensor:
    """Return features without those of the encoder for the `silent` mentions."""
    features = features.clone()
    rows = torch.from_numpy(silent)[owner]
    features[rows, -len(ENCODER_FEATURES) :] = 0.0
    features[rows, -len(ENCODER_FEATURES)] = 1.0
    return features
