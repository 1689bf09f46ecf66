"""The formats that are read, one file each, named like the format it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.graph.io.formats import Format

FORMATS: Registry[Format] = Registry("format", package=__name__, group="kgraft.graph_formats")
