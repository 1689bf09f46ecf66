from .comparison import compare_knowledge, hit_counts
from .descriptions import Descriptions
from .fine_tuning import FineTuning, FineTuningTask, language_parameters
from .graph_memory import open_memory
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
    "open_memory",
    "pretrain",
]
