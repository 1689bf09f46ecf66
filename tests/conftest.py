"""What holds for all tests."""

import os
import signal
from functools import cache

import pytest
import typer.testing
from hypothesis import settings
from tests.random_inputs import USUAL

settings.load_profile(USUAL)  # --hypothesis-profile replaces it

FSYNC = os.fsync


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk():
    """Skip the flushes that make a graph survive a power cut: they take most of a test's time.

    The tests of storage itself turn them on again (`flushing`).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def flushing(monkeypatch):
    """Flush to disk, as outside of tests."""
    monkeypatch.setattr(os, "fsync", FSYNC)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Let Ctrl-C interrupt, also where tests run in the background of a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def _one_command_line():
    """Build the commands once: `CliRunner.invoke` builds all of them for every call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(typer.main.get_command))
        yield
