"""Training the link head alone: it learns from what the encoder sees, and nothing else moves."""

import numpy as np
import pytest
import torch
from tests.link.tiny import link_model

from kgraft.corpus import annotate
from kgraft.link.evaluate import best_threshold, score_texts
from kgraft.link.head import link_loss
from kgraft.link.head_training import (
    IN_QUESTION,
    SOURCE_FEATURES,
    FeatureNoise,
    _rate,
    _silenced,
    collect_examples,
    fit_head,
)
from kgraft.link.linking import find_mentions
from kgraft.link.model import COHERENCE_FEATURES, ENCODER_FEATURES, HEAD_FEATURES
from kgraft.link.training_texts import FULL, TrainingTexts


@pytest.fixture
def own(encoder_folder):
    return link_model(encoder_folder)


@pytest.fixture
def examples(own, knowledge, marked_texts):
    return collect_examples(own, TrainingTexts(knowledge, marked_texts, FULL))


def loss_of(model, examples):
    """Return the mean loss without coherence."""
    losses = []
    for part in examples:
        features = torch.cat(
            [part.features, torch.zeros(len(part.features), len(COHERENCE_FEATURES))], dim=1
        )
        losses.append(link_loss(model.head(features), part.owner, part.gold, part.weight).item())
    return float(np.mean(losses))


def test_examples_have_the_features_of_the_linking_pass(own, knowledge, graph):
    text = "Paris is in Texas"
    data = annotate(graph, [(text, [{"start": 0, "end": 5, "entity": "tx-paris"}])])
    [part] = collect_examples(own, TrainingTexts(knowledge, data, FULL))
    mentions, spans = find_mentions(own, knowledge, [text])
    assert part.features.shape == (4, len(HEAD_FEATURES) - len(COHERENCE_FEATURES))
    features = torch.from_numpy(knowledge.features([text], mentions))
    torch.testing.assert_close(part.features[:, : -len(ENCODER_FEATURES)], features)
    dots = (knowledge.vectors(mentions.entity) * spans.vectors[mentions.owner]).sum(1)
    column = HEAD_FEATURES.index("dot")
    torch.testing.assert_close(part.features[:, column], dots / 10, atol=1e-5, rtol=1e-4)
    assert mentions.entity[part.gold[0]] == graph.indices_of(["tx-paris"])[0]
    assert part.gold[1] == -1
    assert part.weight.tolist() == [1, 1]


def test_texts_are_read_in_parts(own, knowledge, marked_texts, monkeypatch):
    monkeypatch.setattr("kgraft.link.head_training.TEXTS", 15)
    parts = collect_examples(own, TrainingTexts(knowledge, marked_texts, FULL))
    assert len(parts) == 3
    assert sum(int((part.gold >= 0).sum()) for part in parts) == len(marked_texts.mentions)


def test_the_head_learns_and_nothing_else_moves(own, knowledge, marked_texts, examples):
    before = {name: tensor.clone() for name, tensor in own.small_state().items()}
    loss = loss_of(own, examples)
    fit_head(own, examples, epochs=60, learning_rate=2e-2)
    assert loss_of(own, examples) < loss / 2
    for name, tensor in own.small_state().items():
        assert torch.equal(tensor, before[name]) == (not name.startswith("head."))
    assert not any(parameter.requires_grad for parameter in own.parameters())
    figures = best_threshold(
        score_texts(own, knowledge, marked_texts.texts), marked_texts, partial=False
    )
    assert figures["weak_f1"] > 0.8


def test_the_same_seed_gives_the_same_bits(encoder_folder, examples):
    models = [link_model(encoder_folder) for _ in range(3)]
    for model, seed in zip(models, (0, 0, 1), strict=True):
        torch.manual_seed(id(model) % 1000)
        fit_head(model, examples, epochs=2, seed=seed)
    assert models[0].digest() == models[1].digest() != models[2].digest()


def test_without_usable_examples_the_head_stays(own, knowledge, graph):
    data = annotate(graph, [("of the", []), ("", [])])
    digest = own.digest()
    fit_head(own, collect_examples(own, TrainingTexts(knowledge, data)), epochs=2)
    fit_head(own, [], epochs=2)
    assert own.digest() == digest


def test_noise_is_shared_by_the_candidates_of_a_mention(examples):
    noise = FeatureNoise.of(examples)
    [part, *_] = examples
    changed = noise.add(part.features, part.owner, np.random.default_rng(0)) - part.features
    others = [column for column in range(changed.shape[1]) if column not in SOURCE_FEATURES]
    for mention in part.owner.unique():
        rows = changed[part.owner == mention][:, others]
        torch.testing.assert_close(rows, rows[:1].expand_as(rows), atol=1e-5, rtol=0)
    constant = noise.spread == 0
    constant[SOURCE_FEATURES] = False
    assert not changed[:, constant].any()


def test_what_the_encoder_says_of_questions_gets_no_noise():
    features = torch.zeros(50, len(HEAD_FEATURES) - len(COHERENCE_FEATURES))
    features[:20, IN_QUESTION] = 1
    noise = FeatureNoise(features[0], torch.ones(features.shape[1]))
    changed = noise.add(features, torch.arange(50), np.random.default_rng(0)) - features
    encoded = changed[:, -len(ENCODER_FEATURES) :]
    assert not encoded[:20].any()
    assert encoded[20:].all()
    assert changed[:20, IN_QUESTION].all()


def test_noise_has_its_strength_and_telltale_features_their_mean_in_half_of_the_steps():
    count, features = 400, len(HEAD_FEATURES) - len(COHERENCE_FEATURES)
    noise = FeatureNoise(torch.full((features,), 7.0), torch.full((features,), 2.0), 0.5)
    owner, zeros = torch.arange(count), torch.zeros(count, features)
    drawn = [noise.add(zeros, owner, np.random.default_rng(n)) for n in range(60)]
    others = [column for column in range(features) if column not in SOURCE_FEATURES]
    assert drawn[0][:, others].std().item() == pytest.approx(0.5 * 2.0, rel=0.1)
    for column in SOURCE_FEATURES:
        at_mean = sum(bool((d[:, column] == 7).all()) for d in drawn)
        assert 15 < at_mean < 45


def test_the_rate_rises_and_falls_to_zero():
    rates = [_rate(done) for done in np.linspace(0, 1, 101).tolist()]
    assert max(rates) == pytest.approx(1)
    assert rates[0] == rates[-1] == 0
    assert rates.index(max(rates)) == 10


def test_of_silent_mentions_the_encoder_says_nothing():
    features, owner = torch.ones(3, 9), torch.tensor([0, 0, 1])
    silenced = _silenced(features, owner, np.array([True, False]))
    assert silenced.tolist() == [[1] * 5 + [0] * 4] * 2 + [[1] * 9]
    assert len(ENCODER_FEATURES) == 5
    assert features.eq(1).all()  # the examples themselves stay
