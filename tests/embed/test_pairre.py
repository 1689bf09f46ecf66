"""PairRE: what its relations can say, and how it places entities added later."""

import torch
from torch.nn.functional import normalize

from kgraft.embed.models import MODELS

PAIRRE = MODELS["pairre"]


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def scores(entities, relations, candidates, similarity="l1"):
    queries = PAIRRE.query(entities, relations, {})
    return PAIRRE.score(queries, candidates, similarity, {})


def test_the_length_of_an_entity_means_nothing():
    heads, relations, tails = drawn(4, 6), drawn(4, 12, seed=1), drawn(5, 6, seed=2)
    torch.testing.assert_close(
        scores(heads * 7, relations, tails * 0.2), scores(heads, relations, tails)
    )


def test_the_inverse_of_the_inverse_is_the_relation():
    relations = drawn(4, 12)
    assert not torch.equal(PAIRRE.invert(relations), relations)
    assert torch.equal(PAIRRE.invert(PAIRRE.invert(relations)), relations)


def test_a_relation_of_many_tails_can_overlook_what_they_differ_in():
    """Where r_T is zero, tails of any coordinate there have the same score."""
    head = torch.tensor([[0.6, 0.0, 0.8]])
    relation = torch.tensor([[1.0, 1.0, 0.0, 1.0, 1.0, 0.0]])
    tails = torch.tensor([[0.6, 0.0, 0.8], [0.6, 0.0, -0.8], [0.0, 1.0, 0.0]])
    first, second, third = scores(head, relation, tails)[0].tolist()
    assert first == second == 0
    assert third < -1


def test_a_guess_is_the_answer_where_there_is_one():
    """With t ∘ r_T = h ∘ r_H and weights of one size, the guess is t."""
    tails = normalize(drawn(5, 8), dim=-1)
    of_tail = torch.where(drawn(5, 8, seed=1) > 0, 2.0, -2.0)
    heads = normalize(drawn(5, 8, seed=2), dim=-1)
    relations = torch.cat([tails * of_tail / heads, of_tail], dim=-1)
    torch.testing.assert_close(PAIRRE.guess(heads, relations, {}), tails, rtol=1e-5, atol=1e-5)


def test_a_guess_answers_better_than_other_entities():
    heads, relations = drawn(20, 16), drawn(20, 32, seed=1)
    guesses, others = PAIRRE.guess(heads, relations, {}), drawn(200, 16, seed=2)
    own = scores(heads, relations, guesses).diagonal()
    rank = (scores(heads, relations, others) > own[:, None]).sum(1)
    assert rank.float().mean() < 2  # of 200


def test_a_relation_that_weighs_nothing_has_no_guess():
    guesses = PAIRRE.guess(drawn(2, 4), torch.zeros(2, 8), {})
    assert not guesses.any()
