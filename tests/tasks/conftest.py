"""The tiny graph and the grafted encoder of the tests of grafting, and a joint model."""

import pytest
from tests.graft.conftest import encoder, graph, host_folder, knowledge  # noqa: F401
from tests.joint.conftest import CONFIG

from kgraft.joint import JointModel
from kgraft.text import Encoder


@pytest.fixture
def model(host_folder):  # noqa: F811
    return JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)
