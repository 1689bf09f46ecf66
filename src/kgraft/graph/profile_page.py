"""The profile of a graph as a picture: one page of SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from html import escape

from kgraft.graph.profile import GraphProfile, RelationProfile

WIDTH, MARGIN, ROW = 880, 20, 22
HALF = (WIDTH - 3 * MARGIN) // 2
RIGHT = 2 * MARGIN + HALF
BAR, INK, QUIET, LINE = "#2f7d5b", "#1c2733", "#66727f", "#e3e8ec"
RELATIONS, TYPES = 14, 7  # rows that are drawn
_HISTOGRAM = 120  # height of the highest bar
_LETTERS = 120  # of a line of advice


def profile_svg(profile: GraphProfile) -> str:
    """Return the picture as the text of an SVG file."""
    parts = [*_header(profile)]
    top = 96
    parts += _shares(profile, top)
    parts += _types(profile, top)
    top += 40 + ROW * max(len(profile.shares), min(TYPES, len(profile.types)))
    parts += _histogram(profile, top)
    parts += _facts(profile, top)
    top += _HISTOGRAM + 84
    drawn = profile.relations[:RELATIONS]
    parts += _relations(profile, drawn, top)
    top += 44 + ROW * len(drawn)
    lines = [*_advice_lines(profile)]
    parts += _advice(lines, top)
    height = top + (38 + 17 * len(lines) if lines else 0)
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"
 width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">
<rect width="{WIDTH}" height="{height}" fill="#fff"/>
{body}
</svg>
"""


def _text(x: float, y: float, text: str, style: str = "") -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return f'<text x="{x:.0f}" y="{y:.0f}"{" " if style else ""}{style}>{escape(plain)}</text>'


def _title(x: float, y: float, text: str, width: int = HALF) -> str:
    rule = f'<rect x="{x:.0f}" y="{y + 7:.0f}" width="{width}" height="1" fill="{LINE}"/>'
    return _text(x, y, text, 'font-weight="600"') + rule


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


def _header(profile: GraphProfile) -> Iterator[str]:
    counts = (
        f"{profile.entities:,} entities, {len(profile.relations):,} relations, "
        f"{profile.triples:,} triples"
    )
    held_out = ", ".join(f"{name} {count:,}" for name, count in profile.splits.items() if count)
    yield _text(MARGIN, 34, _short(profile.name, 60), 'font-size="20" font-weight="600"')
    yield _text(MARGIN, 58, f"{counts}  ({held_out})" if held_out else counts)


def _bars(
    x: float, top: float, rows: Mapping[str, float], shown: Mapping[str, str], most: float
) -> Iterator[str]:
    """Yield a row per name: the name, a bar, and the value as it is shown."""
    start, width = x + 150, HALF - 150 - 60
    for row, (name, value) in enumerate(rows.items()):
        y = top + ROW * row
        length = width * value / most if most else 0
        yield _text(x, y + 12, _short(name, 19))
        yield f'<rect x="{start:.0f}" y="{y + 1}" width="{width}" height="13" fill="{LINE}"/>'
        yield f'<rect x="{start:.0f}" y="{y + 1}" width="{length:.1f}" height="13" fill="{BAR}"/>'
        yield _text(start + width + 8, y + 12, shown[name], 'font-size="12"')


def _shares(profile: GraphProfile, top: float) -> Iterator[str]:
    yield _title(MARGIN, top, "entities that have …")
    shown = {name: f"{share:.0%}" for name, share in profile.shares.items()}
    yield from _bars(MARGIN, top + 20, profile.shares, shown, 1)


def _types(profile: GraphProfile, top: float) -> Iterator[str]:
    yield _title(RIGHT, top, f"types ({profile.type_count:,})")
    rows = dict([*profile.types.items()][:TYPES])
    shown = {name: f"{count:,}" for name, count in rows.items()}
    yield from _bars(RIGHT, top + 20, rows, shown, max(rows.values(), default=1))


