"""The cache keeps what it is given, shares it between processes, and survives kills and damage."""

import logging
import os
import resource
import signal
import sqlite3
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.vectors import store as module
from kgraft.vectors.store import DAMAGES, VectorStore, cache_folder

FILE = "vectors-1.sqlite"


def some(first, last):
    """Keys and vectors that tell their number."""
    number = np.arange(first, last)
    keys = np.stack([number * 2654435761 % 2**32, number], 1).astype(np.uint64)
    return keys, np.repeat(number[:, None], 3, 1).astype(np.float32) + 1


def holds_exactly(store, first, last):
    keys, vectors = some(first, last)
    there = store.holds(keys)
    taken, found = store.take(keys)
    return there.all() and found.all() and np.array_equal(taken, vectors)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


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


@pytest.mark.slow
@given(
    added=st.lists(st.lists(st.tuples(st.sampled_from([0, 1, 2**64 - 1]), st.integers(0, 3)))),
    asked=st.lists(st.tuples(st.sampled_from([0, 1, 2, 2**64 - 1]), st.integers(0, 4))),
)
@pytest.mark.parametrize("again", [False, True])
def test_agrees_with_a_dictionary(tmp_path_factory, again, added, asked):
    """Keys may share a half, come twice at once, or be there already; the first vector stays."""
    folder, naive, number = tmp_path_factory.mktemp("store"), {}, 0.0
    store = VectorStore(folder, 2)
    for pairs in added:
        vectors = np.arange(number, number + len(pairs), dtype=np.float32)[:, None].repeat(2, 1)
        store.add(np.array(pairs, np.uint64).reshape(-1, 2), vectors)
        for pair, vector in zip(pairs, vectors, strict=True):
            naive.setdefault(pair, vector[0])
        number += len(pairs)
    keys = np.array(asked, np.uint64).reshape(-1, 2)
    vectors, found = (VectorStore(folder, 2) if again else store).take(keys)
    assert found.tolist() == [pair in naive for pair in asked]
    assert vectors[:, 0].tolist() == [naive.get(pair, 0.0) for pair in asked]


def test_it_outlives_the_process(tmp_path):
    VectorStore(tmp_path, 3).add(*some(0, 10))
    assert names(tmp_path) == [FILE]
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)


def test_two_stores_see_what_the_other_adds(tmp_path):
    one, two = VectorStore(tmp_path, 3), VectorStore(tmp_path, 3)
    one.add(*some(0, 5))
    two.add(*some(5, 9))
    assert holds_exactly(two, 0, 9)
    assert one.holds(some(0, 9)[0]).all()


def test_many_keys_are_read_in_few_queries(tmp_path, monkeypatch):
    VectorStore(tmp_path, 3).add(*some(0, 5000))
    connect, queries = module._connect, []

    def traced(path):
        connection = connect(path)
        connection.set_trace_callback(queries.append)
        return connection

    monkeypatch.setattr(module, "_connect", traced)
    store = VectorStore(tmp_path, 3)
    assert holds_exactly(store, 0, 5000)
    assert sum("FROM vectors" in query for query in queries) <= 2 * 20  # of 512 keys each


def test_vectors_of_another_shape_are_refused(tmp_path):
    store = VectorStore(tmp_path, 3)
    with pytest.raises(BadInput, match=r"\(2, 4\).*\(2, 3\)"):
        store.add(some(0, 2)[0], np.zeros((2, 4), np.float32))


def test_vectors_of_a_view_are_kept(tmp_path):
    keys, vectors = some(0, 10)
    VectorStore(tmp_path, 3).add(keys[::2], np.asfortranarray(vectors)[::2].astype(np.float64))
    taken, found = VectorStore(tmp_path, 3).take(keys[::-1])
    assert found.tolist() == [False, True] * 5
    assert np.array_equal(taken[found], vectors[::-1][found])


# Several at once


def test_threads_may_share_a_store(tmp_path):
    store = VectorStore(tmp_path, 3)
    errors = []

    def work(first):
        try:
            for n in range(first, first + 20):
                store.add(*some(n, n + 1))
                store.take(some(0, 80)[0])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 20, 40, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert holds_exactly(store, 0, 80)
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 80)


