from .comparison import STRATEGIES, Strategy, compare_knowledge, compare_strategies, hit_counts
from .descriptions import Descriptions
from .fine_tuning import FineTuning, FineTuningTask, language_parameters
from .graph_losses import GraphLosses
from .graph_memory import open_memory
from .heads import Heads, new_heads
from .language import Language
from .model import JointModel
from .samplers import Categories
from .settings import JointConfig, PretrainSettings, Weights
from .task import JointTask
from .train import load_untrained, pretrain
from .windows import GoldWindows, TextBatch

__all__ = [
    "STRATEGIES",
    "Categories",
    "Descriptions",
    "FineTuning",
    "FineTuningTask",
    "GoldWindows",
    "GraphLosses",
    "Heads",
    "JointConfig",
    "JointModel",
    "JointTask",
    "Language",
    "PretrainSettings",
    "Strategy",
    "TextBatch",
    "Weights",
    "compare_knowledge",
    "compare_strategies",
    "hit_counts",
    "language_parameters",
    "load_untrained",
    "new_heads",
    "open_memory",
    "pretrain",
]
