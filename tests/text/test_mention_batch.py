"""Candidates are masked where they would give a hidden word away, and nowhere else."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most
from tests.text.drawn_mentions import draw_mentions

from kgraft.text.mention_batch import MASKED, PADDING, MentionBatch


def one_window(gold=None):
    """Three mentions of one window: columns 0:2, 2:4 and 3:5."""
    return MentionBatch(
        torch.tensor([[0, 2, 3]]),
        torch.tensor([[2, 4, 5]]),
        torch.tensor([[[5, PADDING], [6, 7], [8, 9]]]),
        torch.tensor([[[1.0, 0.0], [0.8, 0.2], [0.6, 0.4]]]),
        gold,
    )


def test_covered_columns():
    mentions = MentionBatch(
        torch.tensor([[1, 0]]), torch.tensor([[3, 0]]), *[torch.zeros(1, 2, 1)] * 2
    )
    expected = [[False] * 2, [True, False], [True, False], [False] * 2]
    assert mentions.covers(4)[0].tolist() == expected


def test_only_spans_that_touch_a_hidden_token_are_masked():
    mentions = one_window()
    hidden = torch.tensor([[False, False, True, False, False]])
    assert mentions.touches(hidden).tolist() == [[False, True, False]]
    expected = [[[5, PADDING], [MASKED, MASKED], [8, 9]]]
    assert mentions.mask_candidates(hidden).entity.tolist() == expected


def test_the_shares_of_masked_random_and_kept_candidates():
    entity = torch.full((4000, 1, 1), 3)
    mentions = MentionBatch(
        torch.zeros(4000, 1, dtype=torch.long),
        torch.ones(4000, 1, dtype=torch.long),
        entity,
        torch.ones(4000, 1, 1),
    )
    drawn = torch.Generator().manual_seed(0)
    masked = mentions.mask_randomly(torch.ones(4000, 2, dtype=torch.bool), drawn, 1000).entity
    assert abs((masked == MASKED).float().mean() - 0.8) < 0.03
    assert abs((masked == 3).float().mean() - 0.1) < 0.03
    untouched = mentions.mask_randomly(torch.zeros(4000, 2, dtype=torch.bool), drawn, 1000)
    assert torch.equal(untouched.entity, entity)


def test_padding_stays_padding():
    mentions = draw_mentions(0)
    drawn = torch.Generator().manual_seed(0)
    masked = mentions.mask_randomly(torch.ones(2, 9, dtype=torch.bool), drawn, 7)
    assert torch.equal(masked.is_candidate, mentions.is_candidate)


def test_gold_candidates_alone_are_kept_and_not_masked():
    mentions = one_window(gold=torch.tensor([[-1, 1, -1]]))
    gold_only = mentions.gold_only()
    assert gold_only.entity.tolist() == [[[5, PADDING], [PADDING, 7], [8, 9]]]
    assert torch.equal(gold_only.prior[0, 1], torch.tensor([0.0, 1.0]))
    assert torch.equal(gold_only.prior[0, [0, 2]], mentions.prior[0, [0, 2]])
    all_hidden = torch.ones(1, 5, dtype=torch.bool)
    expected = [[[MASKED, PADDING], [PADDING, 7], [MASKED, MASKED]]]
    assert gold_only.mask_candidates(all_hidden, keep_gold=True).entity.tolist() == expected
    drawn = torch.Generator().manual_seed(0)
    for _ in range(20):
        masked = gold_only.mask_randomly(all_hidden, drawn, 7, keep_gold=True)
        assert masked.entity[0, 1].tolist() == [PADDING, 7]


def apart():
    """Two windows with three mentions in all, which do not overlap."""
    first, last = torch.tensor([[1, 4], [7, 0]]), torch.tensor([[3, 5], [9, 0]])
    entity = torch.tensor([[[7], [8]], [[9], [PADDING]]])
    return MentionBatch(first, last, entity, (entity >= 0).float())


def test_the_mentions_that_are_present():
    assert apart().window.tolist() == [0, 0, 1]
    assert apart().first_entity.tolist() == [7, 8, 9]


@given(shown=st.lists(st.booleans(), min_size=3, max_size=3), seed=st.integers(0, 9))
@settings(max_examples=at_most(20), deadline=None)
def test_vectors_at_the_tokens_of_mentions(shown, seed):
    torch.manual_seed(seed)
    vectors, read = torch.randn(3, 4), torch.randn(2, 9, 4)
    spans = [(0, 1, 3), (0, 4, 5), (1, 7, 9)]
    expected = torch.zeros(2, 9, 4)
    for mention, (window, first, last) in enumerate(spans):
        if shown[mention]:
            expected[window, first:last] = vectors[mention]
    assert torch.equal(apart().spread(vectors, 9, torch.tensor(shown)), expected)
    means = apart().end_means(read)
    for mention, (window, first, last) in enumerate(spans):
        expected = (read[window, first] + read[window, last - 1]) / 2
        assert torch.allclose(means[mention], expected)
