"""Annotated texts from plain columns."""

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Mentions


def annotated_texts(texts, text, start, end, gold):
    """Return texts with mentions start:end of some texts, and their gold entities."""
    return AnnotatedTexts(texts, Mentions.without_candidates(text, start, end, gold=gold))
