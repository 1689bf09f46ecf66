"""Commands that write: killed at any touch of the disk, run at once, or on a disk that is full."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from kgraft.graph import Graph, TablesSource, build_graph, check_graph

KILLED = Path(__file__).with_name("killed.py")
MAIN = [sys.executable, "-c", "from kgraft.cli import main; main()"]


def build(target, count=3):
    triples = [(f"e{n}", "next", f"e{n + 1}") for n in range(count)]
    build_graph(TablesSource(triples), target)


@pytest.fixture
def place(tmp_path):
    """A folder to write in, with a source of five triples and a graph of three beside it."""
    source = [f"e{n}\tnext\te{n + 1}\n" for n in range(5)]
    (tmp_path / "source.tsv").write_text("".join(source))
    build(tmp_path / "graph")
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def killed(place, *command, moments=0):
    """What was left after a kill at touches of the disk, and what another run made of it.

    Without a number of `moments`, at each of them.
    """
    done = subprocess.run(
        [sys.executable, KILLED, place, str(moments), *map(str, command)],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told) >= (moments or 4)
    return told


@pytest.mark.slow
def test_an_import_that_is_killed(place):
    out = place / "out"
    for told in killed(place, "graph", "import", place.parent / "source.tsv", "--out", out, "-q"):
        assert (told["again"], told["held"]) == (2 if "out" in told["left"] else 0, ["out"])
    assert len(Graph.open(out).triples) == 5
    assert check_graph(out) == []


@pytest.mark.slow
def test_an_import_over_another_graph_that_is_killed(place):
    out, source = place / "out", place.parent / "source.tsv"
    build(out)
    command = ("graph", "import", source, "--out", out, "-q", "--overwrite")
    for told in killed(place, *command, moments=12):
        assert (told["again"], told["held"]) == (0, ["out"])
        old = [name for name in told["left"] if name.endswith("-old")]
        assert "out" in told["left"] or old  # the graph before is never lost
    assert len(Graph.open(out).triples) == 5
    assert check_graph(out) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "add graph e0 next e2",
        "remove graph e0 next e1",
        "merge graph other",
        "split graph --valid 0.4 --test 0",
        "migrate graph",
    ],
)
def test_a_change_that_is_killed(place, command, monkeypatch):
    build(place.parent / "other", 4)
    monkeypatch.chdir(place.parent)
    out = place / "out"
    for told in killed(place, "graph", *command.split(), "--out", out, "-q", moments=4):
        assert (told["again"], told["held"]) == (2 if "out" in told["left"] else 0, ["out"])
    assert check_graph(out) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.nt", "out"])
def test_an_export_that_is_killed(place, name):
    out = place / name
    for told in killed(place, "graph", "export", place.parent / "graph", "--out", out, "-q"):
        assert (told["again"], told["held"]) == (2 if name in told["left"] else 0, [name])


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
def test_imports_to_one_target_at_once(place, overwrite):
    source, out = place.parent / "source.tsv", place / "out"
    flags = ["--overwrite"] if overwrite else []
    command = [*MAIN, "graph", "import", source, "--out", out, "-q", *flags]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ends = [(*process.communicate(), process.returncode) for process in running]
    assert 0 in [code for *_, code in ends]
    for _, said, code in ends:
        assert (code, said.count("\n")) in ((0, 0), (2, 1)), said
    assert [path.name for path in place.iterdir()] == ["out"]
    assert check_graph(out) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["import", "source.tsv", "--out", "place/out"],
        *(["export", "graph", "--out", f"place/out{s}"] for s in (".nt", "")),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(place, command):
    build(place.parent / "graph2", 3000)
    lines = [f"e{n}\tnext\te{n + 1}\n" for n in range(3000)]
    (place.parent / "source.tsv").write_text("".join(lines))
    command = [word.replace("graph", "graph2") for word in command]

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = subprocess.run(
        [*MAIN, "graph", *command],
        cwd=place.parent,
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("kgraft: place/out")
    assert "free some space" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(place.iterdir()) == []


@pytest.mark.slow
def test_a_target_in_a_file_is_one_line(place):
    out = place.parent / "source.tsv" / "out"
    done = subprocess.run(
        [*MAIN, "graph", "import", place.parent / "source.tsv", "--out", out],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "source.tsv" in done.stderr
