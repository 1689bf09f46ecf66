"""Tasks are registered under the names of their files."""

import pytest

from kgraft.errors import BadInput
from kgraft.tasks import GRAFT_TASKS, JOINT_TASKS, GraftEvaluation, JointEvaluation


def test_every_task_of_grafts_is_registered():
    names = {"facts", "perplexity", "semeval2010-8", "senses", "typing", "wic"}
    assert set(GRAFT_TASKS) == names
    assert all(isinstance(GRAFT_TASKS[name], GraftEvaluation) for name in names)


def test_every_task_of_joint_models_is_registered():
    assert set(JOINT_TASKS) == {"classes", "links", "relations"}
    assert all(isinstance(JOINT_TASKS[name], JointEvaluation) for name in JOINT_TASKS)


@pytest.mark.parametrize("registry", [GRAFT_TASKS, JOINT_TASKS])
def test_an_unknown_task_is_refused(registry):
    with pytest.raises(BadInput, match="sorcery"):
        registry["sorcery"]
