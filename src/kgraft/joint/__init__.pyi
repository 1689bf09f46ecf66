from .comparison import compare_knowledge, hit_counts
from .descriptions import Descriptions
from .fine_tuning import FineTuning, FineTuningTask, language_parameters
from .graph_losses import GraphLosses
from .graph_memory import open_memory
from .heads import Heads, new_heads
from .language import Language
from .merge_norm import init_merge_norm
from .model import JointModel
from .samplers import Categories
from .settings import JointConfig, PretrainSettings, Weights
from .task import JointTask
from .train import pretrain
from .windows import GoldWindows, TextBatch

__all__ = [
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
    "TextBatch",
    "Weights",
    "compare_knowledge",
    "hit_counts",
    "init_merge_norm",
    "language_parameters",
    "new_heads",
    "open_memory",
    "pretrain",
]
