"""`kgraft link eval`: figures and errors on annotated texts."""

import json


def test_figures_and_errors_are_shown(run, marked):
    result = run("eval", marked, "--quiet")
    assert result.exit_code == 0, result.output
    for words in (
        "precision", "weak", "strong", "30 texts", "calibration error", "recall by type: city",
        "by frequency", "judged not to be a link",
    ):  # fmt: skip
        assert words in result.stdout


def test_figures_as_json(run, marked):
    result = run("eval", marked, "--json", "--threshold", 0, "--errors", 1, "--quiet")
    report = json.loads(result.stdout)
    assert (report["texts"], report["threshold"]) == (30, 0)
    assert {"weak_f1", "strong_f1", "weak_recall"} <= report["figures"].keys()
    assert all(len(errors["examples"]) <= 1 for errors in report["errors"].values())


def test_unmarked_names_do_not_count_where_annotation_is_partial(run, tmp_path):
    row = {"text": "Texas and Zürich", "mentions": [{"start": 0, "end": 5, "entity": "texas"}]}
    (tmp_path / "part.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    precision = [
        json.loads(run("eval", tmp_path / "part.jsonl", "--json", "--quiet", *options).stdout)[
            "figures"
        ]["weak_precision"]
        for options in ((), ("--partial",))
    ]
    assert precision == [0.5, 1.0]


def test_bad_texts_are_refused_with_file_and_line(run, fails, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "Paris", "mentions": []}\n{"text": 7}\n')
    fails(run("eval", tmp_path / "bad.jsonl"), "bad.jsonl:2: ")
    (tmp_path / "empty.jsonl").write_text("")
    fails(run("eval", tmp_path / "empty.jsonl"), "empty.jsonl: ")
