"""The dumbest sensible linkers, which every linker must beat.

alias        the longest names, compared without regard to case, each with its likeliest entity
capitalised  the same, but only names that begin with a capital in the text; in a text without
             capitals, names that the graph writes with capitals
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgraft.graph import Graph, Mentions
from kgraft.graph.names import Form, NameMatcher
from kgraft.link.decode import choose_spans


def alias_links(graph: Graph, texts: Sequence[str]) -> Mentions:
    """Link the longest names to their likeliest entity."""
    names = NameMatcher(graph).find(texts, exact=True)
    return _leftmost_longest(names, np.ones(len(names), bool))


def capitalised_links(graph: Graph, texts: Sequence[str]) -> Mentions:
    """Link the longest names that are written with a capital to their likeliest entity."""
    names = NameMatcher(graph).find(texts, exact=True)
    cased = np.array([text.lower() != text for text in texts], bool)
    spans = zip(names.text.tolist(), names.start.tolist(), strict=True)
    capital = np.fromiter((texts[t][s].isupper() for t, s in spans), bool, len(names))
    named = (names.forms[names.best] & (Form.UPPER | Form.MIXED)) > 0
    return _leftmost_longest(names, np.where(cased[names.text], capital, named))


def _leftmost_longest(names: Mentions, usable: np.ndarray) -> Mentions:
    shift = names.text * (int(names.end.max(initial=0)) + 1)
    start, end = names.start + shift, names.end + shift
    length = (end - start).astype(np.float64)
    return names.select(choose_spans(length, start, end, usable))
