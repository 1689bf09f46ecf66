"""Adapters start as nothing, learn alone, travel by name, and vanish into the matrices."""

from collections import OrderedDict

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize
from transformers import BertConfig, BertModel

from kgraft.errors import BadInput
from kgraft.text.adapters import adapt, adapter_state, load_adapters, merge, merge_changes

LAYERS = ["first", "deeper.inner"]


def small_model(width=6):
    torch.manual_seed(5)
    deeper = nn.Sequential(OrderedDict(inner=nn.Linear(width, 4), norm=nn.LayerNorm(4)))
    parts = {"first": nn.Linear(3, width), "bend": nn.Tanh(), "deeper": deeper}
    return nn.Sequential(OrderedDict(parts, pooler=nn.Linear(4, 4))).eval()


def tiny_bert():
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=12,
    )
    return BertModel(config).eval()


def inputs():
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(1))


def drawn(model, seed=2):
    """Give every change of a model random numbers, and return them."""
    generator = torch.Generator().manual_seed(seed)
    state = {
        name: torch.randn(tensor.shape, generator=generator)
        for name, tensor in adapter_state(model).items()
    }
    load_adapters(model, state)
    return state


def naive_merge(model, state):
    """W + U V, sum by sum."""
    for name, layer in model.named_modules():
        if f"{name}.up" not in state:
            continue
        up, down = state[f"{name}.up"], state[f"{name}.down"]
        for i in range(len(up)):
            for j in range(down.shape[1]):
                change = sum(float(up[i, r] * down[r, j]) for r in range(len(down)))
                layer.weight.data[i, j] += change
    return model


def test_an_adapted_model_says_what_it_said():
    model = small_model()
    before = model(inputs())
    adapt(model, 2)
    assert torch.equal(model(inputs()), before)


def test_only_the_changes_learn():
    model = small_model()
    trained = adapt(model, 2)
    learns = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert learns == {
        f"{layer}.parametrizations.weight.0.{part}" for layer in LAYERS for part in ("up", "down")
    }
    assert [tuple(p.shape) for p in trained] == [(6, 2), (2, 3), (4, 2), (2, 6)]
    model(inputs()).square().sum().backward()
    assert all(p.grad is not None for p in trained)
    assert trained[0].grad.any()


def test_a_step_of_training_changes_what_the_model_says_and_nothing_it_had():
    model = small_model()
    before, kept = model(inputs()).detach(), dict(small_model().named_parameters())
    optimiser = torch.optim.SGD(adapt(model, 2), lr=0.1)
    (model(inputs()) - before - 1).square().sum().backward()
    optimiser.step()
    assert not torch.allclose(model(inputs()), before)
    for name in LAYERS:
        original = model.get_submodule(name).parametrizations.weight.original
        assert torch.equal(original, kept[f"{name}.weight"])


def test_a_seed_draws_the_same_changes():
    states = []
    for seed in (3, 3, 4):
        model = small_model()
        adapt(model, 2, seed=seed)
        states.append(adapter_state(model))
    assert all(torch.equal(states[1][name], drawn) for name, drawn in states[0].items())
    assert not torch.equal(states[2]["first.down"], states[0]["first.down"])
    assert not states[0]["first.up"].any()


def test_merged_adapted_and_naive_models_agree():
    model = small_model()
    adapt(model, 2)
    state = drawn(model)
    adapted = model(inputs())
    naive = naive_merge(small_model(), state)
    assert torch.allclose(adapted, naive(inputs()), atol=1e-5)
    merge(model)
    assert torch.allclose(model(inputs()), adapted, atol=1e-6)
    for name, parameter in naive.named_parameters():
        assert torch.allclose(model.get_parameter(name), parameter, atol=1e-5)


def test_merging_leaves_a_plain_model():
    model = small_model()
    adapt(model, 2)
    drawn(model)
    merge(model)
    assert not any(parametrize.is_parametrized(module) for module in model.modules())
    assert type(model.first) is nn.Linear
    assert model.state_dict().keys() == small_model().state_dict().keys()
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert adapter_state(model) == {}


def test_merging_what_was_never_adapted_changes_nothing():
    model = small_model()
    merge(model)
    assert torch.equal(model(inputs()), small_model()(inputs()))


