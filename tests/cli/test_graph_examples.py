"""The examples in the help of all `kgraft graph` commands, run one after the other."""

import bz2
import gzip
import shlex
from pathlib import Path

import pytest
import typer
from tools.fuzz_inputs import NTRIPLES, RDF_XML, WIKIDATA
from typer.testing import CliRunner

from kgraft.cli import app

OF_A_SERVER = "https://"  # an example that asks one cannot run here
FIRST = ("example", "import", "add")  # they write what other examples read


def commands():
    """Return the commands of `kgraft graph` by name."""
    return typer.main.get_command(app).commands["graph"].commands


def examples():
    """Return the examples in the help texts, as words behind `kgraft`."""
    lines = (line for command in commands().values() for line in command.help.splitlines())
    lines = (line.strip().removeprefix("Example:").strip() for line in lines)
    return [shlex.split(line)[1:] for line in lines if line.startswith("kgraft ")]


def order(words):
    """Put first what writes what others read."""
    return FIRST.index(words[1]) if words[1] in FIRST else len(FIRST)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files that the examples name as the reader's own."""
    monkeypatch.chdir(tmp_path)
    example = CliRunner().invoke(app, ["graph", "example", "company", "--out", "my-graph"])
    assert example.exit_code == 0, example.output
    Path("dump.json.bz2").write_bytes(bz2.compress(WIKIDATA.encode()))
    Path("facts.nt.gz").write_bytes(gzip.compress(NTRIPLES.encode()))
    Path("edges.csv").write_text("person,friend\nann,bob\nbob,eve\n")
    Path("pizza.owl").write_text(RDF_XML)
    Path("news.jsonl").write_text('{"head": "Ann", "relation": "joins", "tail": "Acme"}\n')


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_an_example(name):
    assert any(words[:2] == ["graph", name] for words in examples())


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_the_examples_run():
    ran, targets = set(), []
    for words in sorted(examples(), key=order):
        if any(word.startswith(OF_A_SERVER) for word in words):
            continue
        if "--out" in words:
            targets.append(words[words.index("--out") + 1])
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, (words, result.output)
        assert result.output
        ran.add(words[1])
    assert ran == set(commands())
    assert len(set(targets)) == len(targets), "two examples write one target"
    assert all(Path(target).exists() for target in targets)