def in_child(work):
    """Run work in another process, and return its number; it exits with 0 if work is true."""
    child = os.fork()
    if not child:
        result = False
        try:
            result = work()
        finally:
            os._exit(0 if result else 1)
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write_one_by_one(folder, first, last, report=None):
    """Look for vectors, and add them, each by itself; report the number of each one added."""
    store = VectorStore(folder, 3)
    for n in range(first, last):
        keys, vectors = some(n, n + 1)
        taken, found = store.take(keys)
        assert not found.any() or np.array_equal(taken, vectors)
        store.add(keys, vectors)
        if report is not None:
            os.write(report, n.to_bytes(4))
    return store.path == folder / FILE


@pytest.mark.slow
def test_processes_may_fill_a_folder_at_once(tmp_path):
    """Four begin the file and write overlapping keys; nothing is lost."""
    ranges = [(0, 400), (200, 600), (500, 900), (0, 900)]
    children = [in_child(lambda r=r: write_one_by_one(tmp_path, *r)) for r in ranges]
    assert [*map(exit_code, children)] == [0] * 4
    assert names(tmp_path) == [FILE]
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 900)


@pytest.mark.slow
@pytest.mark.parametrize("milliseconds", [0, 3, 20, 100])
def test_a_killed_writer_leaves_all_that_it_had_added(tmp_path, milliseconds):
    reader, report = os.pipe()
    child = in_child(lambda: write_one_by_one(tmp_path, 0, 10**6, report))
    os.close(report)
    with os.fdopen(reader, "rb") as stream:
        reported = stream.read(4)
        time.sleep(milliseconds / 1000)
        os.kill(child, signal.SIGKILL)
        assert exit_code(child) == -signal.SIGKILL
        reported += stream.read()
    last = int.from_bytes(reported[-4:])
    store = VectorStore(tmp_path, 3)
    assert holds_exactly(store, 0, last + 1)
    store.add(*some(10**6, 10**6 + 5))
    assert holds_exactly(VectorStore(tmp_path, 3), 10**6, 10**6 + 5)
    assert store.path == tmp_path / FILE


def test_a_forked_process_opens_the_file_again(tmp_path):
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 5))

    def work():
        store.add(*some(5, 9))
        return holds_exactly(VectorStore(tmp_path, 3), 0, 9)

    assert exit_code(in_child(work)) == 0
    store.add(*some(9, 12))
    assert holds_exactly(store, 0, 12)


# Damage


def spoil_vector(path):
    content = path.read_bytes()
    place = content.index(np.full(3, 8, np.float32).tobytes())
    path.write_bytes(content[:place] + b"\1" + content[place + 1 :])


def another_table(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vectors (x)")
    connection.close()


def another_size(path):
    path.unlink()
    VectorStore(path.parent, 4).add(some(0, 10)[0], np.zeros((10, 4), np.float32))


def newer_format(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"\xff" * path.stat().st_size),
        lambda path: path.write_bytes(b"a text file"),
        lambda path: path.write_bytes(path.read_bytes()[:-20000]),
        lambda path: path.write_bytes(path.read_bytes()[:20000] + bytes(30000)),
        spoil_vector,
        another_table,
        another_size,
        newer_format,
    ],
)
def test_a_damaged_file_is_set_aside_with_one_warning(tmp_path, damage, caplog):
    VectorStore(tmp_path, 3).add(*some(0, 10))
    damage(tmp_path / FILE)
    before = (tmp_path / FILE).read_bytes()
    store = VectorStore(tmp_path, 3)
    vectors, found = store.take(some(0, 10)[0])
    assert not found.any()
    assert not vectors.any()
    store.add(*some(0, 10))
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.name for record in warnings] == ["kgraft.vectors"]
    assert f"{FILE} is damaged" in warnings[0].getMessage()
    assert (tmp_path / FILE).read_bytes() == before
    assert "vectors-2.sqlite" in names(tmp_path)


