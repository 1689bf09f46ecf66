"""Kinds of knowledge: what an encoder may look up for a text; one file each.

A kind is a class like `GraphKnowledge`, registered under the name of its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.graft.knowledge.graph import GraphKnowledge

KNOWLEDGE: Registry[type[GraphKnowledge]] = Registry(
    "kind of knowledge", package="kgraft.graft.knowledge", group="kgraft.knowledge"
)
