"""A grafted encoder is its host, and reads with knowledge only where it is given."""

import copy
import pickle

import pytest
import torch
from tests.graft.tiny import FAMILIES, RandomKnowledge, draw_mentions, host

from kgraft.errors import BadInput
from kgraft.graft import AttentionSettings, attach, detach, knowledge_off, record_grafts

SETTINGS = AttentionSettings(size=8, heads=2, inner=16, score=5)
BOTH = {1: RandomKnowledge(), 2: RandomKnowledge(size=5)}
IDS = torch.randint(5, 99, (2, 9), generator=torch.Generator().manual_seed(0))
INPUTS = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}
families = pytest.mark.parametrize("family", FAMILIES)


def grafted(family, knowledge=None):
    return attach(
        host(family), knowledge or {2: RandomKnowledge()}, settings=dict.fromkeys((1, 2), SETTINGS)
    )


@torch.no_grad()
def read(model, **beside):
    return model(**INPUTS, **beside).last_hidden_state


@families
def test_a_grafted_encoder_keeps_its_class_inputs_and_outputs(family):
    before = host(family)
    model = grafted(family)
    assert type(model) is type(before)
    output = model(**INPUTS, knowledge=draw_mentions(0))
    assert type(output) is type(before(**INPUTS))
    assert output.last_hidden_state.shape == (2, 9, 24)


@families
def test_without_knowledge_it_is_the_host_to_the_bit(family):
    expected = read(host(family))
    model = grafted(family)
    assert torch.equal(read(model), expected)
    with knowledge_off(model):
        assert torch.equal(read(model, knowledge=draw_mentions(0)), expected)
    assert not torch.equal(read(model, knowledge=draw_mentions(0)), expected)
    assert torch.equal(read(detach(model)), expected)
    assert not any(name.startswith("grafts") for name in model.state_dict())


@families
def test_knowledge_comes_in_after_the_layer_that_was_named(family):
    model = grafted(family)
    seen = model(**INPUTS, knowledge=draw_mentions(0), output_hidden_states=True).hidden_states
    bare = host(family)(**INPUTS, output_hidden_states=True).hidden_states
    assert torch.equal(seen[1], bare[1])
    assert not torch.equal(seen[3], bare[3])


def test_texts_without_mentions_in_a_batch_stay_what_they_are():
    mentions = draw_mentions(0)
    mentions.last[1] = mentions.first[1]
    changed, expected = read(grafted("bert"), knowledge=mentions), read(host("bert"))
    assert torch.equal(changed[1], expected[1])
    assert not torch.equal(changed[0], expected[0])


def test_several_knowledge_bases_at_several_layers():
    model = grafted("bert", BOTH)
    both = {layer: draw_mentions(layer) for layer in BOTH}
    with record_grafts() as seen:
        read(model, knowledge=both)
    assert set(seen) == {1, 2}
    one = read(model, knowledge={1: both[1]})
    assert not torch.equal(one, read(model, knowledge=both))


def test_a_graft_can_be_added_to_a_grafted_encoder():
    model = grafted("bert", {1: BOTH[1]})
    weights = {n: p.clone() for n, p in model.grafts["1"].named_parameters()}
    attach(model, {2: BOTH[2]}, settings={2: SETTINGS})
    assert model.grafts.layers == [1, 2]
    assert all(torch.equal(p, weights[n]) for n, p in model.grafts["1"].named_parameters())


def test_an_error_on_the_way_leaves_no_knowledge_behind():
    model = grafted("bert")
    with pytest.raises(IndexError):
        model(input_ids=IDS + 99, knowledge=draw_mentions(0))
    assert torch.equal(read(model), read(host("bert")))


@pytest.mark.parametrize("move", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_grafted_encoder_can_be_copied_and_moved_to_another_process(move):
    model = grafted("bert")
    expected = read(model, knowledge=draw_mentions(0))
    other = move(model)
    assert torch.equal(read(other, knowledge=draw_mentions(0)), expected)
    detach(model)
    assert torch.equal(read(other, knowledge=draw_mentions(0)), expected)


@pytest.mark.parametrize("layer", [0, 4, -1])
def test_a_layer_that_does_not_exist_is_refused(layer):
    with pytest.raises(BadInput, match=f"no layer {layer}; .*3 layers"):
        grafted("bert", {layer: RandomKnowledge()})


def test_what_cannot_be_is_refused_with_what_to_do():
    model = grafted("bert", BOTH)
    with pytest.raises(BadInput, match="has a graft already"):
        attach(model, {1: RandomKnowledge()})
    with pytest.raises(BadInput, match=r"grafts after 1, 2; give \{layer"):
        model(**INPUTS, knowledge=draw_mentions(0))
    with pytest.raises(BadInput, match="no graft after layer 3"):
        model(**INPUTS, knowledge={3: draw_mentions(0)})
    with pytest.raises(BadInput, match=r"'magic'.*attention"):
        attach(host("bert"), {1: RandomKnowledge()}, kind="magic")
    with pytest.raises(BadInput, match="nothing is grafted"), knowledge_off(host("bert")):
        pass
    with pytest.raises(BadInput, match="no knowledge is given"):
        attach(host("bert"), {})
