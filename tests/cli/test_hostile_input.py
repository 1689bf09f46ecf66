"""Hostile input on the command line: one clear line and exit code 2, or it works; never a trace."""

import itertools
import json
import os
import re
import subprocess
import sys
import typing

import pytest
import typer
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.cli.output import escape

MAIN = [sys.executable, "-c", "from kgraft.cli import main; main()"]
MARKUP = "[/] [bold]x[/b] [link=a]"
DEEP = "[" * 100_000


def run(*arguments, **options):
    return CliRunner().invoke(app, list(map(str, arguments)), **options)


def process(*arguments, **options):
    return subprocess.run([*MAIN, *arguments], capture_output=True, **options)


def refused(result, *words):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("kgraft: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


@pytest.fixture
def lines(tmp_path):
    """Write lines of JSON into a file in tmp_path."""

    def lines(*rows, name="graph.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
        return path

    return lines


@pytest.fixture
def graph(lines, tmp_path):
    """A graph whose every text looks like markup, in a folder that does, too."""
    entities = [
        {"id": f"{MARKUP}{n}", "label": MARKUP, "description": MARKUP, "types": [MARKUP]}
        for n in range(2)
    ]
    triple = {"head": f"{MARKUP}0", "relation": MARKUP, "tail": f"{MARKUP}1"}
    out = tmp_path / "[/] graph"
    source = lines(*entities, triple, name="[/].jsonl")
    done = run("graph", "import", source, "--out", out, "--name", MARKUP, "--licence", MARKUP)
    assert done.exit_code == 0, done.output
    assert "[/] graph" in done.stdout
    return out


# Deeply nested JSON


@pytest.mark.parametrize("name", ["graph.jsonl", "wikidata.json"])
def test_a_deeply_nested_line_of_a_graph(lines, tmp_path, name):
    path = lines({"type": "item", "id": "Q1"} if name[0] == "w" else {"id": "a"}, DEEP, name=name)
    refused(run("graph", "import", path, "-o", tmp_path / "out"), f"{name}:2: ", "too deeply")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("content", [DEEP, "[]", "7", "{", "", '{"format": 1}'])
def test_a_spoilt_manifest(graph, content):
    (graph / "manifest.json").write_text(content)
    refused(run("graph", "info", graph), "manifest.json is damaged")


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("edges", "ids"), ("variants", "postings"), ("ids", "triples")])
def test_a_table_in_the_place_of_another(graph, pair):
    into, other = (graph / f"{name}.arrow" for name in pair)
    into.write_bytes(other.read_bytes())
    manifest = json.loads((graph / "manifest.json").read_text("utf-8"))
    manifest["files"][into.name]["bytes"] = into.stat().st_size
    (graph / "manifest.json").write_text(json.dumps(manifest))
    refused(run("graph", "info", graph), into.name, "is another table")


@pytest.mark.slow
def test_a_table_that_is_cut_short(graph):
    for path in graph.glob("*.arrow"):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        refused(run("graph", "info", graph), path.name)
        path.write_bytes(whole)
    assert run("graph", "info", graph).exit_code == 0


# Markup


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["info"],
        ["show", f"{MARKUP}0", "-g"],
        ["show", f"{MARKUP}0", "--to", f"{MARKUP}1", "-g"],
        ["search", MARKUP, "-g"],
        ["check"],
    ],
)
def test_what_looks_like_markup_is_shown_as_it_is(graph, command):
    done = run("graph", *command, graph)
    assert done.exit_code == 0, done.output
    assert (str(graph) if command[0] == "check" else "[bold]x[/b]") in done.stdout


@pytest.mark.parametrize("command", ["info", "check", "export"])
def test_what_looks_like_markup_in_an_error(tmp_path, command):
    out = ["--out", tmp_path / "out.nt"] if command == "export" else []
    refused(run("graph", command, tmp_path / MARKUP, *out), MARKUP.split()[0])


@pytest.mark.parametrize("arguments", ["[/]", "info --[/]", "info world [/]"])
def test_what_looks_like_markup_in_wrong_usage(arguments):
    done = run("graph", *arguments.split())
    assert (done.exit_code, "[/]" in done.stderr) == (2, True)


def test_a_line_of_an_error_is_one_line(tmp_path):
    refused(run("graph", "info", tmp_path / "a\nb\x1b[2J"), "a\\nb\\x1b[2J")


def test_nothing_moves_the_cursor(lines, tmp_path):
    source = lines({"id": "a", "label": "A\x1b[2J\x07", "description": "b\x9b2J"})
    assert run("graph", "import", source, "-o", tmp_path / "out").exit_code == 0
    shown = run("graph", "show", "a", "-g", tmp_path / "out").stdout
    assert "A\\x1b[2J\\x07" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}


