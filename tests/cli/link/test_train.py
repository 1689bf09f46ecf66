"""`kgraft link train`: a linker for a graph, from annotated texts or from the graph alone."""

import json

import pytest

from kgraft.link.model import LinkModel


@pytest.fixture
def train(folder, invoke, tmp_path):
    """Train from the bare encoder: `train("--epochs", 1)`."""

    def train(*arguments, out=tmp_path / "trained"):
        scratch = ("--from-scratch", "--encoder", folder / "encoder", "--out", out)
        return invoke("train", folder / "graph", *scratch, *arguments)

    return train


@pytest.mark.slow
def test_training_shows_the_f1_before_and_after_and_how_to_use_it(train, run, marked, tmp_path):
    result = train("--texts", marked, "--epochs", 2)
    assert result.exit_code == 0, result.output
    assert "epoch 2  loss" in result.stderr
    assert "weak f1" in result.stderr
    assert "held-out weak F1" in result.stdout
    assert "before" in result.stdout
    assert f"--model {tmp_path / 'trained'}" in result.stdout
    assert run("Texas", "--threshold", 0, model=tmp_path / "trained").exit_code == 0


@pytest.mark.slow
def test_training_needs_nothing_but_the_graph(train, tmp_path):
    result = train("--count", 20, "--epochs", 1, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert outcome["out"] == str(tmp_path / "trained")
    kept = outcome["after"] if outcome["improved"] else outcome["before"]
    assert 0 <= outcome["before"]["weak_f1"] <= kept["weak_f1"] <= 1
    assert result.stderr == ""


@pytest.mark.slow
def test_training_takes_validation_texts_and_a_model_to_start_from(
    folder, invoke, marked, tmp_path, monkeypatch
):
    started = []
    load = LinkModel.from_pretrained.__func__
    noted = classmethod(lambda cls, path: started.append(str(path)) or load(cls, path))
    monkeypatch.setattr(LinkModel, "from_pretrained", noted)
    result = invoke(
        "train", folder / "graph", "--init-from", folder / "linker", "--texts", marked,
        "--valid", marked, "--epochs", 1, "--out", tmp_path / "more", "--fully-annotated",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert started == [str(folder / "linker")]
    assert (tmp_path / "more" / "kgraft.json").is_file()


@pytest.mark.slow
def test_where_training_does_not_help_it_says_so(train, marked, monkeypatch):
    values = iter([0.8, 0.7, 0.7])
    monkeypatch.setattr(
        "kgraft.link.task.LinkTask.validate",
        lambda self: dict.fromkeys(("weak_f1", "strong_f1", "threshold"), next(values)),
    )
    result = train("--texts", marked, "--epochs", 1, "--quiet")
    assert result.exit_code == 0, result.output
    assert (
        "held-out weak F1 0.800 before, 0.700 after: not kept: the linker is written as it was"
        in result.stdout
    )


@pytest.mark.slow
def test_a_training_that_was_complete_but_not_written_is_only_written(
    train, fails, tmp_path, monkeypatch
):
    def full_disk(*given, **options):
        raise OSError(28, "No space left on device")

    options = ("--count", 20, "--epochs", 1, "--json", "--quiet")
    with monkeypatch.context() as patch:
        patch.setattr(LinkModel, "save_pretrained", full_disk)
        fails(train(*options), "No space left on device")
    monkeypatch.setattr("kgraft.link.task.LinkTask.step", None)
    result = train(*options)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "trained" / "kgraft.json").is_file()


def test_a_linker_that_is_there_is_kept(train, folder, fails):
    fails(train("--count", 20, "--quiet", out=folder / "linker"), "exists already", "--overwrite")


def test_texts_without_marks_are_refused(train, fails, tmp_path):
    (tmp_path / "none.jsonl").write_text('{"text": "Paris", "mentions": []}\n' * 3)
    fails(train("--quiet", "--texts", tmp_path / "none.jsonl"), "no mention is marked")
    fails(train("--quiet", "--texts", tmp_path / "gone.jsonl"), "no file", "gone.jsonl")
    assert not (tmp_path / "trained").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--from-scratch", "--init-from", "linker"),
        ("--encoder", "some/encoder"),
    ],
)
def test_options_that_do_not_go_together_are_refused(invoke, folder, fails, tmp_path, arguments):
    result = invoke("train", folder / "graph", "--out", tmp_path / "trained", *arguments)
    fails(result, "--from-scratch")
