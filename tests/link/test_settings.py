"""Settings of training that make no sense are refused."""

import pytest

from kgraft.errors import BadInput
from kgraft.link.settings import LinkSettings


@pytest.mark.parametrize("name", ["rank", "epochs", "patience", "batch_tokens", "part"])
def test_counts_below_1_are_refused(name):
    with pytest.raises(BadInput, match=f"{name} is 0; give 1 or more"):
        LinkSettings(**{name: 0})


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_rate_that_is_not_above_0_is_refused(rate):
    with pytest.raises(BadInput, match=r"learning_rate is .*; give more than 0"):
        LinkSettings(learning_rate=rate)


def test_what_is_none_stays_as_it_is():
    assert LinkSettings(epochs=3).changed(epochs=None, seed=4) == LinkSettings(epochs=3, seed=4)
