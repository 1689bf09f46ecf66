from .evaluate import rank_queries
from .export import export_vectors
from .model import Model, SimilarityModel
from .models import MODELS
from .plot import choose_entities, plot_vectors
from .predictor import LinkPredictor, Prediction
from .presets import PRESETS, preset_settings
from .settings import EmbedSettings
from .tables import EmbeddingTables
from .train import train_embedding

__all__ = [
    "MODELS",
    "PRESETS",
    "EmbedSettings",
    "EmbeddingTables",
    "LinkPredictor",
    "Model",
    "Prediction",
    "SimilarityModel",
    "choose_entities",
    "export_vectors",
    "plot_vectors",
    "preset_settings",
    "rank_queries",
    "train_embedding",
]
