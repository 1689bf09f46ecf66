"""Texts are encoded once, and shared with text vectors."""

import numpy as np
import pyarrow as pa

from kgraft.text import StaticEncoder
from kgraft.vectors import TextCache, TextVectors


def test_a_text_is_encoded_once(encoder, encoded, tmp_path):
    texts = pa.array(["a", "b", "a"], pa.large_string())
    vectors = TextCache(encoder, cache=tmp_path).take(texts)
    assert encoded == [["a", "b"]] or encoded == [["b", "a"]]
    assert np.abs(vectors - encoder.encode(["a", "b", "a"])).max() < 1e-5
    encoded.clear()
    assert np.array_equal(TextCache(encoder, cache=tmp_path).take(texts), vectors)
    assert encoded == []


def test_the_cache_is_that_of_text_vectors(towns, encoder, encoded, tmp_path):
    TextVectors(towns, encoder, cache=tmp_path).take([4])
    encoded.clear()
    TextCache(encoder, cache=tmp_path).take(pa.array(["Rhine: river"]))
    assert encoded == []


def test_a_static_encoder_will_do():
    static = StaticEncoder.load()
    vectors = TextCache(static, cache=False).take(pa.array(["a city"]))
    assert np.array_equal(vectors, static.encode(["a city"]))
