"""A link model in training: lessons of an epoch, one update, the figures on validation texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from kgraft.graph.annotated import Annotated
from kgraft.link.candidates import features_of
from kgraft.link.evaluate import best_threshold, find_links
from kgraft.link.knowledge import Knowledge
from kgraft.link.lessons import Lessons, Marked, find_lessons
from kgraft.link.losses import entity_loss, mention_loss, verdict_loss
from kgraft.link.model import LinkModel, Read, pair_scores
from kgraft.link.reading import among, word_spans
from kgraft.link.settings import LinkSettings
from kgraft.link.spans import logits_at, span_logits, span_means
from kgraft.text import length_batches
from kgraft.training import stream, torch_stream
from kgraft.training.adam import Adam, under, warmed_up
from kgraft.training.seeds import seeded

_BATCH, _DROP = 0, 1  # what a stream of random numbers is for


class LinkTrainee:
    """A link model in training; see `kgraft.training.Trainee`."""

    def __init__(
        self,
        model: LinkModel,
        knowledge: Knowledge,
        parts: Sequence[Marked],
        valid: Annotated | None,
        settings: LinkSettings,
    ) -> None:
        self.model, self.knowledge, self.parts = model, knowledge, parts
        self.valid, self.settings = valid, settings
        learning = [p for p in model.parameters() if p.requires_grad]
        self.optimiser = Adam(learning, settings.learning_rate, weight_decay=settings.weight_decay)
        self.steps = sum(len(self._cut(epoch)) for epoch in range(settings.epochs * len(parts)))
        self.lessons: Lessons | None = None
        self.lessons_epoch = -1

    # What the loop asks for

    def state(self) -> dict[str, Tensor]:
        """Return parameters, optimiser and the lessons of the epoch under way."""
        state = {f"model.{name}": tensor for name, tensor in self.model.small_state().items()}
        state |= {f"optimiser.{n}": tensor for n, tensor in self.optimiser.flat_state().items()}
        if self.lessons is not None:
            state |= {f"lessons.{n}": t for n, t in self.lessons.state().items()}
        state["epoch"] = torch.tensor(self.lessons_epoch)
        return state

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back."""
        self.model.load_small_state(under("model.", state))
        self.optimiser.load_flat(under("optimiser.", state))
        lessons = under("lessons.", state)
        self.lessons = Lessons.of_state(lessons) if lessons else None
        self.lessons_epoch = int(state["epoch"])

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Look for the lessons of an epoch, and return its windows in batches of like length."""
        if self.lessons_epoch != epoch:
            self.model.eval()
            self.lessons = find_lessons(self.model, self.knowledge, self._part(epoch))
            self.lessons_epoch = epoch
        return self._cut(epoch)

    def _part(self, epoch: int) -> Marked:
        """Return the texts of an epoch: a large set is gone through in parts."""
        return self.parts[epoch % len(self.parts)]

    def _cut(self, epoch: int) -> list[np.ndarray]:
        lengths = self._part(epoch).windows.lengths
        seed = int(stream(self.settings.seed, _BATCH, epoch).integers(1 << 31))
        return length_batches(lengths, self.settings.batch_tokens, seed=seed)

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once; dropout comes from the seed and the place."""
        self.model.train()
        drawn = torch_stream(self.settings.seed, _DROP, place)
        with seeded(drawn.initial_seed()):
            losses = self._losses(batch)
        loss = torch.stack(list(losses.values())).sum()
        rate = self.settings.learning_rate * warmed_up(place, self.steps)
        self.optimiser.update(loss, [rate])
        return {"loss": loss.item(), **{name: part.item() for name, part in losses.items()}}

    def validate(self) -> dict[str, float]:
        """Return the figures on validation texts at the threshold that suits them best."""
        if self.valid is None:
            return {}
        found = find_links(self.model.eval(), self.knowledge, self.valid.texts)
        return best_threshold(found, self.valid, partial=self.settings.partial)

    # The losses of a batch

    def _losses(self, batch: np.ndarray) -> dict[str, Tensor]:
        marked = self._part(self.lessons_epoch)
        ids, mask = map(torch.from_numpy, marked.windows.padded(batch))
        read = self.model(ids, mask.long())
        mentions = mention_loss(*self._mention_targets(marked, batch, read))
        return {"mentions": mentions, **self._pair_losses(batch, read)}

    def _mention_targets(
        self, marked: Marked, batch: np.ndarray, read: Read
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-odds, targets and weights of all spans, (B, L, W) each."""
        longest = self.model.longest
        logits = span_logits(read.marks, longest)
        weights = word_spans(marked.windows, batch, marked.begins, marked.ends, longest).float()
        row, which = among(marked.names.window, batch)
        first, last = marked.names.first[which], marked.names.last[which]
        weights[row, first, last - first - 1] *= torch.from_numpy(marked.weight[which])
        targets = torch.zeros_like(logits)
        row, which = among(marked.gold.window, batch)
        first, last = marked.gold.first[which], marked.gold.last[which]
        targets[row, first, last - first - 1] = 1.0
        weights[row, first, last - first - 1] = 1.0
        return logits, targets, weights

    def _pair_losses(self, batch: np.ndarray, read: Read) -> dict[str, Tensor]:
        """Return the losses of the spans of a batch and their candidates."""
        lessons = self.lessons
        assert lessons is not None
        row, which = among(lessons.window, batch)
        if not len(which):
            return {"entities": torch.zeros(()), "verdicts": torch.zeros(())}
        where = tuple(map(torch.from_numpy, (row, lessons.first[which], lessons.last[which])))
        entity, prior = lessons.entity[which], lessons.prior[which]
        features = features_of(entity, prior, self.knowledge.facts)
        vectors = self.knowledge.index.take(np.maximum(entity, 0).ravel())
        vectors = vectors.view(*entity.shape, vectors.shape[1])
        mentions = span_means(read.vectors, *where)
        logits = self.model.candidate_logits(mentions, vectors, features)
        logits = logits.masked_fill(torch.from_numpy(entity < 0), -torch.inf)
        scores = pair_scores(logits_at(read.marks, *where), mentions, vectors, features, logits)
        gold = torch.from_numpy(lessons.gold[which])
        marked = torch.nonzero(gold >= 0)[:, 0]
        meant = gold[marked]
        entities = torch.zeros(())
        if len(marked):
            numbers = torch.from_numpy(entity)[marked, meant]
            own = vectors[marked, meant]
            entities = entity_loss(logits[marked], meant, mentions[marked], own, numbers)
        some = torch.isfinite(logits).any(1).nonzero()[:, 0]
        span = torch.cat([some, marked])
        column = torch.cat([logits.detach()[some].argmax(1), meant])
        pair = (span, column)
        verdict = self.model.link_logits(mentions[span], vectors[pair], scores[pair])
        right = (column == gold[span]).float()
        weight = torch.from_numpy(lessons.weight[which])[span]
        return {"entities": entities, "verdicts": verdict_loss(verdict, right, weight, len(batch))}
