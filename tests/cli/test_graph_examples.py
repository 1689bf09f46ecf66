"""The examples in the help of all `kgraft graph` commands, run one after the other."""

import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kgraft.cli import app

# Files that only the reader has; with one of these as its input an example is left out.
OF_THE_READER = ("company", "news.jsonl")
WITHOUT_DATA_OF_OURS = {"import"}  # what it reads is always the reader's
FIRST = ("example", "add")  # they write what other examples read


def commands():
    """Return the commands of `kgraft graph` by name."""
    return typer.main.get_command(app).commands["graph"].commands


def examples():
    """Return the examples in the help texts, as words behind `kgraft`."""
    lines = (line for command in commands().values() for line in command.help.splitlines())
    lines = (line.strip().removeprefix("Example:").strip() for line in lines)
    return [shlex.split(line)[1:] for line in lines if line.startswith("kgraft ")]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_an_example(name):
    assert any(words[:2] == ["graph", name] for words in examples())


@pytest.mark.slow
def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran, targets = set(), []
    for words in sorted(examples(), key=lambda words: words[1] not in FIRST):
        inputs = set(OF_THE_READER).intersection(words) if words[1] != "example" else ()
        if words[1] in WITHOUT_DATA_OF_OURS or not all(Path(name).exists() for name in inputs):
            continue
        if "--out" in words:
            targets.append(words[words.index("--out") + 1])
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, (words, result.output)
        assert result.output
        ran.add(words[1])
    assert ran == commands().keys() - WITHOUT_DATA_OF_OURS
    assert len(set(targets)) == len(targets), "two examples write one target"
    assert all(Path(target).exists() for target in targets)
