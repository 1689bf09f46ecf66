"""Groups with a default command: `kgraft link TEXT` is short for `kgraft link text TEXT`."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.core import TyperGroup


class DefaultCommandGroup(TyperGroup):
    """A group that takes what is not one of its commands as arguments of its default command."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the default command first where none is named."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self.default, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed
