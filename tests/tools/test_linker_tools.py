"""The tools that make and show the shipped linker can be imported, and have a `main`."""

from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["demo", "ship_linker", "train_linker"])
def test_a_tool_has_a_main(name):
    module = import_module(f"tools.{name}")
    assert module.__doc__
    assert callable(module.main)
