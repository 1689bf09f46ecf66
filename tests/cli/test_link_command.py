"""`kgraft link`: a text in, links with scores, runners-up and facts out."""

import json

import pytest
from typer.testing import CliRunner

from kgraft.cli import app


@pytest.fixture
def run():
    return lambda *arguments, **options: CliRunner().invoke(app, ["link", *arguments], **options)


def test_links_are_shown_with_runners_up_and_facts(run):
    result = run("Who rules Georgia?")
    assert result.exit_code == 0
    assert "US state" in result.output
    assert "Western Asia" in result.output
    assert "is located in" in result.output


def test_json_holds_offsets_ids_scores_and_candidates(run):
    result = run("From Paris with love", "--json")
    [link] = json.loads(result.output)["links"]
    assert (link["start"], link["end"], link["surface"]) == (5, 10, "Paris")
    assert link["id"] == link["candidates"][0]["id"]
    assert len(link["candidates"]) >= 2
    assert 0 < link["score"] <= 1


def test_text_from_standard_input(run):
    assert "Berlin" in run("-", input="Ich bin in Berlin.").output


def test_standard_input_must_be_utf8(run):
    result = run("-", input=b"Paris \xff")
    assert result.exit_code == 2
    assert result.stderr == (
        "kgraft: standard input is not UTF-8 (byte 7); convert it: iconv -t UTF-8\n"
    )


def test_small_letters_count_on_request(run):
    assert run("We went to paris.").exit_code == 1
    assert "capital" in run("We went to paris.", "--any-case").output


def test_nothing_found_exits_with_1(run):
    assert run("nothing of the kind").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["  "], "the text is empty"),
        (["Paris", "--graph", "no-such-folder"], "no graph at no-such-folder"),
        (["Paris", "--encoder", "no-such-encoder"], "no-such-encoder"),
        (["Paris", "--threshold", "2"], "threshold"),
    ],
)
def test_mistakes_exit_with_2_and_one_line(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
