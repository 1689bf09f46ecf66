from .memory.fact_memory import FactMemory
from .memory.fact_source import FactSource
from .memory.recalled import RecalledAnswer, RecalledFact
from .memory.settings import RecallSettings
from .reasons import Reason
from .source import Source
from .text.completer import TextCompleter
from .text.settings import TextConfig, TextSettings
from .text.source import TextSource
from .text.train import train_text_completer

__all__ = [
    "FactMemory",
    "FactSource",
    "Reason",
    "RecallSettings",
    "RecalledAnswer",
    "RecalledFact",
    "Source",
    "TextCompleter",
    "TextConfig",
    "TextSettings",
    "TextSource",
    "train_text_completer",
]
