"""Which entities a text speaks of: its mentions, their candidates, and the best of each.

What a name stands for is loaded when it is first used, so that linking one text does not wait for
the code of training.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgraft.link.adapt import Adaptation, adapt_linker, read_adaptation
    from kgraft.link.calibrate import calibrate_threshold
    from kgraft.link.exporting import export_linker
    from kgraft.link.files import link_file, read_or_link
    from kgraft.link.linker import Link, Linker, ScoredCandidate
    from kgraft.link.linking import LinkOptions
    from kgraft.link.model import LinkConfig, LinkModel
    from kgraft.link.reporting import Report, report
    from kgraft.link.settings import LinkSettings
    from kgraft.link.train import train_linker
    from kgraft.link.training_texts import TrainingTexts

_HOMES = {
    "Adaptation": "kgraft.link.adapt",
    "Link": "kgraft.link.linker",
    "LinkConfig": "kgraft.link.model",
    "LinkModel": "kgraft.link.model",
    "LinkOptions": "kgraft.link.linking",
    "LinkSettings": "kgraft.link.settings",
    "Linker": "kgraft.link.linker",
    "Report": "kgraft.link.reporting",
    "ScoredCandidate": "kgraft.link.linker",
    "TrainingTexts": "kgraft.link.training_texts",
    "adapt_linker": "kgraft.link.adapt",
    "calibrate_threshold": "kgraft.link.calibrate",
    "export_linker": "kgraft.link.exporting",
    "link_file": "kgraft.link.files",
    "read_adaptation": "kgraft.link.adapt",
    "read_or_link": "kgraft.link.files",
    "report": "kgraft.link.reporting",
    "train_linker": "kgraft.link.train",
}
__all__ = [
    "Adaptation",
    "Link",
    "LinkConfig",
    "LinkModel",
    "LinkOptions",
    "LinkSettings",
    "Linker",
    "Report",
    "ScoredCandidate",
    "TrainingTexts",
    "adapt_linker",
    "calibrate_threshold",
    "export_linker",
    "link_file",
    "read_adaptation",
    "read_or_link",
    "report",
    "train_linker",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
