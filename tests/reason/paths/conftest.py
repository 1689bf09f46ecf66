"""One thread for all tests of this folder."""

import pytest
from tests.embed.conftest import one_thread


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_thread():
        yield
