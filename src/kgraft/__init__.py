"""kgraft: graft a knowledge graph onto a language model.

The nouns live here (`Graph`, `Encoder`, `Linker`, …); what they stand on loads when first used, so
that `import kgraft` costs nothing.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from kgraft.errors import KgraftError

if TYPE_CHECKING:
    from kgraft.graph import Graph
    from kgraft.link import Linker
    from kgraft.text import Encoder
    from kgraft.vectors import EntityVectors

logging.getLogger(__name__).addHandler(logging.NullHandler())

__version__ = "0.1.0"
__all__ = ["Encoder", "EntityVectors", "Graph", "KgraftError", "Linker", "__version__"]

_HOMES = {
    "Encoder": "kgraft.text",
    "EntityVectors": "kgraft.vectors",
    "Graph": "kgraft.graph",
    "Linker": "kgraft.link",
}


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kgraft' has no attribute {name!r}")
