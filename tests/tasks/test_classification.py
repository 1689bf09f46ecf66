"""Any encoder, plain or grafted, is fine-tuned to classify; knowledge can be left off."""

import numpy as np
import pytest
import torch

from kgraft.graft import knowledge_off, record_grafts
from kgraft.tasks import ClassificationSettings
from kgraft.tasks.classification_task import ClassificationTask, ExampleWindows
from kgraft.tasks.examples import Examples
from kgraft.tasks.graft.wic import WIC
from kgraft.text import Encoder

QUICK = ClassificationSettings(
    epochs=12, learning_rate=1e-3, head_rate=1e-2, batch_tokens=128, patience=12
)


def pairs(count, seed=0):
    """The two words are the same or not."""
    draw = np.random.default_rng(seed)
    words = ["Paris", "Berlin", "Texas", "France"]
    texts, same = [], draw.random(count) < 0.5
    for alike in same:
        one, other = draw.choice(len(words), 2, replace=False)
        texts += [words[one], words[one if alike else other]]
    text = np.arange(2 * count).reshape(count, 2)
    end = np.array([len(t) for t in texts]).reshape(count, 2)
    return Examples(texts, text, np.zeros_like(text), end, np.stack([~same, same], 1))


def test_spans_are_the_means_of_their_tokens(encoder):
    texts = ["Paris lies in Texas", "so Berlin"]
    examples = Examples(
        texts, np.array([[0, 1]]), np.array([[9, 3]]), np.array([[19, 9]]), np.zeros((1, 2), bool)
    )
    encoder.model.eval()
    found = ExampleWindows.of(encoder, examples).vectors(encoder, np.array([0]))
    windows = encoder.windows(texts)
    place = windows.locate([0, 1], [9, 3], [19, 9])
    for row, number in enumerate(place.window):
        [batch] = encoder.encode_tokens(windows)
        read = batch.vectors[list(batch.windows).index(number)]
        mean = read[place.first[row] : place.last[row]].mean(0)
        size = encoder.dimension
        torch.testing.assert_close(found[0, row, :size], mean, rtol=1e-4, atol=1e-4)


def test_after_them_comes_what_the_graft_made_of_their_mentions(encoder):
    texts = ["Paris lies in Texas", "so it is"]
    examples = Examples(
        texts, np.array([[0, 1]]), np.array([[0, 3]]), np.array([[19, 5]]), np.zeros((1, 2), bool)
    )
    encoder.model.eval()
    located = ExampleWindows.of(encoder, examples)
    [[known, nothing]] = located.vectors(encoder, np.array([0]))[..., encoder.dimension :]
    windows = encoder.windows(texts[:1])
    mentions = windows.mentions(np.array([0]))
    with record_grafts() as record:
        encoder.read(*map(torch.from_numpy, windows.padded(np.array([0]))), knowledge=mentions)
    present = mentions[2].present[0]
    assert present.sum() == 2
    torch.testing.assert_close(
        known, record[2].mention_vectors[0][present].mean(0), rtol=1e-4, atol=1e-4
    )
    assert not nothing.any()
    with knowledge_off(encoder.model):
        assert not located.vectors(encoder, np.array([0]))[..., encoder.dimension :].any()


def test_a_span_that_no_window_holds_is_read_at_the_start(encoder):
    examples = Examples(
        ["so", ""],
        np.array([[0, 1]]),
        np.array([[2, 0]]),
        np.array([[2, 0]]),
        np.zeros((1, 2), bool),
    )
    assert torch.isfinite(
        ExampleWindows.of(encoder, examples).vectors(encoder, np.array([0]))
    ).all()


@pytest.mark.slow
def test_it_learns(encoder):
    examples, test = pairs(60), pairs(40, seed=1)
    counts = WIC.fine_tune(encoder, (examples, test, test), settings=QUICK)
    assert counts.shape == (40, 2)
    assert counts[:, 0].mean() > 0.8


@pytest.mark.slow
def test_a_plain_encoder_learns_by_the_same_call(host_folder):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    counts = WIC.fine_tune(host, (pairs(60), pairs(20, 2), pairs(40, 1)), settings=QUICK)
    assert counts[:, 0].mean() > 0.8


def test_without_knowledge_the_grafts_are_left_alone(encoder):
    examples = pairs(12)
    made = ClassificationTask(encoder, WIC, examples, examples, QUICK, use_knowledge=False)
    before = {n: p.clone() for n, p in encoder.model.grafts.named_parameters()}
    made.step(made.batches(0)[0], 0)
    assert all(torch.equal(p, before[n]) for n, p in encoder.model.grafts.named_parameters())


def test_frozen_layers_stay_as_they_are(encoder):
    examples = pairs(12)
    made = ClassificationTask(encoder, WIC, examples, examples, QUICK.replace(frozen_layers=2))
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    made.step(made.batches(0)[0], 0)
    changed = {n for n, p in encoder.model.named_parameters() if not torch.equal(p, before[n])}
    assert all("layer.2." in n or n.startswith("grafts.") for n in changed)
    assert any("layer.2." in n for n in changed)


def test_without_a_dev_file_a_tenth_of_train_is_held_out(tmp_path):
    line = '{"text1": "a", "span1": [0, 1], "text2": "a", "span2": [0, 1], "same": true}\n'
    (tmp_path / "train.jsonl").write_text(line * 20)
    (tmp_path / "test.jsonl").write_text(line * 3)
    assert [len(part) for part in WIC.read_splits(tmp_path)] == [18, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same(host_folder, seed):
    found = []
    for _ in range(2):
        host = Encoder.load(host_folder, device="cpu", max_length=64)
        splits, settings = (pairs(20), pairs(9, 2), pairs(9, 1)), ClassificationSettings(epochs=1)
        found.append(WIC.fine_tune(host, splits, seed=seed, settings=settings))
    assert np.array_equal(*found)
