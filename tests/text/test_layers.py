"""What layers pass on can be changed, for one thread alone, and the lowest can be frozen."""

import pytest
import torch
from tests.threads import results_of_threads
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

from kgraft.errors import BadInput
from kgraft.text import changed_after, freeze_bottom, hook_after, layers_of

IDS = torch.tensor([[1, 2, 3]])


def bert():
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2}
    return BertModel(BertConfig(vocab_size=9, intermediate_size=8, **sizes)).eval()


def distilbert():
    torch.manual_seed(0)
    config = DistilBertConfig(vocab_size=9, dim=8, n_layers=3, n_heads=2, hidden_dim=8)
    return DistilBertModel(config).eval()


@torch.no_grad()
def read(model):
    return model(input_ids=IDS, output_hidden_states=True)


@pytest.mark.parametrize("make", [bert, distilbert])
def test_the_next_layer_reads_what_was_changed(make):
    model = make()
    before = read(model)
    handle = hook_after(model, 2, lambda hidden: hidden + 1)
    changed = read(model)
    assert torch.equal(changed.hidden_states[1], before.hidden_states[1])
    assert not torch.allclose(changed.last_hidden_state, before.last_hidden_state)
    handle.remove()
    assert torch.equal(read(model).last_hidden_state, before.last_hidden_state)


def test_a_change_after_the_last_layer_is_what_is_read():
    model = bert()
    expected = read(model).last_hidden_state * 2
    with changed_after(model, 3, lambda hidden: hidden * 2):
        assert torch.equal(read(model).last_hidden_state, expected)
    assert torch.equal(read(model).last_hidden_state * 2, expected)


def test_threads_change_only_their_own_reading():
    model = bert()
    expected = read(model).last_hidden_state

    def work(index):
        differences = []
        for _ in range(30):
            with changed_after(model, 3, lambda hidden: hidden * index):
                differences.append(torch.equal(read(model).last_hidden_state, expected * index))
        return differences

    assert results_of_threads(work) == [[True] * 30] * 8


def test_only_upper_layers_and_what_is_kept_are_trained():
    model = bert()
    model.extra = torch.nn.Linear(2, 2)
    freeze_bottom(model, 2, keep=["extra"])
    trained = {name for name, p in model.named_parameters() if p.requires_grad}
    upper = {f"encoder.layer.2.{name}" for name, _ in layers_of(model)[2].named_parameters()}
    assert trained == upper | {"extra.weight", "extra.bias"}


@pytest.mark.parametrize("layers", [-1, 4])
def test_layers_that_are_not_there_cannot_be_frozen(layers):
    with pytest.raises(BadInput, match=str(layers)):
        freeze_bottom(bert(), layers)
