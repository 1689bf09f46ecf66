"""The network over entities as the formula has it: all edges, all entities, one query."""

import torch


def without_fact(edges, relations, fact):
    """Return edges (node, kind, neighbour) without those of the fact (entity, kind, answer)."""
    entity, kind, answer = fact
    hidden = [(entity, kind, answer), (answer, (kind + relations) % (2 * relations), entity)]
    return [edge for edge in edges if edge not in hidden]


def distances(edges, head, steps):
    """Return how far the entities are that lie within some steps of a head."""
    near = {head: 0}
    for step in range(1, steps + 1):
        near |= {v: step for v, _, x in edges if near.get(x) == step - 1 and v not in near}
    return near


def naive_states(layers, query, vectors, edges, head, entities, weights=None):
    """Return the states (N, D) of all entities, zero where no path leads.

    `weights` scale the messages of the edges.
    """
    weights = query.new_ones(len(edges)) if weights is None else weights
    start = query.new_zeros(entities, len(query))
    start[head] = query
    states, near = start, distances(edges, head, len(layers))
    for step, layer in enumerate(layers, 1):
        sent = layer.edge_vectors(vectors[None])[0]
        rows = [torch.zeros_like(query) for _ in range(entities)]
        for (node, kind, neighbour), weight in zip(edges, weights, strict=True):
            rows[node] = rows[node] + weight * states[neighbour] * sent[kind]
        reached = query.new_tensor(
            [[float(near.get(v, step + 1) <= step)] for v in range(entities)]
        )
        mixed = torch.cat([states, torch.stack(rows) + start], dim=1)
        states = (torch.relu(layer.layer_norm(layer.linear(mixed))) + states) * reached
    return states
