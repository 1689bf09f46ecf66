from .export import Writer
from .formats import Format, Sign
from .options import SourceOptions

__all__ = [
    "Format",
    "Sign",
    "SourceOptions",
    "Writer",
]
