"""JSON from strangers: what is not JSON is a ValueError in words, what is written is strict."""

import json
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.json_text import parse_json, read_json_file, to_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip
ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.characters(categories=["Cs"]))


@given(VALUES)
def test_a_value_comes_back(value):
    assert parse_json(to_json(value)) == value
    assert parse_json(to_json(value, indent=1)) == value


@given(ANY_TEXT)
def test_every_text_is_written_as_utf8_of_the_same_length(text):
    written = to_json({text: [text]})
    written.encode()
    [(key, [back])] = json.loads(written).items()
    assert len(key) == len(back) == len(text)
    if text.isascii():
        assert back == text


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_what_is_not_finite_is_written_as_null(number):
    assert json.loads(to_json({"a": [number, {"b": number}], "c": 1.5})) == {
        "a": [None, {"b": None}],
        "c": 1.5,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("{", "column 2"),
        ("", "column 1"),
        ("1" * 5000, "4300"),
    ],
)
def test_what_is_no_json_is_said_in_words(text, words):
    with pytest.raises(ValueError, match=words):
        parse_json(text)


@pytest.mark.slow
def test_what_is_too_deep_is_not_written():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(BadInput):
        to_json(value)


def test_a_file_may_have_a_byte_order_mark_and_old_nan(tmp_path):
    (tmp_path / "config.json").write_bytes(b'\xef\xbb\xbf{"mrr": NaN}')
    assert str(read_json_file(tmp_path / "config.json")) == "{'mrr': nan}"


def test_a_deeply_nested_file_is_a_value_error(tmp_path):
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json_file(tmp_path / "config.json")
