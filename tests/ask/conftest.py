"""The tiny graph of the tests of grafting, questions over it, and what answers them."""

import pytest
from tests.ask.tiny_questions import CONFIG, write_questions
from tests.graft.conftest import graph, host_folder  # noqa: F401
from tests.joint.conftest import CONFIG as SHAPE

from kgraft.ask import Answerer, Questions
from kgraft.joint import JointModel, open_memory
from kgraft.text import Encoder


@pytest.fixture
def model(host_folder):  # noqa: F811
    return JointModel(Encoder.load(host_folder, device="cpu", max_length=64), SHAPE)


@pytest.fixture
def questions(graph, tmp_path):  # noqa: F811
    write_questions(tmp_path / "questions.jsonl")
    return Questions.read(tmp_path / "questions.jsonl", graph)


@pytest.fixture
def answerer(graph, model, tmp_path):  # noqa: F811
    memory = open_memory(model, graph, folder=tmp_path / "memory")
    return lambda **changes: Answerer(model, graph, memory, CONFIG.replace(**changes))