def test_damage_is_noticed_when_something_is_added(tmp_path):
    VectorStore(tmp_path, 3).add(*some(0, 10))
    another_table(tmp_path / FILE)
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 10))
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)


def test_an_empty_file_is_a_new_one(tmp_path, caplog):
    (tmp_path / FILE).touch()
    VectorStore(tmp_path, 3).add(*some(0, 10))
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 10)
    assert caplog.records == []


def test_files_that_were_set_aside_do_not_pile_up(tmp_path):
    for number in range(1, 6):
        VectorStore(tmp_path, 3).add(*some(0, 10))
        (tmp_path / f"vectors-{number}.sqlite").write_bytes(b"damaged" * 1000)
    VectorStore(tmp_path, 3).add(*some(0, 10))
    assert names(tmp_path) == ["vectors-5.sqlite", "vectors-6.sqlite"]


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 100, 5000, 12000, 16384])
def test_of_a_file_that_was_cut_nothing_wrong_is_read(tmp_path, cut):
    VectorStore(tmp_path, 3).add(*some(0, 1000))
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content[:-cut])
    store, (keys, vectors) = VectorStore(tmp_path, 3), some(0, 1000)
    taken, found = store.take(keys)
    assert np.array_equal(taken[found], vectors[found])
    store.add(keys, vectors)
    assert holds_exactly(store, 0, 1000)
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 1000)


def test_where_every_file_is_damaged_memory_is_left(tmp_path, monkeypatch, caplog):
    def damaged(_: object) -> bool:
        raise module.Damaged("bad disk")

    monkeypatch.setattr(module, "_is_new", damaged)
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 10))
    assert holds_exactly(store, 0, 10)
    assert len(caplog.records) == DAMAGES


def test_other_files_are_left_alone(tmp_path):
    others = ["0123.safetensors", "notes.txt", "vectors-x.sqlite", "x-vectors-9.sqlite"]
    for name in others:
        (tmp_path / name).write_text("mine")
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 2))
    assert holds_exactly(store, 0, 2)
    assert [(tmp_path / name).read_text() for name in others] == ["mine"] * 4


# Where nothing can be written


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_costs_nothing_but_memory(tmp_path, folder, caplog):
    (tmp_path / "file").write_text("not a folder")
    store = VectorStore(tmp_path / folder, 3)
    for n in range(20):
        store.add(*some(n, n + 1))
    assert holds_exactly(store, 0, 20)
    assert [record.levelno for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.slow
@pytest.mark.parametrize("file_mode", [0o444, 0o666])
def test_a_folder_that_may_only_be_read_is_read(tmp_path, file_mode):
    folder = tmp_path / "cache"
    VectorStore(folder, 3).add(*some(0, 10))
    (folder / FILE).chmod(file_mode)
    folder.chmod(0o555)
    shared = Path(tempfile.gettempdir())
    for parent in (tmp_path, *tmp_path.parents):
        if shared in parent.parents:
            parent.chmod(0o755)

    def work():
        if os.geteuid() == 0:  # for whom no file is read-only
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        store = VectorStore(folder, 3)
        there = store.take(some(0, 20)[0])[1].tolist()
        store.add(*some(10, 20))
        return there == [True] * 10 + [False] * 10 and holds_exactly(store, 0, 20)

    try:
        assert exit_code(in_child(work)) == 0
        assert names(folder) == [FILE]
    finally:
        folder.chmod(0o755)


def test_a_full_disk_leaves_what_is_there(tmp_path):
    store = VectorStore(tmp_path, 3)
    store.add(*some(0, 5))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, limits[1]))
    try:
        store.add(*some(5, 9000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    store.add(*some(9000, 9001))
    assert holds_exactly(store, 0, 9001)
    assert holds_exactly(VectorStore(tmp_path, 3), 0, 5)
    assert not VectorStore(tmp_path, 3).holds(some(5, 9001)[0]).any()


def test_a_file_that_another_locks_for_too_long_does_not_stop_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)
    store = VectorStore(tmp_path, 3)
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("BEGIN IMMEDIATE")
    store.add(*some(0, 5))
    other.close()
    assert holds_exactly(store, 0, 5)


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine" / "vectors"
