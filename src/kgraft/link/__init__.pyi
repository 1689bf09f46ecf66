from .adapt import Adaptation, adapt_linker, read_adaptation
from .calibrate import calibrate_threshold
from .exporting import export_linker
from .files import link_file, read_or_link
from .linker import Link, Linker, ScoredCandidate
from .linking import LinkOptions
from .model import LinkConfig, LinkModel
from .reporting import Report, report
from .settings import LinkSettings
from .shipped import load_model
from .train import new_model, train_linker
from .training_texts import TrainingTexts

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
    "load_model",
    "new_model",
    "read_adaptation",
    "read_or_link",
    "report",
    "train_linker",
]
