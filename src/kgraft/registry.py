"""Registries: implementations by name, one file each, and those of other packages.

    MODELS: Registry[Model] = Registry("model", package="kgraft.embed.models",
                                       group="kgraft.embedding_models")

    @MODELS.register("rotate")       # in kgraft/embed/models/rotate.py
    class RotatE(Model): ...

A file of the package is named like what it registers, so that the names are known without an
import. Another distribution adds its own by an entry point of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Generic, TypeVar

from kgraft.errors import BadInput

T = TypeVar("T")


class Registry(Generic[T]):
    """Implementations of one kind by name, imported when they are first asked for."""

    def __init__(self, kind: str, *, package: str, group: str) -> None:
        self.kind, self.package, self.group = kind, package, group
        self._registered: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Register an implementation under a name."""

        def add(implementation: T) -> T:
            self._registered[name] = implementation
            return implementation

        return add

    def names(self) -> list[str]:
        """Return the names there are, in order; nothing is imported."""
        return sorted({*self._modules(), *self._entry_points, *self._registered})

    def check(self, name: str) -> None:
        """Refuse a name that nothing is registered under."""
        if name not in self.names():
            names = ", ".join(self.names())
            raise BadInput(f"no {self.kind} is named {name!r}", remedy=f"choose one of {names}")

    def __getitem__(self, name: str) -> T:
        if name not in self._registered:
            modules = self._modules()
            if name in modules:
                import_module(f"{self.package}.{modules[name]}")
            else:
                self.check(name)
                self._registered[name] = self._entry_points[name].load()
        if name not in self._registered:
            raise BadInput(f"{self.package}.{name} registers no {self.kind} {name!r}")
        return self._registered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def _modules(self) -> dict[str, str]:
        """Return the files of the package by the name they register."""
        spec = find_spec(self.package)
        folders = spec.submodule_search_locations if spec else None
        names = [module.name for module in iter_modules(folders) if module.name[0] != "_"]
        return {name.replace("_", "-"): name for name in names}

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}
