"""What holds for all tests."""

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk():
    """Skip the flushes that make a graph survive a power cut: they take most of a test's time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
