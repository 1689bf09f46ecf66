"""The errors kgraft raises on purpose, each one line that says what to do next.

KgraftError
├── BadInput       a file or value the user gave: where it is wrong, why, and the remedy;
│                  also a ValueError
├── BadGraph       a graph folder that is damaged, unfinished or of a newer format
├── NotFound       an entity, relation, graph or encoder that is not there;
│                  also a KeyError, which is a LookupError
└── MissingExtra   an optional package is needed; the message holds the pip command
"""

from __future__ import annotations

import importlib
from types import ModuleType


class KgraftError(Exception):
    """Base of all errors that are meant for the user; its text is one line."""


class BadInput(KgraftError, ValueError):
    """Something the user gave is wrong: `file:line: reason; remedy`."""

    def __init__(
        self, reason: str, *, file: str | None = None, line: int | None = None, remedy: str = ""
    ) -> None:
        self.reason, self.file, self.line, self.remedy = reason, file, line, remedy
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(where + reason + (f"; {remedy}" if remedy else ""))


class BadGraph(KgraftError):
    """A graph folder that cannot be trusted or read."""


class NotFound(KgraftError, KeyError):
    """What was asked for is not there; also a KeyError, as `graph["nobody"]` should raise."""

    __str__ = Exception.__str__  # a KeyError would show its text in quotes


class MissingExtra(KgraftError):
    """An optional dependency is missing."""


def import_optional(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say the pip command that brings it.

    >>> import_optional("json", "rdf").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{module} is not installed; run: pip install 'kgraft[{extra}]'"
        ) from error