def _histogram(profile: GraphProfile, top: float) -> Iterator[str]:
    """Yield the degrees: how many entities stand in so many triples."""
    yield _title(MARGIN, top, "entities by number of triples")
    bins = profile.degrees.histogram
    most, step = max(bins.values(), default=1), min(44, HALF / max(len(bins), 1))
    floor = top + 34 + _HISTOGRAM
    for column, (name, count) in enumerate(bins.items()):
        height = max(_HISTOGRAM * count / most, 1 if count else 0)
        x, middle = MARGIN + step * column, MARGIN + step * (column + 0.5) - 1
        box = f'width="{step - 3:.1f}" height="{height:.1f}" fill="{BAR}"'
        yield f'<rect x="{x:.1f}" y="{floor - height:.1f}" {box}/>'
        style = f'font-size="9" text-anchor="middle" fill="{QUIET}"'
        yield _text(middle, floor - height - 3, _brief(count), style)
        rotated = (
            f'font-size="9" text-anchor="end" transform="rotate(-40 {middle:.0f} {floor + 10})"'
        )
        low = name.partition("–")
        label = f"{_brief(int(low[0].replace(',', '')))}{'+' if low[1] else ''}"
        yield _text(middle + 3, floor + 10, label, rotated)


def _brief(count: int) -> str:
    """Return a number in few letters.

    >>> _brief(850), _brief(12_345), _brief(4_600_000)
    ('850', '12k', '4.6M')
    """
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            number = count / size
            return f"{number:.0f}{letter}" if number >= 10 else f"{number:.1f}{letter}"
    return str(count)


def _facts(profile: GraphProfile, top: float) -> Iterator[str]:
    yield _title(RIGHT, top, "names and connections")
    names, degrees = profile.names, profile.degrees
    ambiguous = names.ambiguous / max(names.names, 1)
    rows = {
        "names": f"{names.names:,}, {ambiguous:.1%} of them mean several entities",
        "most ambiguous": f"{_short(names.most_ambiguous, 26)} ({names.most_entities} entities)",
        "shared labels": f"{names.shared_labels:,} entities have the label of another one",
        "degree": f"mean {degrees.mean:.1f}, median {degrees.median:g}, up to {degrees.highest:,}",
        "largest hub": _short(next(iter(degrees.hubs), "none"), 40),
        "connected parts": f"{profile.components:,}; the largest has "
        f"{profile.largest_component:.0%} of the entities",
        "leakage": profile.leakage,
    }
    for row, (name, text) in enumerate(rows.items()):
        y = top + 32 + ROW * row
        yield _text(RIGHT, y, name, f'fill="{QUIET}"')
        yield _text(RIGHT + 120, y, text, 'font-size="12"')


def _relations_title(profile: GraphProfile, drawn: int) -> str:
    counts = ", ".join(f"{kind}: {n}" for kind, n in profile.cardinalities().items() if n)
    more = len(profile.relations) - drawn
    return f"relations ({counts})" + (f", the {drawn} largest" if more else "")


def _relations(
    profile: GraphProfile, drawn: tuple[RelationProfile, ...], top: float
) -> Iterator[str]:
    yield _title(MARGIN, top, _relations_title(profile, len(drawn)), WIDTH - 2 * MARGIN)
    most = max((relation.triples for relation in drawn), default=1) or 1
    start, width = MARGIN + 230, 300
    for row, relation in enumerate(drawn):
        y = top + 20 + ROW * row
        length = width * relation.triples / most
        yield _text(MARGIN, y + 12, _short(relation.label.replace("_", " "), 34))
        yield f'<rect x="{start}" y="{y + 1}" width="{length:.1f}" height="13" fill="{BAR}"/>'
        yield _text(start + length + 6, y + 12, f"{relation.triples:,}", 'font-size="12"')
        yield _text(start + width + 70, y + 12, relation.cardinality, 'font-weight="600"')
        style = f'font-size="12" fill="{QUIET}"'
        yield _text(start + width + 110, y + 12, _short(_mirrors(relation), 26), style)


def _mirrors(relation: RelationProfile) -> str:
    parts = ["symmetric"] if relation.symmetric else []
    parts += [f"inverse of {', '.join(relation.inverse_of)}"] if relation.inverse_of else []
    parts += [f"same as {', '.join(relation.duplicate_of)}"] if relation.duplicate_of else []
    return "; ".join(parts)


def _advice_lines(profile: GraphProfile) -> Iterator[str]:
    for sentence in profile.advice:
        lines = textwrap.wrap(sentence, _LETTERS, break_on_hyphens=False)
        yield f"• {lines[0]}"
        yield from lines[1:]


def _advice(lines: list[str], top: float) -> Iterator[str]:
    if lines:
        yield _title(MARGIN, top, "what would help", WIDTH - 2 * MARGIN)
    for row, line in enumerate(lines):
        indent = 0 if line.startswith("•") else 9
        yield _text(MARGIN + indent, top + 26 + 17 * row, line, 'font-size="12"')
