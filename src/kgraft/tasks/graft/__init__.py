"""Tasks on which grafted encoders are measured; one file each.

A task is an object with the members of `kgraft.tasks.interfaces.GraftEvaluation`, registered under
the name of its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.tasks.interfaces import GraftEvaluation

GRAFT_TASKS: Registry[GraftEvaluation] = Registry(
    "task", package="kgraft.tasks.graft", group="kgraft.graft_tasks"
)
