import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.text import Encoder

TEXTS = [
    "The cat sat on the mat.",
    "",
    "Zürich 東京 😀 \ud800",
    "word " * 400,
    "A much longer sentence about the history of the town, its people and its river.",
    "x",
]


def one_by_one(encoder, text, pooling="mean", max_length=None):
    """One text through the bare model, straight from its model card."""
    inputs = encoder.tokenizer(
        text.replace("\ud800", "\ufffd"),
        truncation=True,
        max_length=max_length or encoder.max_length,
        return_tensors="pt",
    )
    with torch.no_grad():
        hidden = encoder.model(**inputs).last_hidden_state[0]
    return (hidden.mean(0) if pooling == "mean" else hidden[0]).numpy()


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("budget", [None, 30])
def test_encodes_as_the_bare_model_one_by_one(encoder, pooling, budget):
    ours = encoder.encode(TEXTS, pooling=pooling, normalise=False, token_budget=budget)
    slow = np.stack([one_by_one(encoder, text, pooling) for text in TEXTS])
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, slow, atol=1e-5)


def test_vectors_have_length_one(encoder):
    plain = encoder.encode(TEXTS, normalise=False)
    unit = encoder.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    lengths = np.linalg.norm(plain, axis=1, keepdims=True)
    np.testing.assert_allclose(unit * lengths, plain, atol=1e-5)


def test_like_texts_are_near(encoder):
    cat, kitten, bank = encoder.encode(["a cat", "a kitten", "the central bank raised rates"])
    assert cat @ kitten > 0.6 > 0.3 > cat @ bank


def test_windows_of_a_long_text_are_averaged(encoder):
    words = [f"w{n}" for n in range(90)]
    text = " ".join(words)
    windows = encoder.windows([text], overlap=0)
    assert len(windows) > 2
    parts = []
    for ids in (windows.padded(np.array([n]))[0] for n in range(len(windows))):
        with torch.no_grad():
            parts.append(encoder.model(torch.from_numpy(ids)).last_hidden_state[0].mean(0).numpy())
    ours = encoder.encode(["short", text, "short"], windowed=True, normalise=False)
    np.testing.assert_allclose(ours[1], np.mean(parts, axis=0), atol=1e-5)
    np.testing.assert_allclose(ours[0], one_by_one(encoder, "short"), atol=1e-5)
    np.testing.assert_allclose(ours[2], ours[0], atol=1e-5)


@pytest.mark.parametrize("windowed", [False, True])
def test_no_texts_give_no_vectors(encoder, windowed):
    assert encoder.encode([], windowed=windowed).shape == (0, 384)


def test_token_vectors_stand_where_locate_says(encoder):
    texts = ["The bank of the river.", "Paris Hilton in Paris", "x " * 99 + "Paris"]
    windows = encoder.windows(texts)
    places = windows.locate([1, 1, 2], [0, 16, 198], [12, 21, 203])
    found = {}
    for batch in encoder.encode_tokens(windows, token_budget=300):
        assert batch.mask.shape == batch.vectors.shape[:2]
        for row, window in enumerate(batch.windows.tolist()):
            found[window] = batch.vectors[row][batch.mask[row]]
    assert sorted(found) == list(range(len(windows)))
    inputs = encoder.tokenizer(texts[1], return_tensors="pt")
    with torch.no_grad():
        bare = encoder.model(**inputs).last_hidden_state[0]
    tokens = inputs.tokens()
    for i, name in enumerate([["paris", "hilton"], ["paris"]]):
        window, first, last = (int(column[i]) for column in places)
        assert tokens[first:last] == name
        torch.testing.assert_close(found[window], bare, atol=1e-5, rtol=0)
    assert places.window[2] == len(windows) - 1


def test_what_is_encoded_can_be_trained_on(encoder):
    weight = torch.ones(384, requires_grad=True)
    (batch,) = encoder.encode_tokens(encoder.windows(["a cat"]))
    (batch.vectors * weight).sum().backward()
    (torch.from_numpy(encoder.encode(["a cat"])) * weight).sum().backward()
    assert weight.grad is not None
    assert torch.is_grad_enabled()


def test_encoding_puts_the_model_into_evaluation_mode(encoder):
    expected = encoder.encode(["a cat"])
    encoder.model.train()
    assert np.array_equal(encoder.encode(["a cat"]), expected)
    assert not any(module.training for module in encoder.model.modules())


class Reversed:
    """Extra inputs that say which batch was read."""

    def __init__(self):
        self.texts, self.batches = [], []

    def annotate(self, windows, texts):
        self.texts.append(list(texts))
        return windows

    def batch(self, windows, indices):
        self.batches.append(indices.tolist())
        return {"token_type_ids": torch.ones(len(indices), windows.lengths[indices].max()).long()}


def test_extra_inputs_reach_the_model(encoder):
    extra = Reversed()
    model, tokenizer = encoder.model, encoder.tokenizer
    own = Encoder(model, tokenizer, name="own", max_length=64, extra_inputs=extra)
    inputs = tokenizer(["a cat"], return_tensors="pt")
    inputs["token_type_ids"] += 1
    with torch.no_grad():
        expected = model(**inputs).last_hidden_state.mean(1).numpy()
    np.testing.assert_allclose(own.encode(["a cat"], normalise=False), expected, atol=1e-5)
    assert (extra.texts, extra.batches) == ([["a cat"]], [[0]])
    own.windows(["a dog"], extra_inputs=False)
    assert extra.texts == [["a cat"]]


def test_autocast_around_does_not_reach_the_model(encoder):
    expected = encoder.encode(["a cat"])
    with torch.autocast("cpu", dtype=torch.float16):
        assert np.array_equal(encoder.encode(["a cat"]), expected)


def test_progress_counts_every_window(encoder):
    class Counter:
        total, done = None, 0

        def start(self, what, total=None):
            self.total = total

        def advance(self, amount=1):
            self.done += amount

    counter = Counter()
    encoder.encode(TEXTS, token_budget=40, progress=counter)
    assert counter.total == counter.done == len(TEXTS)


def test_bad_options_are_refused(encoder):
    with pytest.raises(BadInput, match="pass \\[text\\]"):
        encoder.encode("a cat")
    with pytest.raises(BadInput, match="choose mean or cls"):
        encoder.encode(["a cat"], pooling="max")
    with pytest.raises(BadInput, match="token_budget is -1"):
        encoder.encode(["a cat"], token_budget=-1)


def test_an_encoder_is_made_from_any_model_and_tokenizer(encoder):
    again = Encoder(encoder.model, encoder.tokenizer, name="mine")
    assert (again.name, again.max_length) == ("mine", 512)


def test_an_encoder_shows_itself_in_short(encoder):
    size = f"dimension {encoder.dimension}, {encoder.max_length} tokens at once, cpu"
    assert repr(encoder) == f"<Encoder {encoder.name}: {size}>"
    assert str(encoder.dimension) in encoder._repr_html_()


def test_showing_an_encoder_loads_no_model():
    fresh = Encoder.load(device="cpu")
    assert "cpu" in repr(fresh)
    assert fresh._model is None
