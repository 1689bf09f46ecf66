"""The formats that are written, one file each, named like the format it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.graph.io.export import Writer

WRITERS: Registry[Writer] = Registry(
    "format of exports", package=__name__, group="kgraft.graph_writers"
)
