from .paths.reasoner import Reasoner
from .paths.source import PathSource
from .reasons import Reason
from .settings import ReasonerConfig, ReasonerSettings
from .source import Source

__all__ = [
    "PathSource",
    "Reason",
    "Reasoner",
    "ReasonerConfig",
    "ReasonerSettings",
    "Source",
]
