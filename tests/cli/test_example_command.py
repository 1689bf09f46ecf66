"""`kgraft graph example`: what it lists, writes and refuses."""

import json

import pytest
from typer.testing import CliRunner

from kgraft.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `kgraft graph …` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["graph", *map(str, arguments)])


def test_without_a_name_it_lists(run):
    assert "company" in run("example").stdout
    assert json.loads(run("example", "--json").stdout)["company"].startswith("A small company")


def test_what_it_writes_is_imported_as_it_says(run, tmp_path):
    done = run("example", "company", "--out", "mine")
    assert done.exit_code == 0
    assert "next:  kgraft graph import mine --out company" in done.stdout
    assert run("import", "mine", "--out", "company").exit_code == 0
    assert json.loads(run("info", "company", "--json").stdout)["entities"] >= 60


def test_the_folder_is_named_after_the_example(run, tmp_path):
    written = json.loads(run("example", "company", "--json").stdout)
    assert written["out"] == "company-example"
    assert sorted(path.name for path in (tmp_path / "company-example").iterdir()) == sorted(
        written["files"]
    )


def test_nothing_is_overwritten_unasked(run, tmp_path):
    (tmp_path / "company-example").mkdir()
    assert run("example", "company").exit_code == 2
    assert run("example", "company", "--overwrite").exit_code == 2  # no example stands there
    assert list((tmp_path / "company-example").iterdir()) == []
    assert run("example", "company", "--out", "new").exit_code == 0
    assert run("example", "company", "--out", "new").exit_code == 2
    assert run("example", "company", "--out", "new", "--overwrite").exit_code == 0


def test_an_unknown_example_is_one_line(run):
    done = run("example", "compnay")
    assert done.exit_code == 2
    assert done.stderr == "kgraft: no example is named 'compnay'; there is company\n"
