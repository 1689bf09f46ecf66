"""The memory of first vectors: when it is read anew, what stays, and that a kill costs nothing."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.vectors import Memory, RefreshSettings
from kgraft.vectors import memory as module


class Killed(Exception):
    pass


class Reader:
    """Gives other vectors each time; may be killed after some calls."""

    def __init__(self, time, kill_after=None):
        self.time, self.kill_after, self.asked = time, kill_after, []

    def __call__(self, part, rows):
        if self.kill_after == len(self.asked):
            raise Killed
        self.asked.append((part, rows.tolist()))
        return self.all(part, 100)[rows]

    def all(self, part, count):
        drawn = np.random.default_rng([self.time, len(part)])
        return drawn.normal(size=(count, 3)).astype(np.float32)


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path, entities=10, relations=2, size=3)


def test_the_exact_sequence_of_intervals():
    found = [RefreshSettings().interval(i) for i in range(21)]
    assert found[:18] == [n for n in (10, 20, 40, 80, 160, 320) for _ in range(3)]
    assert found[18:] == [500, 500, 500]
    assert RefreshSettings().interval(10**9) == 500


@given(
    step=st.integers(0, 400),
    first=st.integers(1, 9),
    factor=st.integers(1, 3),
    every=st.integers(1, 4),
    most=st.integers(1, 60),
)
def test_refreshes_before_a_step(step, first, factor, every, most):
    when = RefreshSettings(first=first, factor=factor, every=every, most=most)
    count, wait = 0, when.interval(0)
    for _ in range(step):  # one step after the other, as the paper has it
        wait -= 1
        if wait == 0:
            count += 1
            wait = min(first * factor ** (count // every), most)
    assert when.before(step) == count
    assert list(itertools.takewhile(lambda at: at <= step, when.steps()))[count:] == []


def test_momentum(memory, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 4)
    expected = None
    for time in range(4):
        reader = Reader(time)
        memory.refresh(reader, momentum=0.8)
        fresh = reader.all("entities", 100)[:10]
        expected = fresh if expected is None else 0.8 * expected + 0.2 * fresh
        assert np.allclose(memory.rows_of("entities"), expected)
        assert memory.version == time + 1
    assert memory.relations.shape == (2, 3)


def test_vectors_of_some(memory):
    memory.refresh(Reader(0))
    taken = memory.take(torch.tensor([[3, -1], [0, 3]]))
    held = torch.from_numpy(np.array(memory.rows_of("entities")))
    assert torch.equal(taken[0, 0], held[3])
    assert torch.equal(taken[1], held[[0, 3]])
    assert not taken[0, 1].any()


@pytest.mark.parametrize("after", range(4))
def test_a_refresh_that_was_killed_goes_on(memory, tmp_path, monkeypatch, after):
    monkeypatch.setattr(module, "ROWS", 4)
    memory.refresh(Reader(0))
    with pytest.raises(Killed):
        memory.refresh(Reader(1, kill_after=after), momentum=0.8)
    again = Memory(tmp_path, entities=10, relations=2, size=3)
    assert again.switch_to(1)
    reader = Reader(1)
    again.refresh(reader, momentum=0.8)
    assert len(reader.asked) == 4 - after  # nothing is read twice
    old, new = Reader(0).all("entities", 100)[:10], Reader(1).all("entities", 100)[:10]
    assert np.allclose(again.rows_of("entities"), 0.8 * old + 0.2 * new)
    assert not list(tmp_path.glob("*.partial"))


def test_versions_come_and_go(memory, tmp_path):
    for time in range(3):
        memory.refresh(Reader(time))
    assert memory.switch_to(2)
    reader = Reader(9)
    memory.refresh(reader)  # version 3 is there
    assert reader.asked == []
    memory.delete_before(3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["entities.3.npy", "relations.3.npy"]
    assert not memory.switch_to(2)
    assert memory.version == 3


def test_an_empty_memory(memory):
    with pytest.raises(BadInput, match="the memory is empty"):
        memory.take(torch.tensor([0]))


@pytest.mark.parametrize("wrong", [{"first": 0}, {"every": 0}, {"momentum": 1.0}])
def test_settings_that_cannot_be(wrong):
    with pytest.raises(BadInput):
        RefreshSettings(**wrong)
