"""The linker that comes with the package: small weights for the default encoder."""

from __future__ import annotations

from pathlib import Path

from kgraft.link.model import LinkModel

SHIPPED = Path(__file__).parent.parent / "data" / "linker"


def load_model(folder: str | Path | None = None) -> LinkModel:
    """Load a link model for use; None is the shipped one."""
    return LinkModel.from_pretrained(folder or SHIPPED)
