"""A graph folder is whole or not there, whatever happens while it is written."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kgraft import arrow_files
from kgraft.errors import BadGraph, BadInput, NotFound
from kgraft.graph import Graph, build_graph, check_graph, open_source
from kgraft.graph.folder import FORMAT, GRAPH, SINCE_0_2, TABLES, read_manifest
from kgraft.graph.io.tables.in_memory import TablesSource
from kgraft.graph.names.matcher import NameMatcher
from kgraft.storage import new_folder

LETTERS = TablesSource([("a", "before", "b"), ("b", "before", "c")])


@pytest.fixture
def graph(tmp_path):
    build_graph(LETTERS, tmp_path / "g")
    return tmp_path / "g"


def names(place):
    return sorted(path.name for path in place.iterdir())


# The manifest


def rewrite(graph, **facts):
    path = graph / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


def test_the_manifest_comes_back(graph):
    manifest = read_manifest(graph)
    assert (manifest.entities, manifest.triples, manifest.format) == (3, 2, FORMAT)
    assert set(manifest.files) == {path.name for path in graph.glob("*.arrow")}


def test_no_folder(tmp_path):
    with pytest.raises(NotFound) as error:
        read_manifest(tmp_path / "g")
    place = tmp_path / "g"
    assert str(error.value) == (
        f"no graph at {place}; import one with: kgraft graph import SOURCE --out {place}"
    )


def test_a_folder_without_a_manifest(tmp_path):
    with pytest.raises(BadGraph) as error:
        read_manifest(tmp_path)
    assert str(error.value) == (
        f"{tmp_path} is not a graph (it has no manifest.json); "
        "name the folder that 'kgraft graph import' wrote"
    )


def test_a_newer_and_an_older_format(graph):
    rewrite(graph, format=FORMAT + 1, what_is_this="from the future")
    with pytest.raises(BadGraph) as error:
        read_manifest(graph)
    assert str(error.value) == (
        f"{graph} is of format 2, this kgraft reads format 1; update kgraft: pip install -U kgraft"
    )
    rewrite(graph, format=0)
    with pytest.raises(BadGraph, match=r"is of format 0, .*; import it again"):
        read_manifest(graph)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b"{}",
        b'{"format": "1"}',
        b'{"format": null}',
        b'{"format": 1}',
        b'{"format": 1, "entities": 1, "unknown": 2}',
    ],
)
def test_a_damaged_manifest(graph, content):
    (graph / "manifest.json").write_bytes(content)
    with pytest.raises(BadGraph, match=r"manifest\.json is damaged \(.*\); import the graph again"):
        read_manifest(graph)


@pytest.mark.parametrize(
    "facts",
    [
        {"files": None},
        {"files": []},
        {"files": {"entities.arrow": None}},
        {"files": {"entities.arrow": {}}},
        {"entities": "many"},
        {"splits": None},
        {"alias_seed": "x"},
    ],
)
def test_a_manifest_with_odd_values(graph, facts):
    rewrite(graph, **facts)
    with pytest.raises(BadGraph, match=r"manifest\.json is damaged \(.*\); import the graph again"):
        read_manifest(graph)


def test_a_missing_file(graph):
    (graph / "edges.arrow").unlink()
    with pytest.raises(BadGraph) as error:
        Graph.open(graph)
    assert str(error.value) == f"{graph / 'edges.arrow'} is missing; import the graph again"


def test_a_file_of_another_size(graph):
    path = graph / "edges.arrow"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadGraph) as error:
        Graph.open(graph)
    assert str(error.value) == (
        f"{path} has {size - 1} bytes instead of {size}; import the graph again"
    )


def test_a_file_that_is_no_table(graph):
    path = graph / "triples.arrow"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(BadGraph, match=r"triples\.arrow cannot be read .*; import the graph again"):
        Graph.open(graph)


# Graphs of an older kgraft


@pytest.fixture
def older(tmp_path):
    """Return two folders of one graph: as it is written now, and as an older kgraft wrote it."""
    entities = [
        {"id": "w", "label": "Wilson disease", "aliases": ["The Wilson"]},
        {"id": "d", "label": "WD", "aliases": ["Wilson"]},
    ]
    triples = [("w", "unlike", "d", "train"), ("w", "like", "d", "test")]
    for name in ("now", "before"):
        build_graph(TablesSource(triples, entities), tmp_path / name)
    for name in SINCE_0_2:
        (tmp_path / "before" / f"{name}.arrow").unlink()
    files = json.loads((tmp_path / "before" / "manifest.json").read_text())["files"]
    kept = {name: facts for name, facts in files.items() if name[:-6] not in SINCE_0_2}
    rewrite(tmp_path / "before", files=kept)
    return tmp_path / "now", tmp_path / "before"


def alias_tables(graph):
    aliases = graph.aliases
    columns = aliases.candidate_rows(np.arange(len(aliases)))
    return list(aliases.keys), [column.tolist() for column in columns]


def test_new_graphs_have_the_tables_that_older_ones_lack(older):
    now, before = older
    assert set(Graph.open(now).tables) == {*TABLES, *SINCE_0_2}
    assert set(Graph.open(before).tables) == set(TABLES)
    assert {f"{name}.arrow" for name in SINCE_0_2} <= read_manifest(now).files.keys()


def test_an_older_graph_opens_and_finds_the_same_names(older, caplog):
    now, before = (Graph.open(folder) for folder in older)
    with caplog.at_level("INFO", logger="kgraft.graph"):
        assert alias_tables(before) == alias_tables(now)
    assert [record.getMessage() for record in caplog.records] == [
        f"{older[1]} was written by an older kgraft: kgraft graph migrate saves time"
    ]
    texts = ["Wilson diseases (WD), disease of Wilson", "WD and the Wilson"]
    found, expected = (NameMatcher(graph).find(texts) for graph in (before, now))
    assert len(found) > 5
    for name in ("text", "start", "end", "bounds", "entity", "prior", "match", "forms"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert before.manifest.version == now.manifest.version


def test_an_older_graph_is_sound_and_can_be_changed(older, tmp_path):
    assert check_graph(older[1]) == []
    extended = Graph.open(older[1]).extend(tmp_path / "more", entities=[{"id": "n", "label": "N"}])
    assert set(extended.tables) == {*TABLES, *SINCE_0_2}
    assert check_graph(tmp_path / "more") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SINCE_0_2)
def test_a_graph_that_has_one_of_the_newer_tables_works_too(older, name):
    now, before = older
    (now / f"{name}.arrow").unlink()
    files = json.loads((now / "manifest.json").read_text())["files"]
    rewrite(now, files={file: facts for file, facts in files.items() if file != f"{name}.arrow"})
    assert alias_tables(Graph.open(now)) == alias_tables(Graph.open(before))


@pytest.mark.parametrize("name", SINCE_0_2)
def test_a_newer_table_that_is_listed_must_be_there(graph, name):
    (graph / f"{name}.arrow").unlink()
    with pytest.raises(BadGraph) as error:
        Graph.open(graph)
    assert str(error.value) == f"{graph / name}.arrow is missing; import the graph again"


# Written beside and renamed


def test_a_graph_that_a_killed_writer_set_aside_is_put_back(graph):
    """As after a kill between the two renames of a change in the graph's place."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    graph.rename(f"{graph}.partial-{done.pid}-old")
    assert len(Graph.open(graph)) == 3
    assert check_graph(graph) == []
    graph.rename(f"{graph}.partial-{os.getppid()}-old")  # its writer runs
    with pytest.raises(NotFound):
        Graph.open(graph)


