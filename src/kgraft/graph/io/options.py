"""What the user says of a source: its columns, its language, its blank nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgraft.errors import BadInput
from kgraft.graph.io.tables.column_names import EDGE_ROLES, FIELDS
from kgraft.graph.structure import BLANK_NODES, BlankNodes

Undeclared = Literal["add", "refuse"]


@dataclass(frozen=True)
class TableOptions:
    """What the user says of a table: its columns by role, its header, undeclared entities."""

    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    undeclared: Undeclared = "add"

    def __post_init__(self) -> None:
        roles = (*EDGE_ROLES, *FIELDS)
        for role in self.columns:
            if role not in roles:
                remedy = f"columns can be named for {', '.join(roles)}"
                raise BadInput(f"unknown column {role!r}", remedy=remedy)

    def columns_of(self, roles: Iterable[str]) -> dict[str, str]:
        """Return what the user said of the columns of some roles."""
        return {role: self.columns[role] for role in roles if role in self.columns}


@dataclass(frozen=True)
class SourceOptions(TableOptions):
    """The options of all formats; a format uses those that concern it."""

    lang: str = "en"
    blank_nodes: BlankNodes = "fold"
    external_ids: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blank_nodes not in BLANK_NODES:
            remedy = f"use one of {', '.join(BLANK_NODES)}"
            raise BadInput(f"unknown treatment of blank nodes {self.blank_nodes!r}", remedy=remedy)
