from .complete import complete_graph
from .completer import Completer, Prediction
from .explanation import Explanation
from .memory.fact_memory import FactMemory
from .memory.fact_source import FactSource
from .memory.recalled import RecalledAnswer, RecalledFact
from .memory.settings import RecallSettings
from .open import open_completer
from .paths.reasoner import Reasoner
from .paths.source import PathSource
from .paths.train import train_reasoner
from .reasons import Reason
from .score_source import ScoreSource
from .settings import CompleterConfig, ReasonerConfig, ReasonerSettings
from .source import Source
from .text.completer import TextCompleter
from .text.settings import TextConfig, TextSettings
from .text.source import TextSource
from .text.train import train_text_completer
from .weights import SourceWeights

__all__ = [
    "Completer",
    "CompleterConfig",
    "Explanation",
    "FactMemory",
    "FactSource",
    "PathSource",
    "Prediction",
    "Reason",
    "Reasoner",
    "ReasonerConfig",
    "ReasonerSettings",
    "RecallSettings",
    "RecalledAnswer",
    "RecalledFact",
    "ScoreSource",
    "Source",
    "SourceWeights",
    "TextCompleter",
    "TextConfig",
    "TextSettings",
    "TextSource",
    "complete_graph",
    "open_completer",
    "train_reasoner",
    "train_text_completer",
]
