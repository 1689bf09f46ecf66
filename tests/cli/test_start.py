"""The command line itself: help, version, exit codes, traces, and a quick start."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kgraft import __version__
from kgraft.cli import app
from kgraft.cli.groups import GROUPS as SUMMARIES


def named_commands(command, name=""):
    """Yield the names of all commands and groups below one."""
    for each, below in getattr(command, "commands", {}).items():
        yield f"{name} {each}".strip()
        yield from named_commands(below, f"{name} {each}".strip())


GROUPS = typer.main.get_command(app).commands
COMMANDS = list(named_commands(typer.main.get_command(app)))
MAIN = [sys.executable, "-c", "from kgraft.cli import main; main()"]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def process(*arguments, **options):
    return subprocess.run([*MAIN, *arguments], capture_output=True, text=True, **options)


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command, flag):
    result = run(*command.split(), flag)
    assert result.exit_code == 0
    assert f"Usage: kgraft {command}".strip() in result.output
    assert "[[" not in result.output


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - set(GROUPS)))
def test_help_has_an_example_of_the_command(command):
    examples = run(*command.split(), "--help").output.partition("Example")[2]
    assert f"kgraft {command.removesuffix(' text').removesuffix(' question')} " in examples


def test_the_version():
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"kgraft {__version__}\n")


@pytest.mark.parametrize("arguments", [[], ["graph"]])
def test_no_command_shows_help(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Commands" in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["grpah"],
        ["graph", "imprt"],
        ["graph", "import"],
        ["graph", "import", "x"],
        ["graph", "info", "--colour"],
        ["graph", "search", "x", "-n", "many"],
    ],
)
def test_wrong_usage_exits_with_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: kgraft" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_an_error_is_one_line_on_stderr():
    done = process("graph", "info", "nowhere")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "kgraft: no graph at nowhere; import one with: kgraft graph import SOURCE --out nowhere\n"
    )


@pytest.mark.slow
def test_debug_shows_the_trace():
    done = process("--debug", "graph", "info", "nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert "kgraft.errors.NotFound: no graph at nowhere" in done.stderr


@pytest.mark.slow
def test_what_the_system_refuses_is_one_line_too(tmp_path):
    done = process("graph", "info", "x" * 300)
    path = Path("x" * 300, "manifest.json")
    assert (done.returncode, done.stderr) == (2, f"kgraft: {path}: File name too long\n")


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 3])
def test_debug_shows_the_trace_wherever_it_stands(place):
    arguments = ["graph", "info", "x" * 300]
    arguments.insert(place, "--debug")
    assert "OSError" in process(*arguments).stderr


@pytest.mark.slow
def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "kgraft", "--version"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.startswith("kgraft ")


def test_an_interrupt_is_one_line(monkeypatch, tmp_path):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kgraft.graph.Graph.open", interrupted)
    result = run("graph", "info")
    assert result.exit_code == 130
    assert result.stderr == "kgraft: interrupted; run the same command to resume\n"


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*MAIN, "graph", "search", "san"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "word", "offered"),
    [
        ("kgraft grap", 1, "graph"),
        ("kgraft graf", 1, "graft"),
        ("kgraft graph exp", 2, "export"),
        ("kgraft li", 1, "link"),
    ],
)
def test_shells_complete_commands(typed, word, offered):
    script = Path(sysconfig.get_path("scripts"), "kgraft")
    asked = {"_KGRAFT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(word)}
    done = subprocess.run([script], env={**os.environ, **asked}, capture_output=True, text=True)
    assert done.stdout.split() == [offered]


def test_the_script_is_installed():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="kgraft")
    assert script.value == "kgraft.cli:main"


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_summed_up_in_its_own_words(name):
    assert GROUPS[name].help.splitlines()[0] == SUMMARIES[name]
