"""A griffe extension: how docstrings and settings are shown in the reference."""

from __future__ import annotations

import ast
import re
from typing import Any

from griffe import Attribute, Class, ExprCall, Extension, Object

EXAMPLE = re.compile(r"^( *)>>> .*?(?=^\s*$|\Z)", re.DOTALL | re.MULTILINE)
TABLE = ["", "| setting | default | |", "| --- | --- | --- |"]


class Docstrings(Extension):
    """Shows examples as code, and settings as a table."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Fence the examples of a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fence, obj.docstring.value)

    def on_class_members(self, *, cls: Class, **kwargs: Any) -> None:  # noqa: ARG002
        """Describe the fields that are declared by `setting(default, help, …)`."""
        rows = []
        for name, member in cls.members.items():
            if not isinstance(member, Attribute) or not isinstance(member.value, ExprCall):
                continue
            if str(member.value.function) == "setting":
                default, help_text, *_ = member.value.arguments
                member.value = default
                rows.append(f"| `{name}` | `{default}` | {ast.literal_eval(str(help_text))} |")
        if rows and cls.docstring is not None:
            cls.docstring.value += "\n".join(["", *TABLE, *rows, ""])


def _fence(example: re.Match[str]) -> str:
    lines = [line.removeprefix(example[1]) for line in example[0].rstrip().splitlines()]
    return "\n".join(["", "```pycon", *lines, "```", ""])
