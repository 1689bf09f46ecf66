"""Abbreviations that a text defines otherwise: in "optical density (OD)", OD is not a disease.

An entity that is called by an abbreviation is not meant where the text says what the abbreviation
stands for, the entity has a name that it stands for too, and the two have no word in common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from kgraft.graph import Entity, Match, Mentions
from kgraft.graph.names import find_definitions, fold_name, may_stand_for, stem
from kgraft.link.knowledge import Knowledge


def defined_otherwise(knowledge: Knowledge, mentions: Mentions, texts: Sequence[str]) -> np.ndarray:
    """Return which candidates are called by an abbreviation that means something else, (C,)."""
    ruled_out = np.zeros(len(mentions.entity), bool)
    long_forms = [_long_forms(text) for text in texts]
    has_any = np.array([bool(forms) for forms in long_forms], bool)
    for row in np.flatnonzero(has_any[mentions.text] & (mentions.sizes > 0)).tolist():
        text = int(mentions.text[row])
        short = texts[text][mentions.start[row] : mentions.end[row]]
        if short in long_forms[text]:
            meant = long_forms[text][short]
            candidates = np.arange(*mentions.bounds[[row, row + 1]])
            entities = knowledge.entities(mentions.entity[candidates])
            for candidate in candidates[mentions.match[candidates] == Match.NAME].tolist():
                entity = entities[int(mentions.entity[candidate])]
                ruled_out[candidate] = _is_another(entity, short, meant)
    return ruled_out


def _long_forms(text: str) -> dict[str, set[str]]:
    """Return the stems of the long forms of each abbreviation that a text defines."""
    stems: defaultdict[str, set[str]] = defaultdict(set)
    if "(" in text:
        for definition in find_definitions(text):
            stems[definition.short] |= _stems(text[definition.start : definition.end])
    return stems


def _stems(name: str) -> set[str]:
    return {stem(word) for word in fold_name(name).split()} - {""}


def _is_another(entity: Entity, short: str, meant: set[str]) -> bool:
    names = (entity.label, *entity.aliases)
    stands_for_one = any(may_stand_for(short, name) for name in names if name != short)
    return stands_for_one and not any(_stems(name) & meant for name in names)
