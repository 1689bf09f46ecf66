"""The lean forward pass has the library's numbers, and steps aside for other models."""

import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

from kgraft.text.lean import LeanBert

SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
SIZES |= {"intermediate_size": 40, "vocab_size": 50, "max_position_embeddings": 16}


def tiny(**options):
    torch.manual_seed(0)
    return BertModel(BertConfig(**SIZES, **options)).eval()


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (1, 9), (4, 16)])
@pytest.mark.parametrize("padded", [False, True])
@torch.no_grad()
def test_the_numbers_are_the_same(batch, length, padded):
    model = tiny()
    ids = torch.randint(50, (batch, length))
    mask = torch.ones_like(ids)
    if padded:
        mask[:, length // 2 + 1 :] = 0
    expected = model(input_ids=ids, attention_mask=mask).last_hidden_state
    found = LeanBert.of(model)(ids, mask.bool())
    torch.testing.assert_close(found[mask.bool()], expected[mask.bool()], rtol=1e-4, atol=1e-5)


def test_it_is_made_from_tensors_alone():
    model = tiny()
    ids, mask = torch.randint(50, (2, 5)), torch.ones(2, 5, dtype=torch.bool)
    lean = LeanBert(model.state_dict(), layers=2, heads=3, epsilon=1e-12)
    with torch.no_grad():
        expected = model(input_ids=ids).last_hidden_state
    torch.testing.assert_close(lean(ids, mask), expected, rtol=1e-4, atol=1e-5)
    assert not lean(ids, mask).requires_grad


def test_other_models_have_none():
    assert LeanBert.of(tiny(hidden_act="relu")) is None
    assert LeanBert.of(tiny(is_decoder=True)) is None
    other = DistilBertConfig(dim=24, n_heads=3, n_layers=1, hidden_dim=40, vocab_size=50)
    assert LeanBert.of(DistilBertModel(other)) is None
