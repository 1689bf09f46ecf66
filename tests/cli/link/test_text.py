"""`kgraft link TEXT`: links of a text or of a file of texts."""

import json

import pytest

from kgraft.cli.link.text import _parse_pins
from kgraft.errors import BadInput
from kgraft.link import files
from kgraft.link.linker import Linker

TEXTS = ["Paris is old.", "", "who rules New York City?", "東京 \ud83d", "the euro"] * 2
WRITTEN = [text.replace("\ud83d", "\ufffd") for text in TEXTS]


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


# A text


@pytest.mark.slow
def test_links_are_shown_with_runners_up_and_facts(run):
    result = run("Paris")
    assert result.exit_code == 0, result.output
    for words in ("mention", "score", "city on the Seine", "small city in Texas", "Paris"):
        assert words in result.stdout
    assert "is the capital of" in run("Berlin").stdout
    assert "is the capital of" not in run("Berlin", "--facts", 0).stdout


def test_json_has_offsets_ids_scores_and_candidates(run):
    result = run("Texas", "--json")
    [link] = json.loads(result.stdout)["links"]
    assert (link["start"], link["end"], link["surface"], link["id"]) == (0, 5, "Texas", "texas")
    assert link["id"] == link["candidates"][0]["id"]
    assert link["score"] == link["candidates"][0]["score"]
    fields = {"id", "label", "description", "types", "score", "prior", "match"}
    assert all(candidate.keys() == fields for candidate in link["candidates"])


def test_the_command_for_texts_may_be_named(run):
    assert run("text", "Texas", "--json").stdout == run("Texas", "--json").stdout


def test_a_text_that_looks_like_markup_is_shown_as_it_is(run):
    assert "[bold]Texas[/]" in run("[bold]Texas[/]").stdout


def test_text_from_standard_input(run):
    assert "texas" in run("-", input="Ich bin in Texas.").stdout


def test_standard_input_must_be_utf8(run, fails):
    result = run("-", input=b"Paris \xff")
    fails(result)
    assert result.stderr == (
        "kgraft: standard input is not UTF-8 (byte 7); convert it: iconv -t UTF-8\n"
    )


def test_without_a_link_it_exits_with_1(run):
    result = run("Texas", "--threshold", 1)
    assert (result.exit_code, result.stdout) == (1, "no entity of the graph was found\n")
    assert json.loads(run("Texas", "--threshold", 1, "--json").stdout)["links"] == []


def test_exact_links_only_names_as_the_graph_has_them(run):
    variant = "We saw the Lone Star States."
    [link] = json.loads(run(variant, "--json").stdout)["links"]
    assert link["candidates"][0]["match"] == "variant"
    assert run(variant, "--exact").exit_code == 1
    assert run("We saw the Lone Star State.", "--exact").exit_code == 0


def test_a_pinned_name_always_means_its_entity(run):
    pins = ("--pin", "Paris=myth", "--pin", "the Capital = berlin")
    links = json.loads(run("Paris is not the capital", *pins, "--json").stdout)["links"]
    assert [(link["surface"], link["id"], link["score"]) for link in links] == [
        ("Paris", "myth", 1.0), ("the capital", "berlin", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("pin", ["Paris", "=myth", "Paris=", "Paris= "])
def test_a_pin_is_a_name_and_an_id(run, fails, pin):
    fails(run("Paris", "--pin", pin), f"--pin is {pin!r}; write NAME=ID")


def test_a_name_with_an_equals_sign_may_be_pinned():
    assert _parse_pins(["E=mc2=physics"]) == {"E=mc2": "physics"}
    with pytest.raises(BadInput, match="write NAME=ID"):
        _parse_pins(["E"])


def test_a_pin_to_nobody_is_refused(run, fails):
    fails(run("Paris", "--pin", "Paris=nobody"), "no entity has the id or label 'nobody'")


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
def test_mistakes_are_one_line(folder, invoke, fails, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    usual = ["--graph", folder / "graph", "--model", folder / "linker"]
    fails(invoke("text", *usual, *arguments), words)
    assert not list(tmp_path.iterdir())


def test_a_threshold_is_between_0_and_1(run):
    result = run("Paris", "--threshold", 2)
    assert result.exit_code == 2
    assert "threshold" in result.stderr


# A file of texts


@pytest.fixture
def texts(tmp_path):
    """A file of texts with numbers."""
    rows = [json.dumps({"text": text, "number": n}) for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "texts.jsonl"


def test_a_file_of_texts_becomes_a_file_of_links(run, texts, tmp_path):
    result = run("--file", texts, "--out", tmp_path / "links.jsonl", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), result.output
    rows = rows_of((tmp_path / "links.jsonl").read_text(encoding="utf-8"))
    assert [(row["text"], row["number"]) for row in rows] == [
        (text, number) for number, text in enumerate(WRITTEN)
    ]
    alone = json.loads(run(TEXTS[2], "--json").stdout)["links"]
    assert [link["id"] for link in rows[2]["links"]] == [link["id"] for link in alone]
    assert {path.name for path in tmp_path.iterdir()} == {"texts.jsonl", "links.jsonl"}


def test_without_out_the_links_go_to_standard_output(run, texts):
    result = run("--file", texts, "--quiet")
    assert result.exit_code == 0, result.output
    assert [row["text"] for row in rows_of(result.stdout)] == WRITTEN


@pytest.fixture
def interrupted(run, texts, tmp_path, monkeypatch):
    """A run that was interrupted in its third batch of three texts."""
    monkeypatch.setattr(files, "TEXTS_AT_ONCE", 3)
    link, calls = Linker.link, []

    def stop(self, batch, **options):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return link(self, batch, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Linker, "link", stop)
        return run("--file", texts, "--out", tmp_path / "links.jsonl")


def test_an_interruption_keeps_what_is_done(interrupted, run, texts, tmp_path):
    assert interrupted.exit_code == 130
    assert len(rows_of((tmp_path / "links.jsonl.partial").read_text("utf-8"))) == 6
    assert not (tmp_path / "links.jsonl").exists()
    assert run("--file", texts, "--out", tmp_path / "links.jsonl").exit_code == 0
    assert len(rows_of((tmp_path / "links.jsonl").read_text("utf-8"))) == len(TEXTS)


@pytest.mark.slow
@pytest.mark.usefixtures("interrupted")
def test_another_run_is_not_resumed(run, fails, texts, tmp_path):
    same = ("--file", texts, "--out", tmp_path / "links.jsonl", "--quiet")
    fails(run(*same, "--threshold", 0.4), "begun with another threshold")
    fails(run(*same, "--pin", "Paris=myth"), "begun with another graph")
    fails(run(*same, "--exact"), "begun with another options")


def test_a_file_that_is_there_is_kept(run, fails, texts, tmp_path):
    (tmp_path / "links.jsonl").write_text("mine")
    fails(run("--file", texts, "--out", tmp_path / "links.jsonl"), "exists already; name another")
    assert (tmp_path / "links.jsonl").read_text() == "mine"


def test_a_bad_line_is_refused_with_its_number(run, fails, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "Paris"}\n{"text": 7}\n')
    result = run("--file", tmp_path / "texts.jsonl", "--out", tmp_path / "links.jsonl", "--quiet")
    fails(result, f"{tmp_path}/texts.jsonl:2: no text; write")