def test_a_new_folder_appears_when_it_is_whole(tmp_path):
    target = tmp_path / "deep" / "er" / "g"
    with new_folder(target, GRAPH) as partial:
        (partial / "x").write_text("x")
        assert not target.exists()
        assert partial.parent == target.parent
    assert names(target) == ["x"]
    assert names(target.parent) == ["g"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_nothing(tmp_path, error):
    def fail():
        with new_folder(tmp_path / "g", GRAPH) as partial:
            (partial / "x").write_text("x")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == []


@pytest.mark.parametrize("calls", range(0, 14, 3))
def test_an_error_while_writing_leaves_nothing(tmp_path, monkeypatch, calls):
    left = iter(range(calls))
    whole = arrow_files.write_table

    def fails_later(*arguments):
        if next(left, None) is None:
            raise OSError("No space left on device")
        whole(*arguments)

    monkeypatch.setattr("kgraft.graph.write.write_table", fails_later)
    with pytest.raises(OSError, match="No space left"):
        build_graph(LETTERS, tmp_path / "g")
    assert names(tmp_path) == []


def test_everything_is_flushed_before_the_graph_gets_its_name(tmp_path, monkeypatch):
    flushed = []
    opened = os.open

    def remember(path, *arguments, **options):
        flushed.append((Path(path).name, (tmp_path / "g").exists()))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", remember)
    build_graph(LETTERS, tmp_path / "g")
    monkeypatch.undo()
    early = {name for name, there in flushed if not there}
    assert early >= set(names(tmp_path / "g"))
    assert (tmp_path.name, True) in flushed  # the folder that holds the new name


def test_overwriting_replaces_a_graph_and_nothing_else(tmp_path, graph):
    build_graph(TablesSource([("x", "y", "z")]), graph, overwrite=True)
    assert Graph.open(graph).entities["id"].to_pylist() == ["x", "z"]
    assert names(tmp_path) == ["g"]
    (tmp_path / "letters").write_text("dear")
    with pytest.raises(BadInput, match="is not a graph, so it is not overwritten"):
        build_graph(LETTERS, tmp_path / "letters", overwrite=True)
    assert (tmp_path / "letters").read_text() == "dear"


def test_a_failed_overwriting_keeps_the_old_graph(tmp_path, graph, monkeypatch):
    version = Graph.open(graph).manifest.version
    monkeypatch.setattr("kgraft.graph.write.write_manifest", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_graph(TablesSource([("x", "y", "z")]), graph, overwrite=True)
    assert Graph.open(graph).manifest.version == version
    assert names(tmp_path) == ["g"]


def test_a_target_that_appears_meanwhile_is_not_replaced(tmp_path):
    def race():
        with new_folder(tmp_path / "g", GRAPH):
            (tmp_path / "g").mkdir()

    with pytest.raises(BadInput, match="exists already"):
        race()
    assert names(tmp_path) == ["g"]


# Leftovers


@pytest.mark.parametrize("name", ["g", "g[1]", "g*"])
def test_leftovers_of_the_dead_are_swept_and_no_others(tmp_path, name):
    shown = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    dead = int(shown.stdout)
    swept = [f"{name}.partial-{dead}", f"{name}.partial-{os.getpid()}"]
    kept = [
        f"{name}.partial-{os.getppid()}",  # of a living process
        f"{name}.partial-mine",
        f"other.partial-{dead}",
        f"{name}.refused.tsv",
    ]
    for left in (*swept, *kept):
        (tmp_path / left).mkdir()
        (tmp_path / left / "x").touch()
    build_graph(LETTERS, tmp_path / name)
    assert names(tmp_path) == sorted([name, *kept])


# Killed at every step, and at random moments

DRIVER = """
import os, signal, shutil, sys, time
from pathlib import Path
import pyarrow
from kgraft.graph import FORMATS, build_graph, open_source
from kgraft.graph.names import fold_name

# Makes its tables and loads pandas and the readers: once here, not in every child.
fold_name("makes its tables"), pyarrow.array([1]), [FORMATS[name] for name in FORMATS]
os.fsync = lambda descriptor: None
how, source, old, base = sys.argv[1], *map(Path, sys.argv[2:5])
events = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}

def run(target, step):
    seen = 0
    def hook(event, args):
        nonlocal seen
        if event in events and target.name in str(args[0]):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
    if step:
        sys.addaudithook(hook)
    try:
        build_graph(open_source(source), target, overwrite=True)
    finally:
        os._exit(0 if target.exists() else 3)

def start(number, step=0):
    target = base / str(number) / "graph"
    target.parent.mkdir()
    if old.is_dir():
        shutil.copytree(old, target)
    child = os.fork()
    if not child:
        run(target, step)
    return child

def every_step():
    step, status = 0, 1
    while status:
        step += 1
        status = os.waitpid(start(step, step), 0)[1]
        assert status in (0, signal.SIGKILL), status
    print(step)

def random_moments(delays):
    begin = time.perf_counter()
    assert os.waitpid(start("whole"), 0)[1] == 0
    whole = time.perf_counter() - begin
    for number, delay in enumerate(delays):
        child = start(number)
        time.sleep(delay * whole)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(len(delays))

every_step() if how == "steps" else random_moments([float(part) for part in how.split()])
"""


def drive(how, source, old, base):
    """Import again and again in children that are killed; return how often."""
    base.mkdir()
    command = [sys.executable, "-c", DRIVER, how, *map(str, (source, old, base))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def assert_whole_or_absent(place, versions):
    """See that a killed import left no graph or a whole one, and that the next one tidies up."""
    target = place / "graph"
    if target.exists():
        opened = Graph.open(target)
        assert check_graph(opened.folder) == []
        assert opened.manifest.version in versions
    build_graph(LETTERS, target, overwrite=True)
    assert check_graph(target) == []
    assert names(place) == ["graph"]


@pytest.fixture
def source(tmp_path):
    place = tmp_path / "source"
    place.mkdir()
    (place / "entities.tsv").write_text("id\tlabel\nx\tX\ny\tY\n")
    (place / "triples.tsv").write_text("head\trelation\ttail\nx\tnear\ty\n")
    return place


def version_of(source, target):
    return build_graph(open_source(source), target).version


@pytest.mark.slow
@pytest.mark.parametrize("overwriting", [False, True])
def test_killed_before_any_step(tmp_path, graph, source, overwriting):
    versions = {version_of(source, tmp_path / "new")}
    if overwriting:
        versions.add(Graph.open(graph).manifest.version)
    steps = drive("steps", source, graph if overwriting else tmp_path / "none", tmp_path / "base")
    absent = 0
    for step in range(1, steps + 1):
        place = tmp_path / "base" / str(step)
        absent += not (place / "graph").exists()
        assert_whole_or_absent(place, versions)
    if overwriting:
        assert absent == 1  # between the two renames
    else:
        assert 20 < absent < steps


def test_a_graph_set_aside_is_put_back_by_the_next_import(tmp_path, graph):
    graph.rename(tmp_path / "g.partial-999999999-old")
    with pytest.raises(BadInput, match="exists already"):
        build_graph(LETTERS, tmp_path / "g")
    assert names(tmp_path) == ["g"]
    assert check_graph(graph) == []


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A source of 20,000 entities and 60,000 triples."""
    place = tmp_path_factory.mktemp("large")
    chance = random.Random(7)
    words = ["red", "blue", "old", "new", "north", "south", "lake", "hill", "town", "river"]
    with (place / "entities.tsv").open("w") as file:
        file.write("id\tlabel\tdescription\taliases\n")
        for number in range(20_000):
            name = " ".join(chance.choices(words, k=3))
            file.write(f"e{number}\t{name} {number}\tthe {name}\t{name}|{number}\n")
    with (place / "triples.tsv").open("w") as file:
        file.write("head\trelation\ttail\n")
        for _ in range(60_000):
            head, tail = (int(20_000 * chance.random() ** 2) for _ in range(2))
            file.write(f"e{head}\tr{chance.randrange(20)}\te{tail}\n")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("overwriting", [False, True])
def test_killed_at_random_moments(tmp_path, graph, large, overwriting):
    delays = [random.uniform(0, 1.05) for _ in range(6)]
    old = graph if overwriting else tmp_path / "none"
    assert drive(" ".join(map(str, delays)), large, old, tmp_path / "base") == 6
    new = Graph.open(tmp_path / "base" / "whole" / "graph").manifest.version
    for number in range(6):
        versions = {new, Graph.open(graph).manifest.version}
        assert_whole_or_absent(tmp_path / "base" / str(number), versions)


def test_a_manifest_without_notes_opens(small):
    path = small.folder / "manifest.json"
    stored = json.loads(path.read_text())
    assert stored.pop("notes") == []
    path.write_text(json.dumps(stored))
    assert Graph.open(small.folder).manifest.notes == []
