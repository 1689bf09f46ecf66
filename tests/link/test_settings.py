"""Settings of training that make no sense are refused."""

import pytest

from kgraft.errors import BadInput
from kgraft.link.settings import LinkSettings


@pytest.mark.parametrize("name", ["rank", "epochs", "patience", "batch_tokens", "part"])
def test_counts_below_1_are_refused(name):
    with pytest.raises(BadInput, match=name):
        LinkSettings(**{name: 0})


@pytest.mark.parametrize("changes", [{"seed": -1}, {"seed": 1 << 64}, {"epochs": 10**12}])
def test_absurd_numbers_are_refused(changes):
    with pytest.raises(BadInput, match=next(iter(changes))):
        LinkSettings(**changes)


@pytest.mark.parametrize("name", ["learning_rate", "head_rate"])
@pytest.mark.parametrize("rate", [0.0, -1.0, 1.1, float("nan")])
def test_rates_are_between_0_and_1(name, rate):
    with pytest.raises(BadInput, match=name):
        LinkSettings(**{name: rate})


@pytest.mark.parametrize("name", ["silence", "drop_gold"])
@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_shares_are_below_1(name, share):
    with pytest.raises(BadInput, match=name):
        LinkSettings(**{name: share})
    assert getattr(LinkSettings(**{name: 0.0}), name) == 0


def test_what_is_none_stays_as_it_is():
    assert LinkSettings(epochs=3).replace(epochs=None, seed=4) == LinkSettings(epochs=3, seed=4)
