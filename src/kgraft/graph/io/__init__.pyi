from .arrays import to_edge_index, to_labelled_triples, to_networkx
from .export import Writer, export_graph
from .formats import Format, Sign, find_format, open_source
from .options import SourceOptions
from .readers import FORMATS
from .tables.in_memory import TablesSource, from_networkx
from .writers import WRITERS

__all__ = [
    "FORMATS",
    "WRITERS",
    "Format",
    "Sign",
    "SourceOptions",
    "TablesSource",
    "Writer",
    "export_graph",
    "find_format",
    "from_networkx",
    "open_source",
    "to_edge_index",
    "to_labelled_triples",
    "to_networkx",
]
