"""The benchmarks of the linker can be imported, and those that are run have a `main`."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks.link

SHARED = {"baselines", "reliability", "spacy_peer", "texts"}  # what the others use
MODULES = sorted(
    path.stem
    for path in Path(benchmarks.link.__file__).parent.glob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_has_a_main(name):
    module = import_module(f"benchmarks.link.{name}")
    assert module.__doc__
    assert name in SHARED or callable(module.main)


def test_what_is_shared_is_there():
    assert set(MODULES) >= SHARED
