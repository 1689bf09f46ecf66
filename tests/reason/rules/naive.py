"""Rules by definition: every grounding is enumerated, one Python loop per variable."""

from itertools import product

import numpy as np

from kgraft.graph import Graph as KgraftGraph
from kgraft.graph import TablesSource, build_graph


def make_graph(folder, triples, *, valid=(), entities=6, relations=3):
    """Build a graph of numbered entities and relations."""
    rows = [{"id": f"e{i}", "label": f"entity {i}"} for i in range(entities)]
    kinds = [{"id": f"r{i}", "label": f"relation {i}"} for i in range(relations)]
    named = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in triples]
    build_graph(TablesSource(named, rows, kinds), folder)
    return KgraftGraph.open(folder)


def both_ways(triples, relations):
    """Return the set of edges (source, relation, target) in both directions, no self-loops."""
    forward = {(h, r, t) for h, r, t in triples if h != t}
    return forward | {(t, r + relations, h) for h, r, t in forward}


def path_pairs(edges, body, entities):
    """Return the pairs (x, y) that a path of relations joins, all its entities being different."""
    pairs = set()
    for chain in product(range(entities), repeat=len(body) + 1):
        if len(set(chain)) == len(chain) and all(
            (a, r, b) in edges for a, r, b in zip(chain, body, chain[1:], strict=False)
        ):
            pairs.add((chain[0], chain[-1]))
    return pairs


def constant_pairs(edges, constant, relation, end, entities):
    """Return the pairs (x, c) of the x for which b(x, d) holds, or b(x, z) for some z."""
    pairs = set()
    for x in range(entities):
        ends = {t for s, r, t in edges if s == x and r == relation}
        hits = {end} & ends if end >= 0 else ends - {constant}
        if x != constant and hits:
            pairs.add((x, constant))
    return pairs


def rule_pairs(edges, constant, body, end, entities, head=None):
    """Return the pairs for which the body of any rule holds."""
    if constant < 0:
        return path_pairs(edges, body, entities)
    if body:
        return constant_pairs(edges, constant, body[0], end, entities)
    return {(s, constant) for s, r, _ in edges if r == head and s != constant}


def naive_rules(triples, entities, relations, *, min_support, longest=3):
    """Return {(head, constant, body, end): (support, body count)} of all rules but the bodiless."""
    edges = both_ways(triples, relations)
    both = range(2 * relations)
    bodies = [b for n in range(1, longest + 1) for b in product(both, repeat=n)]
    rules = {}
    for body in bodies:
        pairs = path_pairs(edges, body, entities)
        for head in range(relations):
            if body != (head,):
                rules[head, -1, body, -1] = (
                    sum((x, head, y) in edges for x, y in pairs),
                    len(pairs),
                )
    for head, c, relation, end in product(both, range(entities), both, range(-1, entities)):
        if (head, c) != (relation, end):
            pairs = constant_pairs(edges, c, relation, end, entities)
            support = sum((x, head, c) in edges for x, _ in pairs)
            rules[head, c, (relation,), end] = support, len(pairs)
    return {key: counts for key, counts in rules.items() if counts[0] >= min_support}


def as_dict(rules):
    """Return the rules of a set in the form of `naive_rules`."""
    return {
        (int(h), int(c), tuple(int(b) for b in body if b >= 0), int(d)): (int(s), int(n))
        for h, c, body, d, s, n in zip(
            rules.head,
            rules.constant,
            rules.body,
            rules.body_constant,
            rules.support,
            rules.body_count,
            strict=True,
        )
    }


def naive_hits(rules, edges, entities, relations, entity, relation):
    """Return {answer: confidences of the rules that give it, best first} for a query."""
    back = (relation + relations) % (2 * relations)
    confidence = rules.confidence.astype(np.float32).tolist()
    hits = {}
    for row, (head, constant, body, end) in enumerate(as_dict(rules)):
        if not body or head not in (relation, back):
            continue
        for x, y in rule_pairs(edges, constant, body, end, entities):
            near, far = (x, y) if head == relation else (y, x)
            if near == entity:
                hits.setdefault(far, []).append((confidence[row], row))
    return {answer: sorted(found, reverse=True) for answer, found in hits.items()}
