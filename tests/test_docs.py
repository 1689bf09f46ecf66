"""The examples of the README and the guide run as they stand, page by page."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kgraft.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all pages: most of them encode the built-in graph."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    exec("\n".join(blocks), {"__name__": "example"})
    assert blocks or page.stem in ("world", "real-files")


def block_commands(page):
    """Return the words of every kgraft command in the blocks and transcripts of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    found = (re.match(r"(?:\$ |[^#']*\| )?kgraft (.*)", line) for line in lines)
    return [shlex.split(match[1], comments=True) for match in found if match]


def inline_commands(page):
    """Return the words of the commands in the text of a page; a package alone is none."""
    text = page.read_text(encoding="utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found = [shlex.split(words) for words in re.findall(r"`kgraft ([^`]+)`", outside)]
    return [words for words in found if len(words) > 1]


@pytest.fixture
def parse(monkeypatch):
    """Read a command line as `kgraft` does, and run nothing."""
    parsed = []
    monkeypatch.setattr(
        typer.core.TyperCommand, "invoke", lambda self, _: parsed.append(self), raising=False
    )

    def parse(words):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"kgraft {shlex.join(words)}: {done.output}"
        return parsed.pop()

    return parse


def test_a_wrong_command_is_noticed(parse):
    assert parse(["graph", "info", "world"]).name == "info"
    for words in (["graph", "infos"], ["graph", "info", "--no-such-option"], ["embed", "plot"]):
        with pytest.raises(AssertionError, match="Usage"):
            parse(words)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_blocks_are_spelt_right(page, parse):
    for words in block_commands(page):
        parse(words)


def test_commands_in_the_text_of_the_readme_are_spelt_right(parse):
    assert inline_commands(ROOT / "README.md")
    for words in inline_commands(ROOT / "README.md"):
        parse(words)


def test_examples_in_the_help_are_spelt_right(parse):
    examples = [shlex.split(line)[1:] for line in help_lines(typer.main.get_command(app))]
    assert len(examples) > 50
    for words in examples:
        assert parse(words).name in words or words[0] == "link"


def help_lines(command):
    """Yield the lines of all help texts that are commands; a launcher may stand before one."""
    for line in (command.help or "").splitlines():
        line = line.strip().removeprefix("Example:").strip()
        if line.startswith("kgraft "):
            yield line
    for below in getattr(command, "commands", {}).values():
        yield from help_lines(below)


def test_quick_commands_of_the_readme_can_be_pasted(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## Your own graph\n\n```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for line in block[1].splitlines() if line.startswith("kgraft ")]
    assert len(lines) >= 5
    for line in lines:
        done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, f"{line}: {done.output}"
        assert done.stdout
