"""A tiny graph, encoder and linker for the commands of `kgraft link`."""

import json
from functools import cache

import pytest
from tests.graph.tiny import build, examples
from tests.link.tiny import apart, link_model, write_encoder
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.link.shipped import load_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A graph, an encoder, and a linker for which names decide."""
    folder = tmp_path_factory.mktemp("link")
    with apart(folder / "cache"):
        build(folder / "graph")
        write_encoder(folder / "encoder")
        model = link_model(folder / "encoder", names_decide=True, threshold=0.0)
        model.save_pretrained(folder / "linker")
    return folder


@pytest.fixture(autouse=True)
def _apart(folder, tmp_path_factory):
    """Work in a cache of one's own, and load each linker once: no command changes it."""
    with apart(tmp_path_factory.mktemp("cache")), pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgraft.link.linker.load_model", cache(load_model))
        yield


@pytest.fixture
def invoke(folder):
    """Run a command of `kgraft link` as it is written: `invoke("index", graph)`."""

    def invoke(*arguments, **options):
        return CliRunner().invoke(app, ["link", *map(str, arguments)], **options)

    return invoke


@pytest.fixture
def run(folder, invoke):
    """Run a command on the graph and the linker: `run("Paris", "--json")`."""

    def run(*arguments, model=folder / "linker", **options):
        return invoke(*arguments, "--graph", folder / "graph", "--model", model, **options)

    return run


@pytest.fixture
def marked(tmp_path):
    """A file of annotated texts."""
    rows = [json.dumps({"text": text, "mentions": mentions}) for text, mentions in examples(30)]
    (tmp_path / "marked.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path / "marked.jsonl"


@pytest.fixture
def fails():
    """Check that a mistake ends in one line and exit code 2: `fails(result, "words")`."""

    def fails(result, *words):
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith("kgraft: ")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.output
        for word in words:
            assert word in result.stderr

    return fails
