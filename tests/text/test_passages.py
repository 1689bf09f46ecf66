"""Sentences of a document are read together, in order and none lost."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgraft.text import join_sentences, passages

SENTENCES = st.lists(st.tuples(st.sampled_from("ab"), st.text("x ", max_size=12)), max_size=30)


@given(SENTENCES, st.integers(1, 6))
def test_passages_are_runs_of_one_document_that_fit(sentences, words):
    documents, texts = [d for d, _ in sentences], [t for _, t in sentences]
    groups = passages(documents, texts, words=words)
    assert [n for group in groups for n in group] == list(range(len(texts)))
    for group in groups:
        assert len({documents[n] for n in group}) == 1
        size = sum(len(texts[n].split()) for n in group)
        assert size <= words or len(group) == 1


@given(SENTENCES, st.integers(1, 6))
def test_a_passage_takes_what_has_room(sentences, words):
    documents, texts = [d for d, _ in sentences], [t for _, t in sentences]
    groups = passages(documents, texts, words=words)
    for one, other in pairwise(groups):
        together = sum(len(texts[n].split()) for n in [*one, other[0]])
        assert documents[one[0]] != documents[other[0]] or together > words


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6))
def test_each_sentence_begins_where_it_is_said(texts):
    whole, starts = join_sentences(texts)
    for text, start in zip(texts, starts, strict=True):
        assert whole[start : start + len(text)] == text
