"""HTML for notebooks: small tables without colours of their own, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LONGEST = 200  # characters of a text that are shown
_CELL = "text-align:left;vertical-align:top;padding:.1em .8em .1em 0"
_FAINT = "opacity:.65"


def html_block(
    title: str,
    rows: Iterable[Sequence[object]],
    *,
    subtitle: str = "",
    columns: Sequence[str] = (),
    note: str = "",
) -> str:
    """Return a title with a table below it; every text is escaped, a long one is shortened.

    >>> html_block("R&D", [["head", "Ada"]]).count("R&amp;D")
    1
    """
    faint = f' <span style="{_FAINT}">{_text(subtitle)}</span>' if subtitle else ""
    header = "".join(f'<th style="{_CELL};{_FAINT}">{_text(name)}</th>' for name in columns)
    lines = [f"<tr>{header}</tr>"] if columns else []
    lines += ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows]
    table = f'<table style="border-collapse:collapse">{"".join(lines)}</table>' if lines else ""
    end = f'<div style="{_FAINT}">{_text(note)}</div>' if note else ""
    return f"<div><div><b>{_text(title)}</b>{faint}</div>{table}{end}</div>"


def _cell(value: object) -> str:
    return f'<td style="{_CELL}">{_text(value)}</td>'


def _text(value: object) -> str:
    text = str(value).encode("utf-8", "replace").decode()
    return escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
