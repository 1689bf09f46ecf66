"""The models, one file each, named like the model it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.registry import Registry

if TYPE_CHECKING:
    from kgraft.embed.model import Model

MODELS: Registry[Model] = Registry("model", package=__name__, group="kgraft.embedding_models")
