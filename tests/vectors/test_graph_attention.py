"""Graph attention agrees with a slow version of its formula."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.tiny import build
from tests.random_inputs import at_most

from kgraft.errors import BadInput
from kgraft.graph import sample_neighbourhood
from kgraft.vectors.graph_attention import (
    GraphAttention,
    GraphAttentionSettings,
    Neighbourhood,
    softmax_by,
)

SIZE = 6


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return build(tmp_path_factory.mktemp("graph") / "tiny")


def naive_layer(layer, own, edges, relations, back):
    """Return the new vector of one entity; edges are (vector, relation, forward)."""
    heads = layer.heads
    messages = []
    for vector, relation, forward in edges:
        along = relations[relation] if forward else relations[relation] + back
        if layer.compose is None:
            messages.append(vector + along)
        else:
            messages.append(layer.compose(torch.cat([vector, along])))
    parts = []
    for head in range(heads):
        rows = slice(head * SIZE // heads, (head + 1) * SIZE // heads)
        project = layer.project.weight[rows]
        vector = torch.cat([layer.own[head], layer.other[head]])
        scores = [vector @ torch.cat([project @ own, project @ m]) for m in messages]
        mixed = torch.zeros(SIZE // heads)
        if messages:
            weights = torch.nn.functional.leaky_relu(torch.stack(scores), 0.2).softmax(0)
            mixed = sum(w * (project @ m) for w, m in zip(weights, messages, strict=True))
        parts.append(torch.nn.functional.elu(mixed))
    return layer.norm(torch.cat(parts) + own)


def naive(module, hops, roots, entities, relations, depth=0, place=0, layer=None):
    """Return the vector of a row of a hop after some layers, by recursion."""
    layer = len(module.layers) if layer is None else layer
    number = roots[place] if depth == 0 else hops[depth - 1].target[place]
    if layer == 0:
        return entities[number]
    asked = (module, hops, roots, entities, relations)
    own = naive(*asked, depth, place, layer - 1)
    edges = [
        (naive(*asked, depth + 1, n, layer - 1), hops[depth].relation[n], hops[depth].forward[n])
        for n in np.flatnonzero(hops[depth].source == place)
    ]
    return naive_layer(module.layers[layer - 1], own, edges, relations, module.back)


@pytest.mark.slow
@given(
    seed=st.integers(0, 99),
    heads=st.sampled_from([1, 2, 3]),
    layers=st.integers(1, 2),
    composition=st.sampled_from(["sum", "mlp"]),
)
@settings(max_examples=at_most(25), deadline=None)
@torch.no_grad()
def test_it_follows_the_formula(graph, seed, heads, layers, composition):
    torch.manual_seed(seed)
    made = GraphAttentionSettings(layers=layers, heads=heads, composition=composition)
    module = GraphAttention(SIZE, made).eval()
    module.back.normal_()
    roots = np.random.default_rng(seed).integers(len(graph.entities), size=3)
    hops = sample_neighbourhood(graph.adjacency, roots, [3] * layers, seed=seed)
    around = Neighbourhood.of(roots, hops)
    entities, relations = torch.randn(len(graph.entities), SIZE), torch.randn(5, SIZE)
    found = module(around, entities[around.entity], relations)
    for place in range(len(roots)):
        expected = naive(module, hops, roots, entities, relations, place=place)
        assert torch.allclose(found[place], expected, atol=1e-5)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-90, 90)), max_size=12))
def test_softmax_by_group(rows):
    group = torch.tensor([g for g, _ in rows], dtype=torch.long)
    scores = torch.tensor([s for _, s in rows], dtype=torch.float64)
    found = softmax_by(scores, group, 5)
    for number in range(5):
        mine = group == number
        assert torch.allclose(found[mine], scores[mine].softmax(0))


def test_an_entity_alone_keeps_its_own(graph):
    module = GraphAttention(SIZE, GraphAttentionSettings(layers=1, heads=2)).eval()
    lonely = graph.indices_of(["nameless"])
    around = Neighbourhood.of(lonely, sample_neighbourhood(graph.adjacency, lonely, [3], seed=0))
    own = torch.randn(1, SIZE)
    expected = module.layers[0].norm(own)
    assert torch.allclose(module(around, own, torch.randn(5, SIZE)), expected)


def test_it_learns(graph):
    module = GraphAttention(SIZE, GraphAttentionSettings(heads=2))
    roots = np.arange(len(graph.entities))
    around = Neighbourhood.of(roots, sample_neighbourhood(graph.adjacency, roots, [4, 4], seed=1))
    entities = torch.randn(len(around.entity), SIZE)
    module(around, entities, torch.randn(5, SIZE)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())
    assert module.back.grad.abs().sum() > 0


def test_other_hops_than_layers(graph):
    module = GraphAttention(SIZE, GraphAttentionSettings(heads=2))
    roots = np.arange(2)
    around = Neighbourhood.of(roots, sample_neighbourhood(graph.adjacency, roots, [4], seed=1))
    with pytest.raises(BadInput, match="1 hops for 2 layers"):
        module(around, torch.randn(len(around.entity), SIZE), torch.randn(5, SIZE))


@pytest.mark.parametrize("wrong", [{"layers": 0}, {"heads": 0}, {"composition": "product"}])
def test_settings_that_cannot_be(wrong):
    with pytest.raises(BadInput):
        GraphAttentionSettings(**wrong)
    with pytest.raises(BadInput, match=r"6 numbers .* 4 heads"):
        GraphAttention(SIZE)
