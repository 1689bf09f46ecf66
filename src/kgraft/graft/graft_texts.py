"""Texts prepared for training a graft."""

from __future__ import annotations

from dataclasses import dataclass

from kgraft.graft.windows import MentionWindows


@dataclass(frozen=True)
class GraftTexts:
    """Windows to train and to validate on, and what they are made of."""

    train: MentionWindows
    valid: MentionWindows
    digest: str
    description: str