@pytest.mark.parametrize("text", ["[/]", "[red]", "a\\", "\\[b]", "\\\\", "[\\"])
def test_escaped_text_comes_out_as_it_went_in(text):
    from rich.text import Text

    shown = Text.from_markup(f"[bold]{escape(text)}[/] x {escape(text)}, {escape(text)}")
    assert shown.plain == f"{text} x {text}, {text}"


# Absurd numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("embed train", f"--dimension {n}") for n in (10**12, -1, 0)),
        *(("embed train", f"--seed {n}") for n in (-1, 1 << 64)),
        *(("embed train", f"--learning-rate {n}") for n in ("1e300", "nan", "inf", "-inf")),
        *(("embed train", f"{name} 1000000000000") for name in ("--epochs", "--batch")),
        *(("embed train", f"--margin {n}") for n in ("nan", "1e300", "-1")),
        ("link train", "--count 100000000000000000000"),
        ("link train", "--learning-rate 1e300"),
        ("link train", "--learning-rate nan"),
        ("link train", "--epochs 1000000000000"),
        ("link train", "--seed -1"),
        ("link text x", "--threshold nan"),
        ("link text x", "--facts 100000000000000000000"),
        ("link eval x", "--errors 100000000000000000000"),
        ("joint pretrain", "--words nan"),
        ("joint pretrain", "--words inf"),
        ("ask train --model x --data x", "--epochs 1000000000000"),
        ("ask train --model x --data x", "--hops 1000000000000"),
        ("graft train", "--rank 1000000000000"),
        ("graft train", "--seed -1"),
        ("graph search x", "-n 100000000000000000000"),
        ("graph show Paris", "--facts 100000000000000000000"),
    ],
)
def test_absurd_numbers_are_refused_where_they_are_given(command, option):
    done = run(*command.split(), *option.split())
    assert done.exit_code == 2
    assert "Usage: kgraft" in done.stderr
    assert option.split()[0] in done.stderr
    assert "Traceback" not in done.output


def numbers_given(command, *name):
    """Yield every command with an option that is a number, and whether it is a whole one."""
    for each, below in getattr(command, "commands", {}).items():
        yield from numbers_given(below, *name, each)
    kinds = typing.get_type_hints(command.callback) if not hasattr(command, "commands") else {}
    for option in command.params if kinds else ():
        kind = str(kinds[option.name])
        if re.search(r"\b(int|float)\b", kind):
            needed = [given for given in command.params if given.required]
            pairs = (
                ["x"] if "--" not in given.opts[0] else [given.opts[0], "x"] for given in needed
            )
            yield [*name, *itertools.chain(*pairs), option.opts[0]], "int" in kind


@pytest.mark.slow
def test_absurd_numbers_are_refused_by_every_option():
    commands = list(numbers_given(typer.main.get_command(app)))
    assert len(commands) > 40
    for words, is_whole in commands:
        for number in ("-1", "1" + "0" * 20) if is_whole else ("-1", "nan"):
            done = run(*words, number)
            assert done.exit_code == 2, (words, number, done.output)
            is_usage = "Invalid value" in done.stderr and words[-1] in done.stderr
            assert is_usage or words[-1].strip("-") in done.stderr, (words, number, done.stderr)


# Names that are no UTF-8, byte order marks, strict JSON

NO_UTF8 = os.fsdecode(b"caf\xe9")


@pytest.mark.slow
@pytest.mark.parametrize("name", [NO_UTF8, NO_UTF8 + ".nt", NO_UTF8 + ".jsonl"])
def test_an_output_name_that_is_not_utf8(tmp_path, name):
    command = "export" if "." in name else "import"
    source = ["world"] if command == "export" else [tmp_path / "g.nt"]
    (tmp_path / "g.nt").write_text("<a:b> <a:c> <a:d> .\n")
    done = process("graph", command, *source, "--out", name, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(rb"kgraft: the name caf\xe9")
    assert done.stderr.count(b"\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["g.nt"]


@pytest.mark.slow
def test_an_input_name_that_is_not_utf8_is_read(tmp_path):
    (tmp_path / f"{NO_UTF8}.nt").write_text("<a:b> <a:c> <a:d> .\n")
    done = process("graph", "import", f"{NO_UTF8}.nt", "-o", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.decode())
    assert told["source"] == "caf\ufffd.nt (rdf)"
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8")) == told


def test_a_byte_order_mark_before_json_lines(tmp_path):
    (tmp_path / "g.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "a", "label": "A"}\n')
    assert run("graph", "import", tmp_path / "g.jsonl", "-o", tmp_path / "out").exit_code == 0
    shown = json.loads(run("graph", "show", "A", "-g", tmp_path / "out", "--json").stdout)
    assert shown["entity"]["id"] == "a"


@pytest.mark.parametrize("field", ["NaN", "Infinity", "-Infinity", '"\\ud800"'])
def test_what_is_no_json_is_refused(lines, tmp_path, field):
    path = lines('{"id": "a", "size": ' + field + "}")
    refused(run("graph", "import", path, "-o", tmp_path / "out"), "graph.jsonl:1: bad JSON")
