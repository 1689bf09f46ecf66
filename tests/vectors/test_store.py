"""The cache keeps what it is given, shares it between processes, and shrugs damage off."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kgraft.vectors import store as module
from kgraft.vectors.store import VectorStore, cache_folder


def some(first, last):
    """Keys and vectors that tell their number."""
    number = np.arange(first, last)
    keys = np.stack([number * 2654435761 % 2**32, number], 1).astype(np.uint64)
    return keys, np.repeat(number[:, None], 3, 1).astype(np.float32) + 1


def holds_exactly(store, first, last):
    keys, vectors = some(first, last)
    taken, found = store.take(keys)
    return found.all() and np.array_equal(taken, vectors)


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_is_added_is_there(tmp_path, on_disk):
    store = VectorStore(tmp_path / "deep" / "cache" if on_disk else None, 3)
    store.add(*some(0, 10))
    store.add(*some(5, 15))
    assert holds_exactly(store, 0, 15)
    vectors, found = store.take(some(14, 17)[0])
    assert found.tolist() == [True, False, False]
    assert not vectors[1:].any()
    assert store.holds(some(14, 17)[0]).tolist() == [True, False, False]


def test_it_outlives_the_process(tmp_path):
    VectorStore(tmp_path, 3).add(*some(0, 10))
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)


def test_two_stores_see_what_the_other_adds(tmp_path):
    one, two = VectorStore(tmp_path, 3), VectorStore(tmp_path, 3)
    one.add(*some(0, 5))
    two.add(*some(5, 9))
    assert holds_exactly(two, 0, 9)
    assert one.holds(some(0, 9)[0]).all()


@pytest.mark.parametrize("on_disk", [True, False])
def test_many_small_segments_become_few(tmp_path, on_disk):
    store = VectorStore(tmp_path if on_disk else None, 3)
    other = VectorStore(tmp_path, 3)
    for n in range(100):
        store.add(*some(n, n + 1))
    assert holds_exactly(store, 0, 100)
    assert len(store._segments) < 24
    if on_disk:
        assert len(list(tmp_path.iterdir())) == len(store._segments)
        assert holds_exactly(other, 0, 100)


def test_large_segments_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 5)
    store = VectorStore(tmp_path, 3)
    for n in range(0, 100, 5):
        store.add(*some(n, n + 5))
    assert len(store._segments) == 20


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" * path.stat().st_size),
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_bytes(path.read_bytes()[:-5] + b"spoil"),
        lambda path: path.write_bytes(path.read_bytes()[:-36] + b"\0" * 36),
    ],
)
def test_a_damaged_file_counts_as_absent_and_goes(tmp_path, damage):
    VectorStore(tmp_path, 3).add(*some(0, 10))
    VectorStore(tmp_path, 3).add(*some(20, 30))
    spoilt, other = sorted(tmp_path.iterdir())
    damage(spoilt)
    store = VectorStore(tmp_path, 3)
    keys = np.concatenate([some(0, 10)[0], some(20, 30)[0]])
    _, found = store.take(keys)
    assert found.sum() == 10
    assert list(tmp_path.iterdir()) == [other]
    store.add(*some(0, 10))
    store.add(*some(20, 30))
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)
    assert holds_exactly(VectorStore(tmp_path, 3), 20, 30)


def test_strange_files_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "x.safetensors.partial-1").write_text("half")
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 2))
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_costs_nothing_but_memory(tmp_path, place):
    (tmp_path / "file").write_text("no folder")
    store = VectorStore(tmp_path / place, 3)
    for n in range(20):
        store.add(*some(n, n + 1))
    assert holds_exactly(store, 0, 20)
    assert len(store._segments) < 20


def test_a_full_disk_leaves_what_is_there(tmp_path, monkeypatch):
    store = VectorStore(tmp_path, 3)
    for n in range(module.JOINED - 1):
        store.add(*some(n, n + 1))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kgraft.vectors.segment.write_tensors", full)
    store.add(*some(7, 8))
    store.add(*some(8, 9))
    assert holds_exactly(store, 0, 9)
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 7)
    assert all(path.suffix == ".safetensors" for path in tmp_path.iterdir())


def test_a_segment_that_another_joins_at_once_is_kept_in_memory(tmp_path, monkeypatch):
    store = VectorStore(tmp_path, 3)
    with monkeypatch.context() as patch:
        write = module.Segment.write

        def joined_away(segment, folder):
            write(segment, folder).path.unlink()
            raise FileNotFoundError

        patch.setattr(module.Segment, "write", joined_away)
        store.add(*some(0, 2))
    assert holds_exactly(store, 0, 2)
    store.add(*some(2, 4))
    assert holds_exactly(VectorStore(tmp_path, 3), 2, 4)


def test_threads_may_share_a_store(tmp_path):
    store = VectorStore(tmp_path, 3)

    def work(first):
        for n in range(first, first + 20):
            store.add(*some(n, n + 1))
            store.take(some(0, 80)[0])

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 20, 40, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds_exactly(store, 0, 80)
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 80)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from kgraft.vectors.store import VectorStore

store = VectorStore(Path(sys.argv[1]), 3)
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    keys = np.array([[n * 2654435761 % 2**32, n]], np.uint64)
    vectors, found = store.take(keys)
    assert not found.any() or (vectors == n + 1).all()
    store.add(keys, np.full((1, 3), n + 1, np.float32))
"""


def test_processes_may_share_a_folder(tmp_path):
    """Two write overlapping keys and join each other's segments; all that is read is right."""
    ranges = [(0, 60), (30, 90)]
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    workers = [subprocess.Popen([*command, str(a), str(b)]) for a, b in ranges]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    store = VectorStore(tmp_path, 3)
    keys, vectors = some(0, 90)
    taken, found = store.take(keys)
    assert np.array_equal(taken[found], vectors[found])
    assert found.all()


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("KGRAFT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "kgraft" / "vectors"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "kgraft" / "vectors"
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine" / "vectors"
