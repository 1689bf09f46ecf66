"""Candidates are hidden where they would give a hidden word away, and nowhere else."""

import torch
from tests.graft.tiny import draw_mentions

from kgraft.graft.mentions import MASK, NONE, Mentions


def test_held_columns():
    mentions = Mentions(torch.tensor([[1, 0]]), torch.tensor([[3, 0]]), *[torch.zeros(1, 2, 1)] * 2)
    assert mentions.held(4)[0].tolist() == [[False] * 2, [True, False], [True, False], [False] * 2]


def test_only_spans_that_touch_a_hidden_piece_are_silent():
    mentions = Mentions(
        torch.tensor([[0, 2, 3]]),
        torch.tensor([[2, 4, 5]]),
        torch.tensor([[[5, NONE], [6, 7], [8, 9]]]),
        torch.ones(1, 3, 2),
    )
    hidden = torch.tensor([[False, False, True, False, False]])
    assert mentions.touching(hidden).tolist() == [[False, True, False]]
    assert mentions.silent(hidden).entity.tolist() == [[[5, NONE], [MASK, MASK], [8, 9]]]


def test_the_shares_of_masked_random_and_kept_candidates():
    entity = torch.full((4000, 1, 1), 3)
    mentions = Mentions(
        torch.zeros(4000, 1, dtype=torch.long), torch.ones(4000, 1, dtype=torch.long),
        entity, torch.ones(4000, 1, 1),
    )  # fmt: skip
    drawn = torch.Generator().manual_seed(0)
    masked = mentions.masked(torch.ones(4000, 2, dtype=torch.bool), drawn, 1000).entity
    assert abs((masked == MASK).float().mean() - 0.8) < 0.03
    assert abs((masked == 3).float().mean() - 0.1) < 0.03
    untouched = mentions.masked(torch.zeros(4000, 2, dtype=torch.bool), drawn, 1000)
    assert torch.equal(untouched.entity, entity)


def test_padding_stays_padding():
    mentions = draw_mentions(0)
    drawn = torch.Generator().manual_seed(0)
    masked = mentions.masked(torch.ones(2, 9, dtype=torch.bool), drawn, 7)
    assert torch.equal(masked.offered, mentions.offered)


def test_what_is_known_is_told_and_stays():
    mentions = Mentions(
        torch.tensor([[0, 2, 3]]),
        torch.tensor([[2, 4, 5]]),
        torch.tensor([[[5, NONE], [6, 7], [8, 9]]]),
        torch.tensor([[[1.0, 0.0], [0.8, 0.2], [0.6, 0.4]]]),
        torch.tensor([[-1, 1, -1]]),
    )
    told = mentions.told()
    assert told.entity.tolist() == [[[5, NONE], [NONE, 7], [8, 9]]]
    assert torch.equal(told.prior[0, 1], torch.tensor([0.0, 1.0]))
    assert torch.equal(told.prior[0, [0, 2]], mentions.prior[0, [0, 2]])
    all_hidden = torch.ones(1, 5, dtype=torch.bool)
    expected = [[[MASK, NONE], [NONE, 7], [MASK, MASK]]]
    assert told.silent(all_hidden, told=True).entity.tolist() == expected
    drawn = torch.Generator().manual_seed(0)
    for _ in range(20):
        masked = told.masked(all_hidden, drawn, 7, told=True)
        assert masked.entity[0, 1].tolist() == [NONE, 7]
