"""`kgraft link calibrate`: a threshold from texts without annotation."""

import json

import pytest


@pytest.fixture
def texts(tmp_path):
    rows = ["Paris is in Texas", "who rules Berlin?", "", "New York City"] * 3
    (tmp_path / "texts.txt").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path / "texts.txt"


def test_a_threshold_is_chosen_and_used_from_then_on(run, texts, marked):
    result = run("calibrate", texts, "--json")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert outcome["texts"] == 12
    assert 0.1 <= outcome["threshold"] <= 0.7
    report = json.loads(run("eval", marked, "--json", "--quiet").stdout)
    assert report["threshold"] == outcome["threshold"]


def test_it_is_shown_for_people_too(run, texts):
    assert "from 12 texts" in run("calibrate", texts).stdout


def test_no_more_texts_are_read_than_the_limit(run, texts):
    assert json.loads(run("calibrate", texts, "--limit", 5, "--json").stdout)["texts"] == 5


def test_texts_that_name_nothing_are_refused(run, fails, tmp_path):
    (tmp_path / "none.txt").write_text("nothing of the kind\n")
    fails(run("calibrate", tmp_path / "none.txt"), "no entity of the graph is named in the texts")
    fails(run("calibrate", tmp_path / "gone.txt"), "no file", "gone.txt")
