"""A command has an option for each setting, with its range, choices and default."""

from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from kgraft.cli.settings_options import Changes, settings_options
from kgraft.settings import COUNT, RATE, Settings, setting


@dataclass(frozen=True)
class Walk(Settings):
    """Settings of every kind."""

    steps: int = setting(4, "Steps per walk.", COUNT)
    batch_size: int | None = setting(None, "Walks at once.", COUNT)
    kind: str = setting("even", "How edges are drawn", choices=("even", "weighted"))
    learning_rate: float = setting(0.1, "Size of a step.", RATE)
    back: bool = setting(False, "Walk back, too.")
    every: int = setting(1, "Not for the command line.", COUNT, option="")
    weight: float = setting(1.0, "Weight.", RATE, option="walk-weight")
    hops: tuple[int, ...] = setting((1, 2), "Several values.", COUNT)


@pytest.fixture
def run():
    app = typer.Typer()
    seen = {}

    @app.command()
    @settings_options(Walk, leave_out=["weight"])
    def walk(graph: str, changes: Changes, loud: bool = False) -> None:
        """Walk."""
        seen.update(graph=graph, changes=changes, loud=loud, settings=Walk().replace(**changes))

    def call(*words):
        return CliRunner().invoke(app, words, env={"COLUMNS": "200"}), seen

    return call


def test_only_what_is_given_changes(run):
    _, seen = run("g")
    assert (seen["changes"], seen["loud"]) == ({}, False)
    _, seen = run("g", "--steps", "7", "--kind", "weighted", "--back", "--loud")
    assert seen["changes"] == {"steps": 7, "kind": "weighted", "back": True}
    assert seen["settings"] == Walk(7, None, "weighted", back=True)
    _, seen = run("g", "--no-back", "--batch-size", "3")
    assert seen["changes"] == {"back": False, "batch_size": 3}


def test_the_help_says_range_choices_and_default(run):
    result, _ = run("--help")
    for words in ("(default: 4)", "<even|weighted>", "(default: even)", "1<=x<="):
        assert words in result.output
    for option in ("--every", "--hops", "--weight", "--walk-weight", "--changes"):
        assert option not in result.output


@pytest.mark.parametrize(
    "words",
    [("--steps", "0"), ("--steps", "1" + "0" * 30), ("--learning-rate", "nan"), ("--every", "2")],
)
def test_a_value_outside_its_range_is_refused(run, words):
    result, _ = run("g", *words)
    assert result.exit_code == 2


def test_an_option_may_have_a_name_of_its_own():
    app = typer.Typer()

    @app.command()
    @settings_options(Walk)
    def walk(changes: Changes) -> None:
        print(changes)

    assert "{'weight': 0.5}" in CliRunner().invoke(app, ["--walk-weight", "0.5"]).output


def test_a_command_with_several_kinds_of_settings():
    @dataclass(frozen=True)
    class Shape(Settings):
        """Settings of another kind."""

        width: int = setting(3, "Width.", COUNT)

    app = typer.Typer()
    seen = {}

    @app.command()
    @settings_options(Shape, parameter="shape")
    @settings_options(Walk)
    def walk(graph: str, shape: Changes, changes: Changes) -> None:
        """Walk."""
        seen.update(graph=graph, shape=shape, changes=changes)

    done = CliRunner().invoke(app, ["g", "--width", "5", "--steps", "7"])
    assert done.exit_code == 0, done.output
    assert seen == {"graph": "g", "shape": {"width": 5}, "changes": {"steps": 7}}
