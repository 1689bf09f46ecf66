"""The tiny graph and the grafted encoder of the tests of grafting, and questions over the graph."""

import pytest
from tests.graft.conftest import encoder, graph, host_folder, knowledge  # noqa: F401
from tests.joint.conftest import CONFIG
from tests.tasks.asked import QUICK, write_questions

from kgraft.joint import JointModel, open_memory
from kgraft.tasks.graph_answers import Answerer
from kgraft.tasks.graph_questions import Questions
from kgraft.text import Encoder


@pytest.fixture
def model(host_folder):  # noqa: F811
    return JointModel(Encoder.load(host_folder, device="cpu", max_length=64), CONFIG)


@pytest.fixture
def asked(graph, tmp_path):  # noqa: F811
    write_questions(tmp_path / "asked.jsonl")
    return Questions.read(tmp_path / "asked.jsonl", graph)


@pytest.fixture
def answerer(graph, model, tmp_path):  # noqa: F811
    memory = open_memory(model, graph, folder=tmp_path / "memory")
    return lambda **options: Answerer(model, graph, memory, QUICK, **options)
