"""Kinds of grafts: how knowledge comes into what an encoder reads; one file each.

A kind is a class with the members of `kgraft.graft.interfaces.Graft`, registered under the name of
its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.graft.interfaces import Graft

GRAFTS: Registry[type[Graft]] = Registry(
    "kind of graft", package="kgraft.graft.kinds", group="kgraft.grafts"
)
