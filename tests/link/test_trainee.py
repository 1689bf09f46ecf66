"""A link model in training: its targets, its rate, and that it learns."""

import numpy as np
import pytest
import torch
from tests.link.tiny import link_model

from kgraft.graph.annotated import Annotated
from kgraft.link.lessons import Marked, Unmarked
from kgraft.link.reading import positions
from kgraft.link.settings import LinkSettings
from kgraft.link.trainee import LinkTrainee
from kgraft.text import Places
from kgraft.training import Trainee

QUICK = LinkSettings(rank=2, epochs=3, batch_tokens=200, learning_rate=2e-3)


@pytest.fixture
def make(encoder_folder, knowledge, marked_texts):
    """Make a trainee: `make(data=, valid=, settings=)`."""

    def make(data=marked_texts, valid=None, settings=QUICK, parts=1):
        model = link_model(encoder_folder)
        cut = np.array_split(np.arange(len(data)), parts)
        marked = [Marked.of(model, knowledge, data.part(part), Unmarked()) for part in cut]
        return LinkTrainee(model, knowledge, marked, valid, settings)

    return make


def learn(trainee, steps):
    """Make some steps from the start, and return the losses."""
    losses, place = [], 0
    for epoch in range(steps):
        for batch in trainee.batches(epoch):
            losses.append(trainee.step(batch, place))
            place += 1
            if place == steps:
                return losses
    return losses


def bits(trainee):
    return {name: tensor.clone().numpy().tobytes() for name, tensor in trainee.state().items()}


def test_a_few_epochs_lower_every_loss(make):
    trainee = make()
    each = []
    for epoch in range(3):
        place = epoch * 100
        each.append([trainee.step(b, place) for b in trainee.batches(epoch)])
    for name in ("loss", "mentions", "entities", "verdicts"):
        first, last = (np.mean([losses[name] for losses in each[epoch]]) for epoch in (0, -1))
        assert last < first, name
    for losses in each[0]:
        parts = losses["mentions"] + losses["entities"] + losses["verdicts"]
        assert losses["loss"] == pytest.approx(parts, rel=1e-4)


def test_the_encoder_itself_stays_as_it_is(make):
    trainee = make()
    frozen = {n: p.clone() for n, p in trainee.model.named_parameters() if not p.requires_grad}
    learn(trainee, 2)
    for name, parameter in trainee.model.named_parameters():
        assert name not in frozen or torch.equal(parameter, frozen[name])
    assert frozen


def test_every_window_is_read_once_an_epoch_in_an_order_of_its_own(make):
    trainee = make()
    orders = [np.concatenate(trainee.batches(epoch)).tolist() for epoch in (0, 1, 0)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(40))
    assert orders[0] == orders[2] != orders[1]


def test_a_large_set_is_gone_through_in_parts(make):
    trainee = make(parts=3)
    counts = [sum(map(len, trainee.batches(epoch))) for epoch in range(4)]
    assert counts == [14, 13, 13, 14]
    assert trainee.steps == sum(len(trainee.batches(epoch)) for epoch in range(9))


def test_a_state_put_back_goes_on_with_the_same_bits(make):
    """In the middle of an epoch: the lessons are those of its beginning."""
    whole, first, second = make(), make(), make()
    batches = whole.batches(0)
    assert len(batches) > 2
    for place, batch in enumerate(batches):
        whole.step(batch, place)
    first.batches(0)
    first.step(batches[0], 0)
    second.load({name: tensor.clone() for name, tensor in first.state().items()})
    assert [b.tolist() for b in second.batches(0)] == [b.tolist() for b in batches]
    for place, batch in enumerate(batches[1:], 1):
        second.step(batch, place)
    assert bits(second) == bits(whole)


def test_a_state_has_its_full_shape_from_the_start(make):
    trainee = make()
    before = {name: tensor.shape for name, tensor in trainee.state().items()}
    learn(trainee, 1)
    after = {name: tensor.shape for name, tensor in trainee.state().items()}
    assert before == {name: shape for name, shape in after.items() if "lessons" not in name}
    assert all(tensor.is_contiguous() for tensor in trainee.state().values())


def test_dropout_comes_from_the_place_alone(make):
    torch.manual_seed(1)
    one = learn(make(), 2)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    assert learn(make(), 2) == one
    assert torch.equal(torch.get_rng_state(), state)
    other = learn(make(settings=LinkSettings(**vars(QUICK) | {"seed": 1})), 2)
    assert other != one


def test_targets_are_the_marks_and_weights_say_how_far_the_rest_counts(make):
    trainee = make()
    [marked] = trainee.parts
    trainee.batches(0)
    batch = np.arange(40)
    ids, mask = map(torch.from_numpy, marked.windows.padded(batch))
    read = trainee.model(ids, mask.long())
    _, targets, weights = trainee._mention_targets(marked, batch, read)

    def spans(where):
        row, first, more = (column.numpy() for column in torch.nonzero(where, as_tuple=True))
        places = Places(batch[row], first, first + more + 1)
        return set(
            zip(*(x.tolist() for x in positions(marked.windows, marked.named, places)), strict=True)
        )

    gold = positions(marked.windows, marked.named, marked.gold)
    assert spans(targets == 1) == set(zip(*(x.tolist() for x in gold), strict=True))
    names = positions(marked.windows, marked.named, marked.names)
    light = (weights > 0) & (weights < 1)
    assert spans(light) == set(zip(*(x.tolist() for x in names), strict=True))
    assert weights[targets == 1].eq(1).all()
    at_edges = (set(marked.named.word_starts.tolist()), set(marked.named.word_ends.tolist()))
    assert all(a in at_edges[0] and b in at_edges[1] for a, b in spans(weights > 0))


def test_validation_gives_figures_and_changes_nothing(make, marked_texts):
    trainee = make(valid=marked_texts.part(np.arange(5)))
    before = bits(trainee)
    figures = trainee.validate()
    assert {"weak_f1", "strong_f1", "threshold"} <= figures.keys()
    assert 0 <= figures["weak_f1"] <= 1
    assert bits(trainee) == before
    assert make().validate() == {}


def test_texts_in_which_nothing_is_marked_or_named_are_learnt_from_too(make):
    none = np.zeros(0, np.int64)
    trainee = make(Annotated(["", "of the", "…"], none, none, none, none))
    assert all(np.isfinite(losses["loss"]) for losses in learn(trainee, 3))


def test_it_is_a_trainee(make):
    names = [name for name in vars(Trainee) if not name.startswith("_")]
    trainee = make()
    assert all(callable(getattr(trainee, name)) for name in names)
