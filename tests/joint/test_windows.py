"""Mentions stand in the windows of their texts, and bring their vectors there."""

import numpy as np
from tests.corpus.texts import annotated_texts

from kgraft.joint import GoldWindows


def test_mentions_in_their_windows(windows, graph, encoder):
    batch = windows.batch(np.array([2, 0, 3]))
    assert batch.mentions.window.tolist() == [0, 0, 1, 1]
    expected = graph.indices_of(["texas", "tx-paris", "fr-paris", "france"])
    assert batch.mentions.first_entity.tolist() == expected.tolist()
    mentions = batch.mentions
    first = mentions.first[mentions.present]
    said = encoder.tokenizer.convert_ids_to_tokens(batch.ids[mentions.window, first].tolist())
    assert said == ["texas", "paris", "paris", "france"]


def test_what_overlaps_or_is_unknown_is_left_out(encoder):
    columns = [[0, 0, 5], [0, 0, 10], [0, 6, 10], [0, 11, 16], [1, 0, 5]]
    text, start, end = np.array(columns).T
    data = annotated_texts(
        ["Paris city Texas", "Texas"], text, start, end, np.array([1, 2, 3, -1, 4])
    )
    windows = GoldWindows.of(encoder.windows(data.texts), data)
    assert windows.mentions.entity.tolist() == [1, 3, 4]
