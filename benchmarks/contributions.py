"""What each loss contributes, as a picture: what a figure falls short by when the loss is left out.

A benchmark tells it by the figures TASK_contribution_of_LOSS.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

from benchmarks.worth import INK, OFF, ON, QUIET, WIDTH

TOLD = re.compile(r"(\w+)_contribution_of_(\w+)")
LEFT, BAR, ROW, GROUP = 160, 220, 24, 34  # BAR: to either side of nothing


def contributions_picture(path: Path) -> str | None:
    """Return the contributions that a result tells of as an SVG, None where it tells of none."""
    if not path.exists():
        return None
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
    found = [(*match.groups(), figures[name]) for name in figures if (match := TOLD.match(name))]
    tasks = dict.fromkeys(task for task, _, _ in found)
    greatest = max((abs(value) for _, _, value in found), default=0.0)
    if not greatest:
        return None
    parts, y = [], 12
    for task in tasks:
        parts.append(f'<text x="10" y="{y + 16}" font-weight="600">{escape(task)}</text>')
        y += GROUP - 8
        for of, loss, value in found:
            if of == task:
                parts.append(_row(loss, value, value / greatest * BAR, y))
                y += ROW
        y += 8
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}"
 width="{WIDTH}" height="{y}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">
<rect width="{WIDTH}" height="{y}" fill="#fff"/>
<line x1="{LEFT + BAR}" x2="{LEFT + BAR}" y1="8" y2="{y - 8}" stroke="{QUIET}"/>
{body}
</svg>
"""


def _row(loss: str, value: float, width: float, y: int) -> str:
    """Return a loss with its bar, to the right where it helps."""
    middle = LEFT + BAR
    begin, colour = (middle, ON) if value >= 0 else (middle + width, OFF)
    label = f'x="{middle + width + 6:.1f}"' if value >= 0 else f'x="{middle + 6}"'
    return f"""<text x="24" y="{y + 14}">{escape(loss)}</text>
<rect x="{begin:.1f}" y="{y + 3}" width="{abs(width):.1f}" height="15" rx="2" fill="{colour}"/>
<text {label} y="{y + 15}" font-size="11">{value:+.3f}</text>"""
