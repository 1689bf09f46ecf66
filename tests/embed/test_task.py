"""An embedding in training: its batches, its rate, its share among several processes."""

import numpy as np
import pytest
import torch
from tests.embed.tiny import quick

from kgraft.embed.corruption import draw_negatives
from kgraft.embed.data import training_data
from kgraft.embed.gradients import gradients
from kgraft.embed.task import EmbedTask
from kgraft.training import Processes, stream


def make(graph, *, index=0, count=1, **changes):
    settings = quick(**changes)
    data = training_data(graph, seed=0)
    return EmbedTask(graph, data, settings, processes=Processes(index, count))


def test_an_epoch_of_softmax_asks_every_query_once(desks):
    task = make(desks, batch=64)
    batches = task.batches(3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(task.data.train)))
    assert [len(batch) for batch in batches[:-1]] == [64] * (len(batches) - 1)


def test_an_epoch_with_negatives_asks_for_every_triple_in_whole_chunks(desks):
    task = make(desks, loss="margin", batch=70, chunk=32)
    batches = task.batches(0)
    assert [len(batch) for batch in batches] == [64, 64]
    counts = np.bincount(np.concatenate(batches))
    assert len(counts) == len(task.data.triples) == 100
    assert set(counts) == {1, 2}  # the last chunk is filled up


def test_a_chunk_larger_than_the_graph_is_the_graph(desks):
    task = make(desks, loss="margin", chunk=4096)
    assert [len(batch) for batch in task.batches(0)] == [100]
    assert task.step(task.batches(0)[0], 0)["loss"] > 0


def test_the_order_comes_from_seed_and_epoch(desks):
    def order(epoch, **changes):
        return np.concatenate(make(desks, **changes).batches(epoch)).tolist()

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != order(1, seed=1)


def test_the_rate_falls_evenly(desks):
    task = make(desks, learning_rate=0.4, final_rate=0.25, epochs=3, batch=1000)
    rates = [task._rate(place) for place in range(4)]
    np.testing.assert_allclose(rates, [0.4, 0.3, 0.2, 0.1])
    assert make(desks, learning_rate=0.4)._rate(17) == 0.4


def test_the_last_epochs_compare_with_all_entities(desks, monkeypatch):
    task = make(desks, loss="sampled-softmax", epochs=5, finish=2, learning_rate=1.0, final_rate=0)
    plain, whole = make(desks, loss="sampled-softmax"), make(desks)
    kinds, place = [], 0
    for kind in ("_negatives_batch", "_all_answers_batch"):
        ask = getattr(task, kind)
        told = lambda *a, ask=ask, kind=kind: kinds.append(kind) or ask(*a)  # noqa: E731
        monkeypatch.setattr(task, kind, told)
    for epoch in range(5):
        batches, expected = task.batches(epoch), (plain if epoch < 3 else whole).batches(epoch)
        assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in expected]
        kinds.clear()
        for batch in batches:
            task.step(batch, place)
            place += 1
        assert kinds == ["_negatives_batch" if epoch < 3 else "_all_answers_batch"] * len(batches)
    assert task._rate(place) == pytest.approx(0)


@pytest.mark.parametrize("optimiser", ["adagrad", "adam"])
def test_a_state_put_back_goes_on_the_same_way(desks, optimiser):
    first, second = (make(desks, optimiser=optimiser, dropout=0.2) for _ in range(2))
    batch = first.batches(0)[0]
    first.step(batch, 0)
    held = {name: tensor.clone() for name, tensor in first.state().items()}
    first.step(batch, 1)
    second.load_state(held)
    second.step(batch, 1)
    for name, tensor in first.state().items():
        assert torch.equal(tensor, second.state()[name]), name


def test_a_state_shares_no_memory(desks):
    state = make(desks, optimiser="adam").state()
    assert len({tensor.data_ptr() for tensor in state.values()}) == len(state) == 8


@pytest.mark.parametrize("corruption", ["uniform", "bernoulli"])
def test_one_end_is_asked_for(desks, corruption):
    task = make(desks, loss="margin", corruption=corruption, chunk=10, batch=100)
    batch = task._negatives_batch(task.batches(0)[0], np.random.default_rng(0))
    assert len(batch.entity) == 100
    assert batch.negatives.shape == (10, 32)
    back = batch.relation >= 6
    assert 20 < back.sum() < 80
    teams = np.isin(batch.relation % 6, [desks.relation(r).index for r in ("member of",)])
    expected = 1 / (1 + 5) if corruption == "bernoulli" else 0.5  # 5 heads a tail
    assert task.head_rates[desks.relation("member of").index] == pytest.approx(expected)
    assert teams.sum() == 20


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("size", [1, 64])
def test_the_processes_make_up_the_batch(desks, count, size):
    """With softmax the sum over processes is the gradient of one, also where one has nothing."""
    alone = make(desks, entity_weight=0.1)
    batch = alone.batches(0)[0][:size]
    whole = gradients(alone.tables, alone._all_answers_batch(batch), None)
    parts = [make(desks, index=i, count=count, entity_weight=0.1) for i in range(count)]
    found = [gradients(part.tables, part._all_answers_batch(batch), None) for part in parts]
    for name in ("entities", "relations", "losses"):
        total = sum(getattr(part, name) for part in found)
        torch.testing.assert_close(total, getattr(whole, name), rtol=1e-5, atol=1e-7)


def test_the_processes_share_the_chunks(desks):
    parts = [make(desks, loss="margin", index=i, count=2, chunk=20) for i in range(2)]
    batch = parts[0].batches(0)[0]
    assert len(batch) == 100
    queries = [part._negatives_batch(batch, np.random.default_rng(0)) for part in parts]
    assert [q.fraction for q in queries] == [0.6, 0.4]
    answered = [np.stack([q.entity, q.relation, q.answer], 1) for q in queries]
    triples = alone_triples(parts[0], batch)
    assert sorted(map(tuple, np.concatenate(answered).tolist())) == sorted(triples)


@pytest.mark.parametrize("index", [0, 1])
def test_every_place_and_process_draws_its_own_negatives(desks, monkeypatch, index):
    drawn = []
    task = make(desks, loss="margin", index=index, count=1)
    batch = task.batches(0)[0]
    monkeypatch.setattr(
        "kgraft.embed.task.draw_negatives",
        lambda *batch: drawn.append(batch[-1].integers(10**9)) or draw_negatives(*batch),
    )
    for place in (4, 4, 5):
        task.step(batch, place)
    expected = [stream(0, 1, place, index).integers(10**9) for place in (4, 4, 5)]
    assert drawn == expected
    assert len(set(drawn)) == 2


def alone_triples(task, batch):
    triples = [tuple(row) for row in task.data.triples[batch].tolist()]
    return triples + [(t, r + 6, h) for h, r, t in triples]


def test_a_process_without_a_chunk_adds_nothing(desks):
    idle = make(desks, loss="margin", index=1, count=2, chunk=100)
    found = gradients(
        idle.tables, idle._negatives_batch(idle.batches(0)[0], np.random.default_rng(0)), None
    )
    assert len(found.rows) == 0
    assert not found.losses.any()


def test_scores_that_are_no_numbers_have_no_figure(desks):
    task = make(desks)
    task.tables.entities.fill_(1e30)
    task.tables.entities[:, ::2] *= -1
    task.tables.relations.fill_(1e30)
    assert np.isnan(task.validate()["mrr"])
