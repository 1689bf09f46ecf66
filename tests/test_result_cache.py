"""A result cache gives what its function gives, and asks for each key once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.result_cache import ResultCache

WORDS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=6)


@given(calls=WORDS, most=st.integers(1, 8))
def test_results_are_those_of_the_function(calls, most):
    asked = []

    def compute(words):
        assert words
        assert len(set(words)) == len(words)
        asked.extend(words)
        return [word * 2 for word in words]

    cache = ResultCache(compute, most)
    for words in calls:
        assert cache(words) == [word * 2 for word in words]
    if most >= 6:
        assert len(set(asked)) == len(asked)


def test_no_more_are_kept_than_allowed():
    cache = ResultCache(lambda keys: keys, 10)
    for first in range(100):
        cache([first, first + 1])
        assert len(cache._results) <= 10


def test_a_call_may_ask_for_more_than_are_kept():
    assert ResultCache(lambda keys: keys, 2)(list(range(5))) == list(range(5))


def test_an_error_leaves_nothing_behind():
    cache = ResultCache(lambda keys: [1 / key for key in keys])
    with pytest.raises(ZeroDivisionError):
        cache([1, 0])
    assert cache([1]) == [1.0]
