"""From spans with candidates to links: one entity a span, and no two links that overlap."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgraft.link.candidates import Candidates
from kgraft.link.model import LinkModel, pair_scores
from kgraft.link.reading import Spans


@dataclass(frozen=True)
class Judged:
    """The scores of spans' candidates, as arrays (S, K): best first, -1 and 0 where padded."""

    entity: np.ndarray
    score: np.ndarray  # the probability of the link
    prior: np.ndarray
    fit: np.ndarray  # cosine of mention and entity

    def take(self, rows: np.ndarray) -> Judged:
        """Return the scores of some spans."""
        return Judged(*(column[rows] for column in vars(self).values()))

    @property
    def best(self) -> np.ndarray:
        """The score of each span's best candidate, (S,); -1 where it has none."""
        return np.where(self.entity[:, 0] >= 0, self.score[:, 0], -1.0)


@torch.no_grad()
def judge(model: LinkModel, spans: Spans, candidates: Candidates, entities: Tensor) -> Judged:
    """Score the candidates of spans; `entities` are their vectors, (S, K, D).

    The best one's score is the model's verdict; the others share it as p(e | span) has them.
    """
    logits = model.candidate_logits(spans.vectors, entities, candidates.features)
    logits = logits.masked_fill(candidates.padding, -torch.inf)
    scores = pair_scores(spans.logits, spans.vectors, entities, candidates.features, logits)
    order = logits.argsort(dim=1, descending=True, stable=True)
    row, best = torch.arange(len(order)), order[:, 0]
    verdict = model.link_logits(spans.vectors, entities[row, best], scores[row, best]).sigmoid()
    share = logits.softmax(1)
    score = verdict[:, None] * share / share[row, best][:, None]
    score[logits[row, best].isneginf()] = 0.0  # no candidate at all
    dots = torch.bmm(entities, spans.vectors[:, :, None])[:, :, 0]
    fit = dots / spans.vectors.norm(dim=1, keepdim=True).clamp_min(1e-6)
    rank = order.numpy()
    columns = (candidates.entity, score.numpy(), candidates.prior, fit.numpy())
    return Judged(*(np.take_along_axis(column, rank, 1) for column in columns))


def choose(score: np.ndarray, start: np.ndarray, end: np.ndarray, threshold: float) -> np.ndarray:
    """Return which spans become links: best first, none that overlaps a better one; in order.

    Spans are start:end in order of start. Of equal scores the longer comes first, then the left.
    """
    likely = np.flatnonzero(score >= threshold)
    order = likely[np.lexsort((start[likely], start[likely] - end[likely], -score[likely]))]
    begins: list[int] = []  # of the spans taken, rising
    stops: dict[int, int] = {}
    taken = []
    for span, begin, stop in zip(order, start[order].tolist(), end[order].tolist(), strict=True):
        place = bisect_right(begins, begin)
        left_is_clear = place == 0 or stops[begins[place - 1]] <= begin
        if left_is_clear and (place == len(begins) or begins[place] >= stop):
            begins.insert(place, begin)
            stops[begin] = stop
            taken.append(span)
    return np.sort(np.array(taken, np.int64))
