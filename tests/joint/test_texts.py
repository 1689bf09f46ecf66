"""Mentions stand in the windows of their texts, and bring their vectors there."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts

from kgraft.joint.texts import LinkedWindows


def test_mentions_in_their_windows(windows, graph, encoder):
    batch = windows.batch(np.array([2, 0, 3]))
    assert batch.row.tolist() == [0, 0, 1, 1]
    expected = graph.numbers_of(["texas", "tx-paris", "fr-paris", "france"])
    assert batch.entity.tolist() == expected.tolist()
    said = encoder.tokenizer.convert_ids_to_tokens(batch.ids[batch.row, batch.first].tolist())
    assert said == ["texas", "paris", "paris", "france"]


@given(shown=st.lists(st.booleans(), min_size=4, max_size=4), seed=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_vectors_at_the_tokens_of_mentions(shown, seed):
    batch = BATCH
    torch.manual_seed(seed)
    vectors = torch.randn(4, 3)
    found = batch.known(vectors, torch.tensor(shown))
    expected = torch.zeros(2, 9, 3)
    for mention in range(4):
        if shown[mention]:
            for column in range(batch.first[mention], batch.last[mention]):
                expected[batch.row[mention], column] = vectors[mention]
    assert torch.equal(found, expected)
    read = torch.randn(2, 9, 3)
    for mention, ends in enumerate(batch.ends(read)):
        row = read[batch.row[mention]]
        assert torch.allclose(ends, (row[batch.first[mention]] + row[batch.last[mention] - 1]) / 2)


def test_what_overlaps_or_is_unknown_is_left_out(encoder):
    columns = [[0, 0, 5], [0, 0, 10], [0, 6, 10], [0, 11, 16], [1, 0, 5]]
    text, start, end = np.array(columns).T
    data = annotated_texts(
        ["Paris city Texas", "Texas"], text, start, end, np.array([1, 2, 3, -1, 4])
    )
    windows = LinkedWindows.of(encoder.windows(data.texts), data)
    assert windows.entity.tolist() == [1, 3, 4]


def _batch():
    from kgraft.joint.texts import LinkedBatch

    columns = ([0, 0, 1, 1], [1, 4, 0, 7], [3, 5, 2, 9], [7, 8, 7, 9])
    ids = torch.zeros(2, 9, dtype=torch.long)
    return LinkedBatch(ids, ids == 0, *map(torch.tensor, columns))


BATCH = _batch()
