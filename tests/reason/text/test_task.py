"""A step against a slow version; what is masked, remembered and validated."""

import numpy as np
import pytest
import torch
from tests.reason.text.conftest import QUICK
from tests.reason.text.test_loss import naive

from kgraft.errors import BadInput
from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.reason import TextCompleter
from kgraft.reason.text.task import TextTask
from kgraft.text import Encoder


@pytest.fixture
def make(graph, host_folder):
    def make(on=graph, **changes):
        settings = QUICK.replace(**changes)
        encoder = Encoder.load(host_folder, device="cpu", max_length=settings.tokens)
        completer = TextCompleter(encoder, temperature=settings.temperature)
        return TextTask(completer, on, settings)

    return make


def examples(task, rows):
    """Return entity, relation and answer of the queries of some triples, tails first."""
    triples = task.triples.take(rows)
    facts = list(zip(triples.head, triples.relation, triples.tail, strict=True))
    tails = [(h, r, t) for h, r, t in facts]
    return tails + [(t, task.relations + r, h) for h, r, t in facts]


def known(task, entity, relation, candidate):
    triples, size = task.triples, task.relations
    facts = set(zip(triples.head, triples.relation, triples.tail, strict=True))
    fact = (entity, relation, candidate)
    return (fact if relation < size else (candidate, relation - size, entity)) in facts


def test_the_loss_of_a_step(make):
    """Negatives are all entities of this batch and the earlier one that are no known answers."""
    task = make()
    first, second = task.batches(0)[:2]
    task.module.eval()
    task.step(first, 0)
    task.module.eval()
    earlier = sorted({int(e) for e, _, _ in examples(task, first)})
    assert task._earlier_entities.tolist() == earlier
    rows = examples(task, second)
    entities = sorted({int(answer) for _, _, answer in rows})
    assert {int(entity) for entity, _, _ in rows} == set(entities)  # self-negatives
    texts, read = task.texts, task.completer.encoder.encode
    queries = read(texts.queries(*np.array(rows)[:, :2].T).to_pylist())
    vectors = read(texts.entities(np.array(entities)).to_pylist())
    expected = naive(
        queries,
        vectors,
        [entities.index(int(answer)) for _, _, answer in rows],
        [[known(task, e, r, c) for c in entities] for e, r, _ in rows],
        task.completer.temperature().item(),
        task.settings.margin,
        task.settings.earlier_weight,
        task._earlier.numpy(),
        [[known(task, e, r, c) for c in earlier] for e, r, _ in rows],
    )
    triples = task.triples.take(second)
    entity, relation, answer = triples.with_inverses(task.relations)
    from kgraft.measure import QueryBatch

    loss, _, _ = task._loss(QueryBatch(entity, relation), answer)
    assert loss.item() == pytest.approx(expected, rel=1e-4)


def test_only_the_last_batches_are_remembered(make):
    task = make(earlier_batches=1)
    for step, batch in enumerate(task.batches(0)[:3]):
        task.step(batch, step)
    assert len(task._earlier) == len(task._earlier_entities) <= 8
    without = make(earlier_batches=0)
    without.step(without.batches(0)[0], 0)
    assert len(without._earlier) == 0


def test_an_epoch_of_a_part_of_the_triples(make):
    task = make(epoch_triples=8)
    assert sum(map(len, task.batches(0))) <= 8
    assert not np.array_equal(task.batches(0)[0], task.batches(1)[0])
    assert task.steps == 4


def test_frozen_layers_stay(make):
    task = make(frozen=2)
    before = {name: p.clone() for name, p in task.module.named_parameters()}
    task.step(task.batches(0)[0], 0)
    changed = {n for n, p in task.module.named_parameters() if not torch.equal(p, before[n])}
    assert "temperature.log_scale" in changed
    layers = {name.split("layer.")[1][0] for name in changed if "layer." in name}
    assert layers == {"2"}


def test_validation_ranks_the_answers_of_the_valid_split(make, graph):
    task = make(valid_entities=100, valid_queries=100)
    figures = task.validate()
    assert figures["count"] == 2 * 2
    triples, ranks = graph.split("valid").triples, []
    facts = set(zip(graph.triples.head, graph.triples.relation, graph.triples.tail, strict=True))
    read = task.completer.encoder.encode
    vectors = read(task.texts.entities(np.arange(len(graph))).to_pylist())
    for h, r, t in zip(triples.head, triples.relation, triples.tail, strict=True):
        for e, relation, answer in ((h, r, t), (t, r + task.relations, h)):
            query = read(task.texts.queries(np.array([e]), np.array([relation])).to_pylist())[0]
            scores = vectors @ query
            others = [
                scores[c]
                for c in range(len(graph))
                if c != answer and ((h, r, c) if answer == t else (c, r, t)) not in facts
            ]
            ranks.append(1 + sum(score > scores[answer] for score in others))
    assert figures["mrr"] == pytest.approx(np.mean(1 / np.array(ranks)), abs=0.02)


def test_a_graph_without_splits_is_learnt_from_as_it_is(make, tmp_path):
    build_graph(TablesSource([("a", "r", "b"), ("b", "r", "c")]), tmp_path / "g")
    task = make(Graph.open(tmp_path / "g"))
    assert len(task.triples) == 2
    assert task.validate() == {}


def test_a_graph_without_facts_is_refused(make, tmp_path):
    build_graph(TablesSource((), [{"id": "a"}]), tmp_path / "g")
    with pytest.raises(BadInput, match="no triples"):
        make(Graph.open(tmp_path / "g"))
