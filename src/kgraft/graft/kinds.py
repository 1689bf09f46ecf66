"""The kinds of grafts: how what is known comes into what is read."""

from __future__ import annotations

from typing import Literal

from kgraft.graft.attention import KnowledgeAttention
from kgraft.graft.injection import EntityInjection, RelationInjection

Kind = Literal["attention", "entity", "relation"]

KINDS: dict[str, type[KnowledgeAttention] | type[EntityInjection]] = {
    "attention": KnowledgeAttention,
    "entity": EntityInjection,
    "relation": RelationInjection,
}
"""By name; see each class for when to choose it."""
