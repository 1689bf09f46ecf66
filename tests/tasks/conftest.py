"""The tiny graph and the grafted encoder of the tests of grafting."""

from tests.graft.conftest import encoder, graph, host_folder, knowledge  # noqa: F401
