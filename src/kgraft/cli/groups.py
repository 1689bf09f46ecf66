"""The groups of commands, each imported when one of its commands is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from kgraft.cli.output import OneLineErrors

GROUPS = {
    "graph": "Import, look at, search, query, change, check and export graphs.",
    "embed": "Learn vectors from a graph's triples, measure them, and use them.",
    "link": "Find the entities of a graph in texts, and train what finds them.",
    "graft": "Plug a graph's knowledge into an encoder between two of its layers.",
    "joint": "Pre-train a graph module and a language module that feed each other (JAKET).",
    "reason": "Complete a graph by rules, paths and facts, and say why.",
    "ask": "Answer questions over a graph, and train what answers them.",
}


class Commands(OneLineErrors):
    """All groups by name; `kgraft.cli.NAME` has the commands of a group."""

    @property
    def commands(self) -> dict[str, Any]:
        """All groups, imported."""
        return {name: self.get_command(None, name) for name in GROUPS}

    @commands.setter
    def commands(self, value: object) -> None:
        """Take no others: `GROUPS` has all there are."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002
        """Return the names of the groups."""
        return list(GROUPS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Return a group, imported."""
        return _load(cmd_name) if cmd_name in GROUPS else None

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Show the groups by their summaries, without importing them."""
        summary = _Summaries(name=self.name, help=self.help, params=self.params)
        summary.epilog, summary.rich_markup_mode = self.epilog, self.rich_markup_mode
        summary.format_help(ctx, formatter)


class _Summaries(TyperGroup):
    """The groups as they are listed."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002
        return list(GROUPS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperGroup:  # noqa: ANN401, ARG002
        return TyperGroup(name=cmd_name, help=GROUPS[cmd_name])


@cache
def _load(name: str) -> Any:  # noqa: ANN401
    """Import a group."""
    app = import_module(f"kgraft.cli.{name}").app
    app.info.name = name
    return typer.main.get_group(app)
