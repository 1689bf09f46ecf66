import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.text import tokens
from kgraft.text.tokens import Tokeniser

KINDS = ["wordpiece", "bytes", "sentencepiece"]
any_text = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(texts=st.lists(any_text, max_size=5))
def test_agrees_with_the_tokenizer_itself(tokenizers, tokenisers, kind, texts):
    ours = tokenisers[kind](texts, offsets=True)
    lean = tokenisers[kind](texts)
    assert np.array_equal(lean.ids, ours.ids)
    assert np.array_equal(lean.bounds, ours.bounds)
    for n, text in enumerate(texts):
        scalars = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
        theirs = tokenizers[kind](scalars, add_special_tokens=False)["input_ids"]
        assert ours.ids[ours.bounds[n] : ours.bounds[n + 1]].tolist() == theirs


def test_chunks_do_not_show(tokenisers, monkeypatch):
    texts = ["one", "", "two words", "Łódź 😀 x", "five"]
    whole = tokenisers["wordpiece"](texts, offsets=True)
    monkeypatch.setattr(tokens, "TEXTS", 2)
    parts = tokenisers["wordpiece"](texts, offsets=True)
    assert np.array_equal(whole.ids, parts.ids)
    assert np.array_equal(whole.offsets.starts, parts.offsets.starts)


def test_special_tokens_are_found(tokenisers):
    around = {kind: (t.prefix.tolist(), t.suffix.tolist(), t.pad) for kind, t in tokenisers.items()}
    assert around == {
        "wordpiece": ([101], [102], 0),
        "bytes": ([0], [1], 2),
        "sentencepiece": ([], [], 1),
    }


def test_the_users_tokenizer_is_left_alone(tokenizers):
    backend = tokenizers["wordpiece"].backend_tokenizer
    before = backend.to_str()
    Tokeniser.of(tokenizers["wordpiece"])(["a text"])
    assert backend.to_str() == before


def test_one_text_for_a_list_is_refused(tokenisers):
    with pytest.raises(BadInput, match=r"pass \[text\]"):
        tokenisers["wordpiece"]("a text")


def test_a_tokenizer_without_offsets_is_refused():
    class Slow:
        is_fast = False

    with pytest.raises(BadInput, match="Slow gives no character offsets"):
        Tokeniser.of(Slow())
