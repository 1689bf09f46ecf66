"""The static encoder against a naive sum, its folder, and what it refuses."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from kgraft.errors import BadInput, NotFound
from kgraft.text import StaticEncoder, quantise, static

WORDS = ["[UNK]", "cat", "dog", "river", "##s", "of", "france"]


def small_tokenizer():
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def small_encoder(dimension=5, seed=0):
    table = np.random.default_rng(seed).normal(size=(len(WORDS), dimension))
    table[0] = 0
    return StaticEncoder(*quantise(table), small_tokenizer())


def naive(encoder, text):
    """Add the vectors of a text's tokens one by one, then divide by the length."""
    codes, scales = encoder._codes, encoder._scales
    total = np.zeros(encoder.dimension)
    for token in small_tokenizer().encode(text, add_special_tokens=False).ids:
        total += codes[token].astype(float) * scales[token]
    length = np.sqrt((total**2).sum())
    return total / length if length else total


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["cat", "Dogs", "river", "of", "snow", "France"]))))
def test_a_text_is_the_normalised_sum_of_its_tokens(texts):
    encoder = small_encoder()
    joined = [" ".join(words) for words in texts]
    vectors = encoder.encode(joined)
    assert vectors.shape == (len(texts), 5)
    assert vectors.dtype == np.float32
    for text, vector in zip(joined, vectors, strict=True):
        np.testing.assert_allclose(vector, naive(encoder, text), atol=1e-5)


def test_texts_without_tokens_give_zeros():
    vectors = small_encoder().encode(["", "  ", "snow", "cat"])
    assert not vectors[:3].any()
    assert np.linalg.norm(vectors[3]) == pytest.approx(1)


def test_blocks_of_texts_do_not_change_the_result(monkeypatch):
    encoder, texts = small_encoder(), ["cat", "", "dogs of france", "river"] * 3
    expected = encoder.encode(texts)
    monkeypatch.setattr(static, "TEXTS", 5)
    np.testing.assert_array_equal(encoder.encode(texts), expected)


def test_a_lone_surrogate_is_read_as_something_else():
    encoder = small_encoder()
    vectors = encoder.encode(["cat \ud800", "cat"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("cat", "one text was given for a list of texts; pass [text]"),
        (["cat", 3], "text 1 is of type int; give strings only"),
        ([None], "text 0 is of type NoneType; give strings only"),
    ],
)
def test_what_is_not_a_list_of_texts_is_refused(texts, message):
    with pytest.raises(BadInput) as error:
        small_encoder().encode(texts)
    assert str(error.value) == message


def test_padding_and_truncation_of_the_tokenizer_are_ignored():
    tokenizer = small_tokenizer()
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(1)
    codes, scales = small_encoder()._codes, small_encoder()._scales
    encoder = StaticEncoder(codes, scales, tokenizer)
    np.testing.assert_array_equal(encoder.encode(["cat dog"]), small_encoder().encode(["cat dog"]))
    assert encoder.identity == small_encoder().identity


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_quantising_is_off_by_half_a_step_at_most(rows, columns, seed):
    table = np.random.default_rng(seed).normal(size=(rows, columns))
    table[0] = 0
    codes, scales = quantise(table)
    assert codes.dtype == np.int8
    assert (np.abs(codes * scales[:, None] - table) <= scales[:, None] * 0.501).all()
    assert not codes[0].any()


def test_a_saved_encoder_is_the_same(tmp_path):
    encoder = small_encoder()
    encoder.save(tmp_path / "static")
    again = StaticEncoder.load(tmp_path / "static")
    texts = ["cat of france", "dogs"]
    np.testing.assert_array_equal(again.encode(texts), encoder.encode(texts))
    assert (again.identity, again.dimension) == (encoder.identity, 5)


def test_the_identity_follows_the_table():
    assert small_encoder(seed=1).identity != small_encoder(seed=2).identity
    assert small_encoder(seed=1).identity == small_encoder(seed=1).identity


def test_a_folder_without_an_encoder_is_not_found(tmp_path):
    with pytest.raises(NotFound, match=r"no static encoder at .*config\.json"):
        StaticEncoder.load(tmp_path)


def _format(folder):
    (folder / "config.json").write_text(json.dumps({"format": 9, "dimension": 5}))


def _dimension(folder):
    (folder / "config.json").write_text(json.dumps({"format": 1, "dimension": 6}))


def _rows(folder):
    tokenizer = small_tokenizer()
    tokenizer.add_tokens(["one more"])
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_format, "format 9 is not 1"),
        (_dimension, "the table is int8 (7, 5), not int8 of 6 columns"),
        (_rows, "the tokenizer has 8 tokens, the table 7 rows"),
        (lambda f: (f / "config.json").write_text("["), "not the config of a static encoder"),
        (lambda f: (f / "model.safetensors").write_text("x"), "not the table of a static encoder"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "not a tokenizer"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path, damage, reason):
    small_encoder().save(tmp_path)
    damage(tmp_path)
    with pytest.raises(BadInput) as error:
        StaticEncoder.load(tmp_path)
    assert error.value.reason == reason


def test_the_shipped_encoder_knows_what_is_alike():
    encoder = StaticEncoder.load()
    assert encoder.dimension == 256
    assert json.loads((static.SHIPPED / "config.json").read_text())["identity"] == encoder.identity
    queries = encoder.encode(["capital of France", "inflammation of the liver"])
    targets = encoder.encode(["Paris", "hepatitis", "violin", "FC Barcelona"])
    assert (queries @ targets.T).argmax(axis=1).tolist() == [0, 1]
    assert not encoder.encode(["", "\U0001f9ff"]).any()


def test_threads_share_an_encoder():
    encoder = StaticEncoder.load()
    texts = [f"town number {number} in the north of Spain" for number in range(300)]
    expected = encoder.encode(texts)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: encoder.encode(texts), range(12)):
            np.testing.assert_array_equal(vectors, expected)


def test_no_torch_is_loaded():
    code = (
        "import sys; from kgraft.text.static import StaticEncoder;"
        "StaticEncoder.load().encode(['cat']);"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
