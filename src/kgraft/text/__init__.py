"""What is read: encoders, windows of text, characters and tokens, batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgraft.text.batching import length_batches
from kgraft.text.windows import Places, Windows

if TYPE_CHECKING:
    from kgraft.text.encoder import Encoder, TokenVectors

__all__ = ["Encoder", "Places", "TokenVectors", "Windows", "length_batches"]


def __getattr__(name: str) -> object:
    """Load the encoder, and torch with it, when it is first asked for."""
    if name not in ("Encoder", "TokenVectors"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kgraft.text import encoder

    found: object = getattr(encoder, name)
    return found
