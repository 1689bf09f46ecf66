"""Options that the commands of `kgraft link` share, and the group itself."""

import pytest

COMMANDS = ("text", "train", "eval", "index", "calibrate", "export")


def test_help_lists_all_commands(invoke):
    shown = invoke("--help").output
    assert all(name in shown for name in COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(invoke, command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"kgraft link {'' if command == 'text' else command}" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("command", ["text", "eval", "index", "calibrate", "export"])
def test_a_model_may_be_chosen(invoke, command):
    assert "--model" in invoke(command, "--help").output


@pytest.mark.parametrize("command", ["text", "eval"])
def test_a_threshold_may_be_chosen(invoke, command):
    assert "--threshold" in invoke(command, "--help").output