def test_changes_travel_by_name():
    one, other = small_model(), small_model()
    adapt(one, 2)
    adapt(other, 2, seed=1)
    state = drawn(one)
    assert list(state) == [f"{layer}.{part}" for layer in LAYERS for part in ("up", "down")]
    load_adapters(other, adapter_state(one))
    assert torch.equal(other(inputs()), one(inputs()))
    assert all(torch.equal(adapter_state(other)[name], tensor) for name, tensor in state.items())
    drawn(one, seed=3)  # the other has its own
    assert torch.equal(adapter_state(other)["first.up"], state["first.up"])


@pytest.mark.parametrize(
    ("change", "layer"),
    [
        (lambda state: state.clear(), "deeper.inner"),
        (lambda state: state.pop("first.down"), "first"),
        (lambda state: state.update({"first.up": torch.ones(6, 3)}), "first"),
        (lambda state: state.update({"first.down": torch.ones(2, 4)}), "first"),
        (lambda state: state.update({"third.up": torch.ones(6, 2)}), "third"),
    ],
)
def test_changes_of_another_model_are_refused_whole(change, layer):
    model = small_model()
    adapt(model, 2)
    before = drawn(model)
    state = {name: torch.zeros_like(tensor) for name, tensor in before.items()}
    change(state)
    with pytest.raises(BadInput, match=f"do not fit the encoder's {layer}$"):
        load_adapters(model, state)
    assert all(torch.equal(adapter_state(model)[name], tensor) for name, tensor in before.items())


def test_changes_of_another_rank_are_refused():
    model, other = small_model(), small_model()
    adapt(model, 2)
    adapt(other, 3)
    with pytest.raises(BadInput, match="do not fit"):
        load_adapters(model, adapter_state(other))


def test_a_transformer_is_adapted_but_for_its_pooler():
    model, ids = tiny_bert(), torch.arange(12).view(2, 6)
    linear = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    before = model(ids).last_hidden_state
    adapt(model, 2)
    assert torch.equal(model(ids).last_hidden_state, before)
    state = drawn(model)
    names = {name.rpartition(".")[0] for name in state}
    assert names == set(linear) - {"pooler.dense"}
    assert len(names) == 12
    adapted = model(ids).last_hidden_state
    assert not torch.allclose(adapted, before, atol=0.1)
    merge(model)
    assert torch.allclose(model(ids).last_hidden_state, adapted, atol=1e-5)
    naive = naive_merge(tiny_bert(), state)
    assert torch.allclose(naive(ids).last_hidden_state, adapted, atol=1e-4)


@torch.no_grad()
def test_changes_are_merged_without_adapting_first():
    ids = torch.arange(8).reshape(2, 4)
    adapted = tiny_bert()
    adapt(adapted, 2)
    state = drawn(adapted)
    merged = tiny_bert()
    merge_changes(merged, state)
    expected = adapted(ids).last_hidden_state
    assert torch.allclose(merged(ids).last_hidden_state, expected, atol=1e-5)
    naive = naive_merge(tiny_bert(), state)
    assert torch.allclose(merged(ids).last_hidden_state, naive(ids).last_hidden_state, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"first.up": (6, 2)}, "first.down is missing or unknown"),
        ({"first.up": (6, 2), "first.down": (2, 3), "first.bias": (6,)}, "first.bias is missing"),
        ({"third.up": (6, 2), "third.down": (2, 3)}, "do not fit the encoder's third"),
        ({"first.up": (6, 2), "first.down": (3, 3)}, "do not fit the encoder's first"),
        ({"first.up": (5, 2), "first.down": (2, 3)}, "do not fit the encoder's first"),
        ({"first.up": (12,), "first.down": (2, 3)}, "do not fit the encoder's first"),
        ({"pooler.up": (4, 2), "pooler.down": (2, 4)}, "do not fit the encoder's pooler"),
    ],
)
def test_changes_that_do_not_fit_are_not_merged(changes, reason):
    model = small_model()
    before = model(inputs())
    with pytest.raises(BadInput, match=reason):
        merge_changes(model, {name: torch.zeros(shape) for name, shape in changes.items()})
    assert torch.equal(model(inputs()), before)
