from .memory.fact_memory import FactMemory
from .memory.fact_source import FactSource
from .memory.recalled import RecalledAnswer, RecalledFact
from .memory.settings import RecallSettings
from .reasons import Reason
from .source import Source

__all__ = [
    "FactMemory",
    "FactSource",
    "Reason",
    "RecallSettings",
    "RecalledAnswer",
    "RecalledFact",
    "Source",
]
