"""What is injected stands at the words of the mention, and nowhere else."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import RandomKnowledge, draw_mentions, some

from kgraft.errors import BadInput
from kgraft.graft import GraphKnowledge, InjectionSettings
from kgraft.graft.kinds.entity import EntityInjection
from kgraft.graft.kinds.relation import RelationInjection
from kgraft.graft.relations import Relations
from kgraft.text.mention_batch import MASKED, PADDING, MentionBatch

SEEDS = st.integers(0, 10_000)


def slow_injection(graft, knowledge, hidden, mentions, window):
    """One window, word by word, from the formula."""
    rows = []
    for t in range(hidden.shape[1]):
        known = []
        for m in range(mentions.first.shape[1]):
            if not mentions.first[window, m] <= t < mentions.last[window, m]:
                continue
            entity, prior = mentions.entity[window, m], mentions.prior[window, m]
            there = [k for k in range(len(entity)) if entity[k] != PADDING]
            best = max(there, key=lambda k, p=prior: float(p[k]), default=None)
            if best is None:
                known.append(torch.zeros(knowledge.size))
            elif entity[best] == MASKED:
                known.append(graft.mask)
            else:
                known.append(knowledge.table[entity[best]])
        h = hidden[window, t]
        if not known:
            rows.append(h)
            continue
        x = torch.stack(known).mean(0)
        if graft.settings.method == "add":
            rows.append(h + graft.project(x))
        else:
            rows.append(graft.project(torch.cat([h, x])))
    return torch.stack(rows)


@given(seed=SEEDS, by=st.sampled_from(["add", "concat"]))
@some
@torch.no_grad()
def test_entities_are_injected_by_the_formula(seed, by):
    torch.manual_seed(seed)
    knowledge, mentions = RandomKnowledge(), draw_mentions(seed)
    graft = EntityInjection(24, knowledge, InjectionSettings(by))
    graft.project.weight += torch.randn_like(graft.project.weight)
    hidden = torch.randn(2, 9, 24)
    changed, looked = graft(hidden, mentions, knowledge)
    for window in range(2):
        expected = slow_injection(graft, knowledge, hidden, mentions, window)
        torch.testing.assert_close(changed[window], expected, rtol=1e-4, atol=1e-4)
    assert looked.weights.sum(-1).max() <= 1


@pytest.mark.parametrize("by", ["add", "concat"])
@torch.no_grad()
def test_a_new_injection_hardly_changes_anything(by):
    hidden, mentions = torch.randn(2, 9, 24), draw_mentions(0)
    graft = EntityInjection(24, RandomKnowledge(), InjectionSettings(by))
    changed, _ = graft(hidden, mentions, RandomKnowledge())
    assert (changed - hidden).norm() < 0.05 * hidden.norm()


def test_the_relations_between_the_entities_of_a_text(graph):
    drawn = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(graph.relations), 4, generator=drawn)
    ids = graph.relations["id"].to_pylist()
    france, germany, euro, york = graph.indices_of(["france", "germany", "euro", "york"]).tolist()
    found = Relations(graph, vectors).between(
        torch.tensor([[france, germany, euro, -1], [york, france, -1, -1]])
    )
    borders, pays = vectors[ids.index("borders")], vectors[ids.index("pays in")]
    torch.testing.assert_close(found[0, 0], 2 * borders + pays)  # they border each other
    torch.testing.assert_close(found[0, 2], 2 * pays)
    assert found[0, 3].abs().sum() == 0
    assert found[1].abs().sum() == 0


@torch.no_grad()
def test_relations_are_injected_where_both_entities_are_mentioned(graph, knowledge, monkeypatch):
    vectors = torch.randn(len(graph.relations), 4)
    monkeypatch.setattr(GraphKnowledge, "relations", Relations(graph, vectors), raising=False)
    france, euro = graph.indices_of(["france", "euro"]).tolist()
    mentions = MentionBatch(
        torch.tensor([[0, 3]]), torch.tensor([[1, 5]]),
        torch.tensor([[[france], [euro]]]), torch.ones(1, 2, 1),
    )  # fmt: skip
    hidden = torch.randn(1, 6, 24)
    graft = RelationInjection(24, knowledge)
    changed, _ = graft(hidden, mentions, knowledge)
    moved = (changed != hidden).any(-1)[0].tolist()
    assert moved == [True, False, False, True, True, False]


def test_another_way_is_refused():
    with pytest.raises(BadInput, match=r"'magic'.*add, concat"):
        InjectionSettings("magic")
