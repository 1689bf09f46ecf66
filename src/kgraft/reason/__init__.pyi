from .reasons import Reason
from .source import Source

__all__ = [
    "Reason",
    "Source",
]
