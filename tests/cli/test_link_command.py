"""`kgraft link`: texts in, links out; train and measure what finds them."""

import json
import sys
from functools import cache

import pytest
from tests.link.tiny import apart, build, examples, link_model, write_encoder
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.cli.link import files
from kgraft.link import Linker
from kgraft.link.model import LinkModel
from kgraft.link.shipped import load_model

TEXTS = ["Paris is old.", "", "who rules New York City?", "東京 \ud83d", "the euro"] * 2


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


@pytest.fixture(autouse=True, scope="module")
def _apart(folder):
    """Work in a cache of one's own, and load each linker once: no command changes it."""
    with apart(folder / "cache"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgraft.link.linker.load_model", cache(load_model))
        yield


@pytest.fixture
def run(folder):
    """Run a command on the graph and the linker: `run("Paris", "--json")`."""

    def run(*arguments, command=(), model=folder / "linker", **options):
        given = (*command, *arguments, "--graph", folder / "graph", "--model", model, "--quiet")
        return CliRunner().invoke(app, ["link", *map(str, given)], **options)

    return run


@pytest.fixture
def marked(tmp_path):
    """A file of annotated texts."""
    lines = [json.dumps({"text": text, "mentions": found}) for text, found in examples(30)]
    (tmp_path / "marked.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "marked.jsonl"


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def fails(result, *words):
    """A mistake ends in one line and exit code 2."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("kgraft: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr


# A text


def test_links_are_shown_with_runners_up_and_facts(run):
    result = run("Paris")
    assert result.exit_code == 0, result.output
    for words in ("mention", "score", "city on the Seine", "small city in Texas", "Paris"):
        assert words in result.stdout
    assert "is the capital of" in run("Berlin").stdout
    assert "is the capital of" not in run("Berlin", "--facts", 0).stdout


def test_json_holds_offsets_ids_scores_and_candidates(run):
    result = run("Texas", "--json")
    [link] = json.loads(result.stdout)["links"]
    assert (link["start"], link["end"], link["surface"], link["id"]) == (0, 5, "Texas", "texas")
    assert link["id"] == link["candidates"][0]["id"]
    assert link["score"] == link["candidates"][0]["score"]
    fields = {"id", "label", "description", "types", "score", "prior", "fit"}
    assert all(candidate.keys() == fields for candidate in link["candidates"])


def test_the_command_for_texts_may_be_named(run):
    assert run("Texas", "--json", command=["text"]).stdout == run("Texas", "--json").stdout


def test_a_text_that_looks_like_markup_is_shown_as_it_is(run):
    assert "[bold]Texas[/]" in run("[bold]Texas[/]").stdout


def test_text_from_standard_input(run):
    assert "texas" in run("-", input="Ich bin in Texas.").stdout


def test_standard_input_must_be_utf8(run):
    result = run("-", input=b"Paris \xff")
    fails(result)
    assert result.stderr == (
        "kgraft: standard input is not UTF-8 (byte 7); convert it: iconv -t UTF-8\n"
    )


def test_nothing_found_exits_with_1(run):
    result = run("Texas", "--threshold", 1)
    assert (result.exit_code, result.stdout) == (1, "no entity of the graph was found\n")
    assert json.loads(run("Texas", "--threshold", 1, "--json").stdout)["links"] == []


def test_help_tells_of_all_commands():
    shown = CliRunner().invoke(app, ["link", "--help"]).output
    assert all(name in shown for name in ("text", "train", "eval", "export"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["  "], "the text is empty"),
        ([], "give a text, or --file with texts"),
        (["Paris", "--file", "texts.txt"], "give a text, or --file with texts"),
        (["Paris", "--out", "links.jsonl"], "--out is for the links of --file"),
        (["--file", "no-such.txt"], "no file no-such.txt; give JSON Lines"),
        (["Paris", "--graph", "no-such-graph"], "no graph at no-such-graph"),
        (["Paris", "--model", "no-such-model"], "no link model at no-such-model"),
    ],
)
def test_mistakes_are_told_in_one_line(folder, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    usual = ["--graph", folder / "graph", "--model", folder / "linker"]
    given = [*usual, *arguments]
    fails(CliRunner().invoke(app, ["link", "text", *map(str, given)]), words)
    assert not list(tmp_path.iterdir())


def test_a_threshold_is_between_0_and_1(run):
    result = run("Paris", "--threshold", 2)
    assert result.exit_code == 2
    assert "threshold" in result.stderr


# A file of texts


@pytest.fixture
def texts(tmp_path):
    """A file of texts with numbers."""
    made = [json.dumps({"text": text, "number": n}) for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(made) + "\n", encoding="utf-8")
    return tmp_path / "texts.jsonl"


def test_a_file_of_texts_becomes_a_file_of_links(run, texts, tmp_path, folder):
    result = run("--file", texts, "--out", tmp_path / "links.jsonl")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    found = lines((tmp_path / "links.jsonl").read_text(encoding="utf-8"))
    assert [(line["text"], line["number"]) for line in found] == [
        (text, number) for number, text in enumerate(TEXTS)
    ]
    alone = json.loads(run(TEXTS[2], "--json").stdout)["links"]
    assert [link["id"] for link in found[2]["links"]] == [link["id"] for link in alone]
    assert {path.name for path in tmp_path.iterdir()} == {"texts.jsonl", "links.jsonl"}


def test_plain_lines_are_texts_and_links_go_to_standard_output(run, tmp_path):
    (tmp_path / "texts.txt").write_text("Texas\n\neuro", encoding="utf-8")
    found = lines(run("--file", tmp_path / "texts.txt").stdout)
    assert [line["text"] for line in found] == ["Texas", "", "euro"]
    assert [[link["id"] for link in line["links"]] for line in found] == [["texas"], [], ["euro"]]


def test_an_empty_file_gives_an_empty_file(run, tmp_path):
    (tmp_path / "texts.txt").write_text("")
    assert run("--file", tmp_path / "texts.txt", "--out", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out").read_text() == ""


@pytest.mark.parametrize("half", ["", '{"text": "Pa'])
def test_linking_goes_on_behind_what_is_done(run, texts, tmp_path, monkeypatch, half):
    """Killed after four lines, perhaps in the middle of the fifth."""
    whole, out = tmp_path / "whole.jsonl", tmp_path / "links.jsonl"
    run("--file", texts, "--out", whole)
    done = whole.read_text(encoding="utf-8").splitlines(keepends=True)[:4]
    (tmp_path / "links.jsonl.partial").write_text("".join(done) + half, encoding="utf-8")
    read = []
    link = Linker.link
    noted = lambda self, some, **o: read.extend(some) or link(self, some, **o)  # noqa: E731
    monkeypatch.setattr(Linker, "link", noted)
    assert run("--file", texts, "--out", out).exit_code == 0
    assert read == TEXTS[4:]
    assert [x["text"] for x in lines(out.read_text("utf-8"))] == TEXTS
    assert not (tmp_path / "links.jsonl.partial").exists()


def test_an_interruption_keeps_what_is_done(run, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "AT_ONCE", 3)
    link, calls = Linker.link, []

    def interrupted(self, some, **options):
        calls.append(some)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return link(self, some, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Linker, "link", interrupted)
        result = run("--file", texts, "--out", tmp_path / "links.jsonl")
    assert result.exit_code == 130
    assert len(lines((tmp_path / "links.jsonl.partial").read_text("utf-8"))) == 6
    assert not (tmp_path / "links.jsonl").exists()
    assert run("--file", texts, "--out", tmp_path / "links.jsonl").exit_code == 0
    assert len(lines((tmp_path / "links.jsonl").read_text("utf-8"))) == len(TEXTS)


def test_a_file_that_is_there_is_kept(run, texts, tmp_path):
    (tmp_path / "links.jsonl").write_text("mine")
    fails(run("--file", texts, "--out", tmp_path / "links.jsonl"), "exists already; name another")
    assert (tmp_path / "links.jsonl").read_text() == "mine"


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 7}', '"text"', "{}", ""])
def test_a_bad_line_is_refused_with_its_number(run, tmp_path, line):
    (tmp_path / "texts.jsonl").write_text(f'{{"text": "Paris"}}\n{line}\n')
    result = run("--file", tmp_path / "texts.jsonl", "--out", tmp_path / "links.jsonl")
    fails(result, f"{tmp_path}/texts.jsonl:2: no text; write")


def test_a_file_must_be_utf8(run, tmp_path):
    (tmp_path / "texts.txt").write_bytes(b"Paris \xff")
    fails(run("--file", tmp_path / "texts.txt"), "texts.txt: is not UTF-8; iconv -t UTF-8")


# Training


@pytest.fixture
def train(folder, tmp_path):
    """Train on the graph: `train("--epochs", 1)`."""

    def train(*arguments, out=tmp_path / "trained"):
        fresh = ("--fresh", "--encoder", folder / "encoder", "--out", out)
        given = ("link", "train", folder / "graph", *fresh, *arguments)
        return CliRunner().invoke(app, [*map(str, given)])

    return train


def test_training_says_what_it_does_and_how_to_use_it(train, run, marked, tmp_path):
    result = train("--texts", marked, "--epochs", 2)
    assert result.exit_code == 0, result.output
    assert "27 texts, 3 to choose by; seed 0" in result.stderr
    assert "epoch 2  loss" in result.stderr
    assert "weak f1" in result.stderr
    assert f"--model {tmp_path / 'trained'}" in result.stdout
    assert run("Texas", "--threshold", 0, model=tmp_path / "trained").exit_code == 0


def test_training_needs_nothing_but_the_graph(train, tmp_path):
    result = train("--count", 20, "--epochs", 1, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["out"], told["epoch"]) == (str(tmp_path / "trained"), 1)
    assert 0 <= told["weak_f1"] <= 1
    assert result.stderr == ""


def test_training_takes_validation_texts_and_a_model_to_start_from(folder, marked, tmp_path):
    given = ("train", folder / "graph", "--start", folder / "linker", "--texts", marked,
             "--valid", marked, "--epochs", 1, "--out", tmp_path / "more")  # fmt: skip
    result = CliRunner().invoke(app, ["link", *map(str, given)])
    assert result.exit_code == 0, result.output
    assert "30 texts, 30 to choose by" in result.stderr


def test_a_training_that_was_whole_but_not_written_is_only_written(train, tmp_path, monkeypatch):
    def full_disk(*given, **options):
        raise OSError(28, "No space left on device")

    options = ("--count", 20, "--epochs", 1, "--json", "--quiet")
    with monkeypatch.context() as patch:
        patch.setattr(LinkModel, "save_pretrained", full_disk)
        fails(train(*options), "No space left on device")
    result = train(*options)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"out": str(tmp_path / "trained")}
    assert (tmp_path / "trained" / "config.json").is_file()


def test_a_linker_that_is_there_is_kept(train, folder):
    fails(train("--count", 20, "--quiet", out=folder / "linker"), "exists already", "--overwrite")


def test_texts_without_marks_are_refused(train, tmp_path):
    (tmp_path / "none.jsonl").write_text('{"text": "Paris", "mentions": []}\n' * 3)
    fails(train("--quiet", "--texts", tmp_path / "none.jsonl"), "no mention is marked")
    fails(train("--quiet", "--texts", tmp_path / "gone.jsonl"), "no file", "gone.jsonl")
    assert not (tmp_path / "trained").exists()


# Measuring


def test_figures_and_errors_are_shown(run, marked):
    result = run(marked, command=["eval"])
    assert result.exit_code == 0, result.output
    for words in (
        "precision",
        "weak",
        "strong",
        "30 texts",
        "recall by type: city",
        "by frequency",
    ):
        assert words in result.stdout
    assert "judged to be no link" in result.stdout


def test_figures_as_json(run, marked):
    told = json.loads(
        run(marked, "--json", "--threshold", 0, "--errors", 1, command=["eval"]).stdout
    )
    assert (told["texts"], told["threshold"]) == (30, 0)
    assert {"weak_f1", "strong_f1", "weak_recall"} <= told["figures"].keys()
    assert all(len(errors["examples"]) <= 1 for errors in told["errors"].values())


def test_bad_texts_are_refused_with_file_and_line(run, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "Paris", "mentions": []}\n{"text": 7}\n')
    fails(run(tmp_path / "bad.jsonl", command=["eval"]), "bad.jsonl:2: no annotated text")
    (tmp_path / "empty.jsonl").write_text("")
    fails(run(tmp_path / "empty.jsonl", command=["eval"]), "empty.jsonl: holds no text")


def test_an_export_says_whether_it_will_be_used(run, marked, tmp_path, monkeypatch):
    told = {"weak_f1": 0.9, "int8_weak_f1": 0.8, "used": False}
    monkeypatch.setattr("kgraft.link.export_linker", lambda *given, **options: told)
    given = {"command": ["export", "--texts", marked, "--out", tmp_path / "fast"]}
    assert "weak F1 0.9000, int8 0.8000; costs too much" in run(**given).stdout
    assert json.loads(run("--json", **given).stdout) == told


def test_without_the_exporter_the_pip_command_is_told(run, marked, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    result = run(command=["export", "--texts", marked, "--out", tmp_path / "fast"])
    fails(result, "onnxscript is not installed; run: pip install 'kgraft[onnx]'")
    assert not (tmp_path / "fast").exists()
