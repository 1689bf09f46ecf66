"""Tasks on which joint models are fine-tuned and measured; one file each.

A task is an object with the members of `kgraft.tasks.interfaces.JointEvaluation`, registered under
the name of its file.

| task      | data                                                     | figure                 |
| --------- | -------------------------------------------------------- | ---------------------- |
| classes   | the types of the graph's own entities                    | accuracy               |
| links     | the graph's own test facts                               | MRR, filtered          |
| relations | train.jsonl and test.jsonl: texts with a head, a tail    | accuracy, 5-way 1-shot |
|           | and a relation; those of the test are not learned from   |                        |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.tasks.interfaces import JointEvaluation

JOINT_TASKS: Registry[JointEvaluation] = Registry(
    "task", package="kgraft.tasks.joint", group="kgraft.joint_tasks"
)
