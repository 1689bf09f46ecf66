"""Knowledge attention: what a text's words learn from the entities it may mention.

Peters et al. 2019, "Knowledge Enhanced Contextual Word Representations": the KAR. It stands between
two layers of an encoder and takes H, what the lower gives out, to H', what the upper reads:

    Hp   = H W1 + b1                         spans pooled from it: S
    Se   = block(S)                          ψ_mk = MLP(p_mk, s_m · e_mk / √E)
    e~_m = Σ_k softmax(ψ_m)_k e_mk           over the candidates with ψ_mk ≥ δ, or NULL
    S'   = Se + E~
    H'   = MLP(attention(Hp, S', S')) W2 + b2 + H

W2 starts as the pseudo-inverse of W1, and the last MLP nearly silent: H' starts close to H. Words
and spans start with the same map in the last attention: a word looks at its own mention first.
Where one candidate is always right, log p_mk may take the place of p_mk: ψ then starts as log p,
so that the prior is what is believed until something better is learnt.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from kgraft.graft.interfaces import Graft, Knowledge
from kgraft.graft.kinds import GRAFTS
from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import path_encoder
from kgraft.graft.settings import AttentionSettings
from kgraft.text import MASKED, MentionBatch

_QUIET = 0.02  # how loud the last MLP begins
_LOUD = 20.0  # scale of the vectors learned per entity: few texts mention each
_UNLIKELY = 1e-6  # a prior below it counts as this much
_SHARP = 2.0  # how much a word looks at its own mention at first


@GRAFTS.register("attention")
class KnowledgeAttention(Graft):
    """The four steps, for a whole batch of windows, spans and candidates at once.

    Without settings, there is a threshold where perhaps no candidate is right; where one always is
    (`Knowledge.closed`), ψ reads log p.
    """

    settings_class: ClassVar[type[AttentionSettings]] = AttentionSettings
    linker_parts: ClassVar[tuple[str, ...]] = (
        "down.",
        "pool.",
        "own.",
        "entity.",
        "spans.",
        "score.",
        "paths.",
    )

    def __init__(
        self, host_size: int, knowledge: Knowledge, settings: AttentionSettings | None = None
    ) -> None:
        super().__init__(host_size, knowledge)
        settings = settings or _default_settings(knowledge)
        size = settings.size
        self.settings, self.mention_size = settings, size
        self.down = nn.Linear(host_size, size)  # W1
        self.up = nn.Linear(size, host_size)  # W2
        self._add_linker(knowledge, settings)
        self.null = nn.Parameter(torch.randn(size) * size**-0.5)
        self.mask = nn.Parameter(torch.randn(knowledge.size))
        self.words = Attention(size, settings.heads)
        self.mix = feed_forward(size, settings.inner, settings.dropout)
        self._init_weights()
        self.paths = path_encoder(knowledge, knowledge.size)

    def _add_linker(self, knowledge: Knowledge, settings: AttentionSettings) -> None:
        """Add what scores candidates: the vectors of spans and of entities, and ψ."""
        self.pool = nn.Linear(settings.size, 1, bias=False)
        self.own = _own_vectors(knowledge.count, settings.own_size)
        self.entity = nn.Linear(knowledge.size + settings.own_size, settings.size, bias=False)
        self.spans = Block(settings.size, settings.heads, settings.inner, settings.dropout)
        self.score = _scorer(settings.score)

    @torch.no_grad()
    def _init_weights(self) -> None:
        if self.own is not None:
            self.own.weight.zero_()
        nn.init.orthogonal_(self.down.weight)  # of others the pseudo-inverse may be very loud
        self.up.weight.copy_(torch.linalg.pinv(self.down.weight))
        self.up.bias.zero_()
        self.words.init_similarity(_SHARP)
        last = self.mix[-1]
        assert isinstance(last, nn.Linear)
        last.weight.mul_(_QUIET)
        last.bias.zero_()
        if self.settings.log_prior:
            self._init_log_prior()

    def _init_log_prior(self) -> None:
        """Let ψ start as log p: one unit, -log p, is passed on, the others nearly silent."""
        first, _, last = self.score
        assert isinstance(first, nn.Linear)
        assert isinstance(last, nn.Linear)
        first.weight[0], first.bias[0] = torch.tensor([-1.0, 0.0]), 0.0
        last.weight.mul_(_QUIET)
        last.weight[0, 0] = -1.0
        last.bias.zero_()

    def forward(
        self, hidden: Tensor, mentions: MentionBatch, knowledge: Knowledge
    ) -> tuple[Tensor, GraftOutput]:
        """Take H (B, L, D) to H' (B, L, D); a window without mentions stays what it is."""
        entities = self.entities(mentions, knowledge)  # (B, M, K, E)
        below = self.down(hidden)  # Hp
        spans = self.spans(self.pooled(below, mentions), mentions.present)  # Se
        scores = self.scores(spans, mentions, entities)
        weights = self.weights(scores)
        enhanced = spans + self.mixed(weights, entities)  # S'
        seen, attention = self.words(below, enhanced, mentions.present)
        changed = self.up(self.mix(seen)) + hidden
        has_mention = mentions.present.any(1)[:, None, None]
        output = GraftOutput(scores, weights, attention, enhanced)
        return torch.where(has_mention, changed, hidden), output

    def entities(self, mentions: MentionBatch, knowledge: Knowledge) -> Tensor:
        """Return e (B, M, K, E) of all candidates; each entity is projected once.

        Where the knowledge has paths, they are added.
        """
        distinct, index = torch.unique(mentions.entity, return_inverse=True)
        vectors = knowledge.take(distinct)  # (U, V), zeros where padded
        vectors = torch.where((distinct == MASKED)[:, None], self.mask, vectors)
        if self.own is not None:
            own = self.own(distinct.clamp_min(0)) * (distinct >= 0)[:, None]
            vectors = torch.cat([vectors, _LOUD * own], dim=1)
        projected = torch.nn.functional.embedding(index, self.entity(vectors))
        paths = self.path_vectors(mentions, knowledge)
        if paths is None:
            return projected
        added = paths.vectors @ self.entity.weight[:, : knowledge.size].T
        return projected.flatten(0, 2).index_add(0, paths.row, added).view_as(projected)

    def pooled(self, below: Tensor, mentions: MentionBatch) -> Tensor:
        """Return the spans' vectors S (B, M, E): their pieces, weighed by a softmax in the span."""
        widest = int((mentions.last - mentions.first).max().clamp_min(1))
        column = mentions.first[:, :, None] + torch.arange(widest, device=below.device)
        inside = column < mentions.last[:, :, None]  # (B, M, W)
        inside[:, :, 0] = True  # where padded: something finite
        column = column.clamp_max(below.shape[1] - 1)
        window = torch.arange(len(below), device=below.device)[:, None, None]
        scores = self.pool(below)[window, column, 0].masked_fill(~inside, -torch.inf)
        return torch.einsum("bmw,bmwe->bme", scores.softmax(-1), below[window, column])

    def scores(self, spans: Tensor, mentions: MentionBatch, entities: Tensor) -> Tensor:
        """Return ψ (B, M, K), -inf where there is no candidate."""
        dots = torch.einsum("bme,bmke->bmk", spans, entities) * self.settings.size**-0.5
        prior = mentions.prior
        prior = prior.clamp_min(_UNLIKELY).log() if self.settings.log_prior else prior
        scores = self.score(torch.stack([prior, dots], dim=-1))[..., 0]
        return scores.masked_fill(~mentions.is_candidate, -torch.inf)

    def weights(self, scores: Tensor) -> Tensor:
        """Return ψ~ (B, M, K): a softmax over what reaches δ, zeros where nothing does."""
        threshold = self.settings.threshold
        floor = torch.finfo(scores.dtype).min if threshold is None else threshold
        kept = scores.masked_fill(scores < floor, -torch.inf)
        any_kept = torch.isfinite(kept).any(-1, keepdim=True)
        return kept.masked_fill(~any_kept, 0.0).softmax(-1) * any_kept

    def mixed(self, weights: Tensor, entities: Tensor) -> Tensor:
        """Return E~ (B, M, E): the candidates by their weights, NULL where none has any."""
        mean = torch.einsum("bmk,bmke->bme", weights, entities)
        empty = (weights.sum(-1) == 0)[:, :, None]
        return torch.where(empty, self.null, mean)


