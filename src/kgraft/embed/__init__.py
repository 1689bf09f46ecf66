"""Graph embeddings: vectors of entities and relations, learnt from the triples alone."""

from __future__ import annotations

from kgraft.embed.embedded import Embedded, Prediction
from kgraft.embed.embedding import Embedding
from kgraft.embed.evaluate import rank_queries
from kgraft.embed.export import export_vectors
from kgraft.embed.model import Model
from kgraft.embed.models import MODELS
from kgraft.embed.plot import choose_entities, plot_vectors
from kgraft.embed.presets import PRESETS, preset_settings
from kgraft.embed.settings import Settings
from kgraft.embed.train import train_embedding

__all__ = [
    "MODELS",
    "PRESETS",
    "Embedded",
    "Embedding",
    "Model",
    "Prediction",
    "Settings",
    "choose_entities",
    "export_vectors",
    "plot_vectors",
    "preset_settings",
    "rank_queries",
    "train_embedding",
]
