"""Which entities a text speaks of: its mentions, their candidates, and the best of each."""

from kgraft.graph.annotated import Annotated, annotate, read_annotated, split_texts
from kgraft.link.exporting import export_linker
from kgraft.link.linker import Link, Linker, Scored
from kgraft.link.model import LinkConfig, LinkModel
from kgraft.link.reporting import Report, report
from kgraft.link.sentences import graph_texts
from kgraft.link.settings import LinkSettings
from kgraft.link.train import train_linker

__all__ = [
    "Annotated",
    "Link",
    "LinkConfig",
    "LinkModel",
    "LinkSettings",
    "Linker",
    "Report",
    "Scored",
    "annotate",
    "export_linker",
    "graph_texts",
    "read_annotated",
    "report",
    "split_texts",
    "train_linker",
]
