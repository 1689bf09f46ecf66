from .completer import Completer, Explanation, Prediction
from .open import open_completer
from .paths.reasoner import Reasoner
from .paths.source import PathSource
from .paths.train import train_reasoner
from .reasons import Reason
from .score_source import ScoreSource
from .settings import CompleterConfig, ReasonerConfig, ReasonerSettings
from .source import Source
from .weights import SourceWeights

__all__ = [
    "Completer",
    "CompleterConfig",
    "Explanation",
    "PathSource",
    "Prediction",
    "Reason",
    "Reasoner",
    "ReasonerConfig",
    "ReasonerSettings",
    "ScoreSource",
    "Source",
    "SourceWeights",
    "open_completer",
    "train_reasoner",
]
