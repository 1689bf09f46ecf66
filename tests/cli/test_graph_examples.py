"""The examples in the help of all `kgraft graph` commands, run one after the other."""

import shlex

import pytest
import typer
from typer.testing import CliRunner

from kgraft.cli import app

# Examples that name files of the reader are run by other tests with files of their own.
OF_THE_READER = ("company", "my-graph/", "dump.json.bz2", "facts.nt.gz")
WITHOUT_DATA_OF_OURS = {"import"}  # what it reads is always the reader's


def commands():
    """Return the commands of `kgraft graph` by name."""
    return typer.main.get_command(app).commands["graph"].commands


def examples():
    """Return the examples in the help texts, as words behind `kgraft`."""
    lines = (line for command in commands().values() for line in command.help.splitlines())
    lines = (line.strip().removeprefix("Example:").strip() for line in lines)
    return [shlex.split(line)[1:] for line in lines if line.startswith("kgraft ")]


def runnable():
    return [words for words in examples() if not set(words) & set(OF_THE_READER)]


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_an_example(name):
    assert any(words[:2] == ["graph", name] for words in examples())


def test_every_command_has_an_example_that_runs():
    assert {words[1] for words in runnable()} == commands().keys() - WITHOUT_DATA_OF_OURS


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = []
    for words in sorted(runnable(), key=lambda words: words[1] != "add"):
        if "--out" in words:
            assert words[words.index("--out") + 1] not in targets, "two examples write one target"
            targets.append(words[words.index("--out") + 1])
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, (words, result.output)
        assert result.output
    assert all((tmp_path / target).exists() for target in targets)
