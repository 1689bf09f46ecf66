"""The models, one file each; a file that declares MODEL is found by itself."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kgraft.embed.model import Model

__all__ = ["MODELS"]


def _declared() -> dict[str, Model]:
    names = sorted(module.name for module in iter_modules(__path__))
    models = [import_module(f"{__name__}.{name}").MODEL for name in names]
    return {model.name: model for model in models}


MODELS: dict[str, Model] = _declared()
