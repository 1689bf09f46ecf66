"""A link model in training: its targets, its losses, and states that continue to the bit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts
from tests.graph.tiny import quick
from tests.link.tiny import apart, link_model

from kgraft.corpus import annotate
from kgraft.graph import IGNORED
from kgraft.link.coherence import Support
from kgraft.link.knowledge import Knowledge
from kgraft.link.settings import LinkSettings
from kgraft.link.task import LinkTask, _local_rows, _within
from kgraft.link.training_texts import TrainingTexts

QUICK = LinkSettings(rank=2, epochs=3, batch_tokens=200, learning_rate=2e-3, head_rate=5e-3)


@pytest.fixture
def make(encoder_folder, knowledge, marked_texts):
    """Make a task: `make(data=, valid=, settings=)`."""

    def make(data=marked_texts, valid=(), settings=QUICK, knowledge=knowledge, **options):
        model = link_model(encoder_folder)
        sources = [TrainingTexts(knowledge, data, **options)]
        held_out = [TrainingTexts(knowledge, part) for part in valid]
        return LinkTask(model, sources, held_out, settings)

    return make


def learn(task, steps, *, first=0, after=0):
    """Make the steps of an epoch from `first` on, and return the losses."""
    batches = task.batches(after)
    return [task.step(batch, place) for place, batch in enumerate(batches[:steps])][first:]


def bits(task):
    return {name: tensor.numpy().tobytes() for name, tensor in task.state().items()}


def test_a_few_epochs_lower_every_loss(make):
    settings = QUICK.replace(silence=0.0, drop_gold=0.0, epochs=10, learning_rate=5e-3)
    task, each = make(settings=settings), []
    for epoch in range(10):
        batches = task.batches(epoch)
        each.append([task.step(b, epoch * len(batches) + i) for i, b in enumerate(batches)])
    for name in ("loss", "mentions", "entities", "links"):
        first, last = (np.mean([losses[name] for losses in each[epoch]]) for epoch in (0, -1))
        assert last < first, name
    for losses in each[0]:
        parts = losses["mentions"] + losses["entities"] + losses["links"]
        assert losses["loss"] == pytest.approx(parts, rel=1e-4)


def test_the_encoder_itself_stays_as_it_is(make):
    task = make()
    frozen = {n: p.clone() for n, p in task.model.named_parameters() if not p.requires_grad}
    learn(task, 2)
    parameters = dict(task.model.named_parameters())
    assert frozen
    assert all(torch.equal(parameters[name], tensor) for name, tensor in frozen.items())


def test_every_window_is_read_once_per_epoch_in_an_order_of_its_own(make):
    task = make()
    orders = [np.concatenate(task.batches(epoch)).tolist() for epoch in (0, 1, 0)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(40))
    assert orders[0] == orders[2] != orders[1]


def test_a_large_set_is_gone_through_in_parts(make):
    task = make(settings=QUICK.replace(part=15))
    assert len(task.parts) == 3
    assert task.epochs == 9
    rows = [task._part(epoch).rows for epoch in range(6)]
    for parts in (rows[:3], rows[3:]):
        assert sorted(np.concatenate(parts).tolist()) == list(range(40))
    assert all((np.diff(part) > 0).all() for part in rows)


def test_a_source_without_texts_is_passed_over(encoder_folder, knowledge, marked_texts):
    empty = annotated_texts([], *np.zeros((4, 0), np.int64))
    sources = [TrainingTexts(knowledge, data) for data in (empty, marked_texts)]
    task = LinkTask(link_model(encoder_folder), sources, [], QUICK)
    assert [len(part.rows) for part in task.parts] == [40]


def continued(make, **options):
    """Return what a run, and one that stopped within an epoch and was loaded again, came to."""
    straight, first, second = make(**options), make(**options), make(**options)
    batches = straight.batches(0)
    assert len(batches) > 2
    for place, batch in enumerate(batches):
        straight.step(batch, place)
    first.batches(0)
    first.step(batches[0], 0)
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    assert [b.tolist() for b in second.batches(0)] == [b.tolist() for b in batches]
    for place, batch in enumerate(batches[1:], 1):
        second.step(batch, place)
    return bits(straight), bits(second)


def test_a_state_put_back_continues_with_the_same_bits(make):
    straight, resumed = continued(make)
    assert resumed == straight


def test_with_an_index_too_a_state_continues_with_the_same_bits(
    make, graph, model, tmp_path, monkeypatch
):
    """The model proposes spans, and those of an epoch are the ones of its beginning."""
    monkeypatch.setattr("kgraft.link.reading.FLOOR", 0.0)
    with apart(tmp_path):
        knowledge = Knowledge(graph, model.entity_encoder)
        knowledge.build_index()
    straight, resumed = continued(make, knowledge=knowledge)
    assert resumed == straight


def test_randomness_comes_from_the_seed_and_the_place_alone(make):
    torch.manual_seed(1)
    one = learn(make(), 2)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    assert learn(make(), 2) == one
    assert torch.equal(torch.get_rng_state(), state)
    assert learn(make(settings=QUICK.replace(seed=1)), 2) != one


@pytest.mark.slow
def test_targets_are_the_annotated_mentions_and_weights_say_how_far_the_rest_counts(make):
    task = make()
    task.batches(0)
    spans, batch = task.spans, np.arange(40)
    ids, mask = map(torch.from_numpy, spans.windows.padded(batch))
    _, targets, weights = task._mention_targets(spans, batch, task.model(ids, mask))
    own = {}
    columns = (spans.places.window, spans.places.first, spans.places.last - spans.places.first - 1)
    for row, place in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        own[place] = (bool(spans.is_gold[row]), float(spans.weight[row]))
    begins, ends = (spans.windows.spread(edge, batch, fill=False) for edge in spans.edges)
    for window, first, more in torch.nonzero(torch.ones_like(targets)).tolist():
        last = first + more
        at_words = last < begins.shape[1] and begins[window, first] and ends[window, last]
        is_gold, weight = own.get((window, first, more), (False, 1.0))
        assert targets[window, first, more] == is_gold
        expected = (1.0 if is_gold else weight) if at_words else 0.0
        assert weights[window, first, more] == pytest.approx(expected)
    assert targets.sum() == len(make().parts[0].source.texts.mentions)


def test_texts_may_teach_links_only(make):
    [losses] = learn(make(teaches_mentions=False), 1)
    assert losses.keys() == {"loss", "links", "entities"}


def test_right_candidates_are_dropped_as_often_as_the_settings_say(make):
    task = make(settings=QUICK.replace(drop_gold=0.5))
    gold = np.arange(-1, 1999)
    dropped, kept = task._drop_gold(gold, 2000, np.random.default_rng(1))
    assert kept[0] == -1
    assert 800 < int(dropped.sum()) < 1200
    assert np.flatnonzero(dropped.numpy()).tolist() == gold[1:][kept[1:] < 0].tolist()
    none, same = make(settings=QUICK.replace(drop_gold=0.0))._drop_gold(
        gold, 2000, np.random.default_rng(1)
    )
    assert not none.any()
    assert same.tolist() == gold.tolist()


@given(st.permutations(range(12)), st.lists(st.integers(-1, 11), max_size=6))
@quick
def test_rows_of_a_batch_are_those_of_the_same_candidates(order, gold):
    candidate = np.array(order)
    rows = _local_rows(np.array(gold, np.int64), candidate)
    assert [int(candidate[row]) if row >= 0 else -1 for row in rows] == gold


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=12),
    st.lists(st.integers(0, 11), min_size=1, max_size=8, unique=True),
)
@quick
def test_support_within_a_batch_is_between_its_candidates(pairs, candidate):
    columns = tuple(np.array(pairs, np.int64).reshape(-1, 2).T)
    within = _within(Support(columns), np.array(candidate))
    row = {c: r for r, c in enumerate(candidate)}
    expected = [(row[a], row[b]) for a, b in pairs if a in row and b in row]
    assert list(zip(*(c.tolist() for c in within.pairs), strict=True)) == expected


@pytest.mark.slow
def test_validation_gives_figures_and_changes_nothing(make, marked_texts):
    task = make(valid=[marked_texts.select(np.arange(5)), marked_texts.select(np.arange(5, 10))])
    before = bits(task)
    figures = task.validate()
    assert {"weak_f1", "strong_f1", "threshold"} <= figures.keys()
    assert 0 <= figures["weak_f1"] <= 1
    assert bits(task) == before
    alone = [make(valid=[valid.texts]).validate()["weak_f1"] for valid in task.valid]
    assert figures["weak_f1"] == pytest.approx(np.mean(alone))
    assert make().validate() == {}


@pytest.mark.parametrize("entity", [None, "zorblax", "myth"])
def test_texts_with_hardly_a_mention_are_learnt_from_too(make, graph, entity):
    mentions = [] if entity is None else [{"start": 0, "end": 2, "entity": entity}]
    data = annotate(graph, [("of the", mentions), ("", []), ("…", [])])
    losses = learn(make(data), 3)
    assert all(np.isfinite(row["loss"]) for row in losses)


def test_ignored_spans_teach_neither_links_nor_entities(make, graph):
    data = annotate(graph, [("Paris in Texas", [{"start": 0, "end": 5, "entity": None}])])
    assert data.gold.tolist() == [IGNORED]
    task = make(data)
    task.batches(0)
    assert task.spans.weight[0] == 0
    assert task.spans.gold[0] == -1