def _default_settings(knowledge: Knowledge) -> AttentionSettings:
    if knowledge.closed:
        return AttentionSettings(threshold=None, log_prior=True)
    return AttentionSettings()


class Attention(nn.Module):
    """Attention of several heads; what some look at may be padding."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(size, size), nn.Linear(size, size)
        self.value, self.out = nn.Linear(size, size), nn.Linear(size, size)

    @torch.no_grad()
    def init_similarity(self, scale: float) -> None:
        """Let queries and keys be the same map, so that like looks at like."""
        for projection in (self.query, self.key):
            projection.bias.zero_()
        nn.init.orthogonal_(self.query.weight, gain=scale)
        self.key.weight.copy_(self.query.weight)

    def forward(self, queries: Tensor, keys: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Let (B, Q, E) look at (B, K, E), as far as these are present (B, K).

        Return what is seen, (B, Q, E), and where it was looked at, the mean of the heads (B, Q, K).
        """
        parts = (self.query(queries), self.key(keys), self.value(keys))
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        logits = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5  # (B, heads, Q, K)
        present = present | ~present.any(1, keepdim=True)  # of padding only: something finite
        weights = logits.masked_fill(~present[:, None, None], -torch.inf).softmax(-1)
        seen = (weights @ value).transpose(1, 2).flatten(2)
        return self.out(seen), weights.mean(1)


class Block(nn.Module):
    """One layer of a transformer over spans: they look at one another, then each at itself."""

    def __init__(self, size: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.dropout = Attention(size, heads), nn.Dropout(dropout)
        self.inner = feed_forward(size, inner, dropout)
        self.first, self.second = nn.LayerNorm(size, eps=1e-5), nn.LayerNorm(size, eps=1e-5)

    def forward(self, spans: Tensor, present: Tensor) -> Tensor:
        """Take spans (B, M, E) to (B, M, E)."""
        seen, _ = self.attention(spans, spans, present)
        spans = self.first(spans + self.dropout(seen))
        return self.second(spans + self.dropout(self.inner(spans)))


def feed_forward(size: int, inner: int, dropout: float) -> nn.Sequential:
    """Return two linear layers with a GELU between them."""
    return nn.Sequential(
        nn.Linear(size, inner), nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, size)
    )


def _own_vectors(count: int, size: int) -> nn.Embedding | None:
    """Return the vectors that the graft learns of entities, None where they have no numbers."""
    return nn.Embedding(count, size) if size else None


def _scorer(hidden: int) -> nn.Sequential:
    """Return what scores a candidate from its prior and its product with the mention."""
    return nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 1))
