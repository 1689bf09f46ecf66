"""Each step of the knowledge attention does what its formula says, span by span."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import RandomKnowledge, draw_mentions, some
from torch.nn.functional import gelu, layer_norm, linear

from kgraft.errors import BadInput
from kgraft.graft import AttentionSettings
from kgraft.graft.kinds.attention import KnowledgeAttention
from kgraft.text.mention_batch import MASKED, PADDING, MentionBatch

SEEDS = st.integers(0, 10_000)
THRESHOLDS = st.sampled_from([None, 0.0, 0.05, 5.0])


def made(seed, threshold=0.0, own=0, *, log_prior=False):
    torch.manual_seed(seed)
    settings = AttentionSettings(
        size=8, heads=2, inner=16, score=5, threshold=threshold, own_size=own, log_prior=log_prior
    )
    graft = KnowledgeAttention(24, RandomKnowledge(), settings).eval()
    for parameter in graft.parameters():  # so that nothing is silent
        parameter.data += 0.2 * torch.randn_like(parameter)
    return graft


def hidden_of(seed, batch=2, length=9):
    return torch.randn(batch, length, 24, generator=torch.Generator().manual_seed(seed))


def slow_attention(module, queries, keys):
    """One window: (Q, E) look at (K, E)."""
    size = queries.shape[1] // module.heads
    q, k, v = (
        part(x) for part, x in ((module.query, queries), (module.key, keys), (module.value, keys))
    )
    rows = []
    for i in range(len(queries)):
        parts = []
        for h in range(module.heads):
            mine = slice(h * size, (h + 1) * size)
            weights = torch.stack(
                [q[i, mine] @ k[j, mine] / math.sqrt(size) for j in range(len(keys))]
            )
            weights = weights.softmax(0)
            parts.append(sum(w * v[j, mine] for j, w in enumerate(weights)))
        rows.append(torch.cat(parts))
    return module.out(torch.stack(rows))


def slow_feed(module, x):
    return linear(
        gelu(linear(x, module[0].weight, module[0].bias)), module[3].weight, module[3].bias
    )


def slow_norm(module, x):
    return layer_norm(x, (x.shape[-1],), module.weight, module.bias, 1e-5)


def slow_window(graft, knowledge, hidden, first, last, entity, prior):
    """The four steps for one window, written from the formulas; spans that are padding are gone."""
    below = hidden @ graft.down.weight.T + graft.down.bias
    pooled = []
    for a, b in zip(first, last, strict=True):
        pieces = below[a:b]
        weights = torch.tensor([(graft.pool.weight[0] @ p) for p in pieces]).softmax(0)
        pooled.append(sum(w * p for w, p in zip(weights, pieces, strict=True)))
    spans = torch.stack(pooled)
    block = graft.spans
    spans = slow_norm(block.first, spans + slow_attention(block.attention, spans, spans))
    spans = slow_norm(block.second, spans + slow_feed(block.inner, spans))
    enhanced, scores, weights = [], [], []
    for s, names, priors in zip(spans, entity, prior, strict=True):
        vectors, psi = [], []
        for e, p in zip(names.tolist(), priors, strict=True):
            if e == PADDING:
                vectors.append(None)
                psi.append(torch.tensor(-math.inf))
                continue
            v = graft.mask if e == MASKED else knowledge.table[e]
            if graft.own is not None:
                learnt = (
                    torch.zeros(graft.settings.own_size) if e == MASKED else graft.own.weight[e]
                )
                v = torch.cat([v, 20 * learnt])
            v = graft.entity.weight @ v
            vectors.append(v)
            told = p.clamp_min(1e-6).log() if graft.settings.log_prior else p
            psi.append(graft.score(torch.stack([told, s @ v / math.sqrt(len(v))]))[0])
        delta = -math.inf if graft.settings.threshold is None else graft.settings.threshold
        kept = [k for k, x in enumerate(psi) if vectors[k] is not None and x >= delta]
        share = torch.stack([psi[k] for k in kept]).softmax(0) if kept else []
        mixed = (
            sum(w * vectors[k] for w, k in zip(share, kept, strict=True)) if kept else graft.null
        )
        enhanced.append(s + mixed)
        scores.append(torch.stack(psi))
        weights.append([float(share[kept.index(k)]) if k in kept else 0.0 for k in range(len(psi))])
    seen = slow_attention(graft.words, below, torch.stack(enhanced))
    changed = slow_feed(graft.mix, seen) @ graft.up.weight.T + graft.up.bias + hidden
    return changed, torch.stack(scores), torch.tensor(weights), torch.stack(enhanced)


@pytest.mark.slow
@given(seed=SEEDS, threshold=THRESHOLDS, own=st.sampled_from([0, 3]), log_prior=st.booleans())
@some
@torch.no_grad()
def test_the_four_steps_agree_with_the_formulas(seed, threshold, own, log_prior):
    graft, hidden = made(seed, threshold, own, log_prior=log_prior), hidden_of(seed)
    knowledge = RandomKnowledge()
    mentions = draw_mentions(seed)
    changed, looked = graft(hidden, mentions, knowledge)
    for window in range(len(hidden)):
        there = mentions.present[window]
        if not there.any():
            assert torch.equal(changed[window], hidden[window])
            continue
        columns = (mentions.first, mentions.last, mentions.entity, mentions.prior)
        expected = slow_window(
            graft, knowledge, hidden[window], *(c[window][there] for c in columns)
        )
        torch.testing.assert_close(changed[window], expected[0], rtol=1e-4, atol=1e-4)
        held = (looked.scores, looked.weights, looked.mention_vectors)
        for found, wanted in zip(held, expected[1:], strict=True):
            torch.testing.assert_close(found[window][there], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@given(seed=SEEDS)
@some
@torch.no_grad()
def test_a_new_graft_hardly_changes_what_it_stands_in(seed):
    torch.manual_seed(seed)
    graft, hidden = KnowledgeAttention(24, RandomKnowledge()).eval(), hidden_of(seed)
    changed, _ = graft(hidden, draw_mentions(seed), RandomKnowledge())
    assert (changed - hidden).norm() < 0.05 * hidden.norm()


@torch.no_grad()
def test_the_prior_is_believed_at_first():
    torch.manual_seed(0)
    settings = AttentionSettings(size=8, threshold=None, log_prior=True)
    graft, mentions = KnowledgeAttention(24, RandomKnowledge(), settings).eval(), draw_mentions(0)
    _, looked = graft(hidden_of(0), mentions, RandomKnowledge())
    offered, prior = mentions.is_candidate, mentions.prior.clamp_min(1e-6)
    torch.testing.assert_close(looked.scores[offered], prior.log()[offered], rtol=0, atol=0.2)


def test_closed_knowledge_reads_the_log_of_the_prior():
    knowledge = RandomKnowledge()
    assert not KnowledgeAttention(24, knowledge).settings.log_prior
    knowledge.closed = True
    settings = KnowledgeAttention(24, knowledge).settings
    assert settings.log_prior
    assert settings.threshold is None


@torch.no_grad()
def test_what_is_learnt_of_entities_begins_as_nothing():
    torch.manual_seed(0)
    graft = KnowledgeAttention(24, RandomKnowledge(), AttentionSettings(size=8, own_size=3)).eval()
    mentions, entities = draw_mentions(0), torch.nn.Linear(12, 8, bias=False)
    entities.weight.copy_(graft.entity.weight[:, :12])
    found = graft.entities(mentions, RandomKnowledge())
    there = mentions.entity >= 0
    expected = entities(RandomKnowledge().take(mentions.entity))
    torch.testing.assert_close(found[there], expected[there])


@torch.no_grad()
def test_the_way_back_undoes_the_way_in():
    graft = KnowledgeAttention(24, RandomKnowledge(), AttentionSettings(size=48))
    hidden = hidden_of(0)
    below = hidden @ graft.down.weight.T
    torch.testing.assert_close(below @ graft.up.weight.T, hidden, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@given(seed=SEEDS)
@some
@torch.no_grad()
def test_padding_more_changes_nothing(seed):
    graft, knowledge, hidden = made(seed), RandomKnowledge(), hidden_of(seed)
    m = draw_mentions(seed)
    pad = torch.nn.functional.pad
    wider = MentionBatch(
        pad(m.first, (0, 2)), pad(m.last, (0, 2)),
        pad(m.entity, (0, 3, 0, 2), value=PADDING), pad(m.prior, (0, 3, 0, 2)),
    )  # fmt: skip
    once, _ = graft(hidden, m, knowledge)
    again, _ = graft(hidden, wider, knowledge)
    torch.testing.assert_close(once, again, rtol=1e-5, atol=1e-5)


def test_what_is_learned_reaches_all_but_the_vectors():
    graft, knowledge = made(4), RandomKnowledge()
    changed, looked = graft(hidden_of(3), draw_mentions(3), knowledge)
    scores = looked.scores[torch.isfinite(looked.scores)]
    (changed.square().sum() + scores.sum()).backward()
    silent = [n for n, p in graft.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert silent == []
    assert not knowledge.table.requires_grad


@pytest.mark.parametrize(("name", "value"), [("size", 0), ("heads", 7), ("score", -1)])
def test_sizes_that_make_no_sense_are_refused(name, value):
    with pytest.raises(BadInput):
        AttentionSettings(**{name: value})


def test_a_word_looks_at_its_own_mention_first():
    torch.manual_seed(0)
    settings = AttentionSettings(size=24, heads=2, inner=16, score=5)
    graft = KnowledgeAttention(24, RandomKnowledge(), settings).eval()
    hidden = torch.randn(1, 12, 24, generator=torch.Generator().manual_seed(3)) * 2
    place = torch.arange(0, 12, 2)[None]
    one = torch.zeros(1, 6, 1, dtype=torch.long)
    mentions = MentionBatch(place, place + 1, one, torch.ones(1, 6, 1))
    _, looked = graft(hidden, mentions, RandomKnowledge())
    own = looked.attention[0, place[0], torch.arange(6)]
    assert own.mean() > 2 / 6
