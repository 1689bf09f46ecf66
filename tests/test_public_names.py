"""The public names, and what they cost: importing kgraft or asking for help loads nothing heavy."""

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kgraft

PINNED = Path(__file__).with_name("public_names.txt")  # one name per line: package, name


def read_names():
    """Return the pinned names by package; `python -m tests.test_public_names` pins them again."""
    names = {}
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        package, name = line.split()
        names.setdefault(package, []).append(name)
    return names


NAMES = read_names()
HEAVY = ("torch", "transformers", "pyarrow", "numpy", "pandas")


@pytest.mark.parametrize("package", NAMES)
def test_public_names_are_pinned(package):
    assert sorted(importlib.import_module(package).__all__) == sorted(NAMES[package])


@pytest.mark.parametrize(("package", "name"), [(p, n) for p in NAMES for n in NAMES[p]])
def test_public_names_are_there_and_have_a_docstring(package, name):
    found = getattr(importlib.import_module(package), name)
    assert found.__doc__ or not (inspect.isclass(found) or inspect.isfunction(found))


@pytest.mark.parametrize("package", ["kgraft", "kgraft.text"])
def test_other_names_are_not(package):
    with pytest.raises(AttributeError, match="Grahp"):
        importlib.import_module(package).Grahp  # noqa: B018


def test_the_nouns_are_listed():
    shown = {name for name in dir(kgraft) if not name.startswith("_")}
    assert shown == {name for name in NAMES["kgraft"] if not name.startswith("_")}


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert kgraft.__version__ == version("kgraft")


def loaded(code):
    """Return which heavy packages are loaded after some code in a fresh process."""
    report = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import kgraft",
        "import kgraft.cli",
        "import kgraft.errors, kgraft.progress",
        "from typer.testing import CliRunner; from kgraft.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0",
        "from typer.testing import CliRunner; from kgraft.cli import app; "
        "assert CliRunner().invoke(app, ['graph', 'import', '--help']).exit_code == 0",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded(code) == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import kgraft.graph",
        "from kgraft import Graph",
        "from kgraft.corpus import process_documents, read_annotated, verbalise_graph",
    ],
)
def test_a_graph_and_a_corpus_need_no_torch(code):
    modules = loaded(code)
    assert "torch" not in modules
    assert "transformers" not in modules


@pytest.mark.slow
def test_a_graph_is_looked_up_without_torch():
    code = "from kgraft import Graph; Graph.open('world').mentions('from Paris to Berlin')"
    modules = loaded(code)
    assert "torch" not in modules
    assert "transformers" not in modules


def cpu_seconds(command):
    """Return the processor time of a command."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


HELP_OF_ANY_TYPER_APP = """
import typer
app = typer.Typer()
@app.command()
def nothing(): ...
app()
"""


@pytest.mark.slow
def test_help_answers_at_once():
    """Ours costs little more than the help of a program that does nothing, on any machine."""
    ours = [sys.executable, "-c", "from kgraft.cli import main; main()", "--help"]
    least = [sys.executable, "-c", HELP_OF_ANY_TYPER_APP, "--help"]
    assert min(map(cpu_seconds, [ours] * 3)) < 2 * min(map(cpu_seconds, [least] * 3))


if __name__ == "__main__":
    lines = [
        f"{package} {name}"
        for package in NAMES
        for name in sorted(importlib.import_module(package).__all__)
    ]
    PINNED.write_text("\n".join(lines) + "\n", encoding="utf-8")
