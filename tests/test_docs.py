"""The examples of the documentation run, their commands exist, and what they show is printed."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import typer
from tests.pages import LANGUAGES, missing_lines, read_blocks
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.embed import MODELS
from kgraft.graft import GRAFTS, KNOWLEDGE
from kgraft.graph import FORMATS, WRITERS, Graph
from kgraft.tasks import GRAFT_TASKS, JOINT_TASKS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
RUN_COMMANDS = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]  # from the first to the last


def name(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


each_page = pytest.mark.parametrize("page", PAGES, ids=name)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all pages: several of them encode the same graph."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(cache, tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("KGRAFT_CACHE", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line):
    """Run a command line of a page and return what it prints; only kgraft's are run."""
    words = shlex.split(line, comments=True)
    if words[:1] != ["kgraft"]:
        return ""
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, f"{line}: {done.output}"
    return done.stdout


REGISTRIES = (FORMATS, WRITERS, MODELS, GRAFTS, KNOWLEDGE, GRAFT_TASKS, JOINT_TASKS)


@pytest.fixture
def own_registries():
    """Let examples register what they like: it is gone afterwards."""
    names = [set(registry.names()) for registry in REGISTRIES]
    yield
    for registry, before in zip(REGISTRIES, names, strict=True):
        for name in registry._registered.keys() - before:
            del registry._registered[name]


@pytest.mark.slow
@pytest.mark.usefixtures("own_registries")
@each_page
def test_examples_run_and_print_what_is_shown(page, folder):
    """Guides use the graph that the tutorial makes."""
    runs_commands = page in RUN_COMMANDS
    if not runs_commands:
        run("kgraft graph example company --out my-graph")
        run("kgraft graph import my-graph --out company")
    names, printed = {"__name__": "example"}, None
    for block in read_blocks(page):
        before, printed = printed, None
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block.body, str(page), "exec"), names)
            printed = output.getvalue()
        elif block.language == "sh" and runs_commands:
            lines = block.body.replace("\\\n", " ").splitlines()
            printed = "".join(run(line) for line in lines)
        elif block.language == "console" and runs_commands:
            for line, output in block.runs():
                assert missing_lines(output, run(line)) == [], line
        elif block.language == "text" and before is not None:
            assert block.body.strip()
            assert missing_lines(block.body, before) == []


@each_page
def test_blocks_say_what_they_are(page):
    for block in read_blocks(page):
        assert block.language in LANGUAGES, block.body
        if block.language == "py":
            assert block.comment.startswith("<!-- not run: "), block.body


def test_shown_output_that_is_not_printed_is_noticed():
    printed = " Paris  0.92\n Texas  0.02\n 3 links\n"
    assert missing_lines("Paris 0.91\n3 links\n", printed) == []
    assert missing_lines("Texas 0.02\nParis 0.92\n", printed) == ["Paris 0.92"]
    assert missing_lines("Paris 0.52\n", printed) == ["Paris 0.52"]
    assert missing_lines("4 links\n", printed) == ["4 links"]


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


@each_page
def test_commands_in_blocks_are_spelt_right(page, parse):
    for block in read_blocks(page):
        for words in block.commands():
            parse(words)


@each_page
def test_commands_in_the_text_name_commands_and_options(page):
    """A command in the text may leave out what it needs."""
    kgraft = typer.main.get_command(app)
    for words in inline_commands(page):
        command = kgraft
        while words and words[0] in getattr(command, "commands", {}):
            command, words = command.commands[words[0]], words[1:]
        options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        assert command is not kgraft, words
        assert {word for word in words if word.startswith("--")} <= options, words


@pytest.mark.slow
def test_examples_in_the_help_are_spelt_right(parse):
    examples = [shlex.split(line)[1:] for line in help_lines(typer.main.get_command(app))]
    assert len(examples) > 50
    for words in examples:
        assert parse(words).name in words or words[0] in ("link", "ask")


def help_lines(command):
    """Yield the examples of all help texts that are commands of kgraft alone."""
    _, _, examples = (command.help or "").partition("Example")
    for line in examples.splitlines():
        line = line.removeprefix(":").strip()
        if line.startswith("kgraft "):
            yield line
    for below in getattr(command, "commands", {}).values():
        yield from help_lines(below)


@pytest.mark.slow
def test_your_own_graph_in_the_readme_can_be_pasted(folder):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## Your own graph\n\n```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for line in block[1].splitlines() if line.startswith("kgraft ")]
    assert len(lines) >= 5
    for line in lines:
        assert run(line), line
    assert "company" in Graph.open("company").manifest.name


def test_the_picture_of_the_layers_has_all_packages():
    drawing = (ROOT / "docs" / "layers.svg").read_text(encoding="utf-8")
    packages = {file.parent.name for file in (ROOT / "src" / "kgraft").glob("*/__init__.py")}
    assert packages <= set(re.findall(r">(\w+)</text>", drawing))


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100
