"""Writes benchmarks/RESULTS.md, and figures into README and docs: python -m benchmarks.report.

RESULTS.md holds all figures with their protocols. In README.md and docs/, whatever stands between
<!-- figures:NAME --> and <!-- /figures --> is made from benchmarks/results/NAME.json and from
nothing else; <!-- figures:NAME one two --> shows only these figures. The pictures
docs/graft-worth.svg and docs/joint-worth.svg show what the results say that knowledge is worth,
docs/joint-losses.svg what each loss of joint pre-training contributes. With --check nothing is
written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contributions import contributions_picture
from benchmarks.harness import ROOT, goal_text, met
from benchmarks.worth import worth_names, worth_picture, worth_table

BLOCK = re.compile(r"(<!-- figures:([\w -]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)
PICTURES: dict[str, Callable[[Path], str | None]] = {
    "graft-worth.svg": lambda results: worth_picture(results, "graft_*.json"),
    "joint-worth.svg": lambda results: worth_picture(results, "joint_*.json"),
    "joint-losses.svg": lambda results: contributions_picture(results / "joint_losses.json"),
}
MARK = re.compile(r"<!-- figures:[\w -]+ -->")
PAGE = Path("benchmarks") / "RESULTS.md"
OPENING = """# Results

All figures that `make bench-NAME` has measured, with how they were measured. Made by `make report`
from [benchmarks/results](results), which also hold machine, versions, seeds and the digest of the
data; do not edit.
"""


def results_page(results: Path) -> str:
    """Return the page of all results."""
    sections = [OPENING]
    for path in sorted(results.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        tree = "" if result.get("clean_tree", True) else ", with changes"
        made = f"Commit {result.get('commit', 'unknown')[:8]}{tree}. "
        made += f"{result['duration_seconds'] / 60:.1f} minutes."
        protocol = result["protocol"]
        sections.append(f"## {path.stem}\n\n{protocol}\n\n{made}\n\n{table(path.stem, results)}")
    return "\n".join(sections)


def table(name: str, results: Path, chosen: Sequence[str] = ()) -> str:
    """Return the Markdown table of one benchmark, or of some of its figures."""
    path = results / f"{name}.json"
    if not path.exists():
        return f"Not measured: run `make bench-{name}`.\n"
    result = json.loads(path.read_text(encoding="utf-8"))
    figures = result["figures"]
    unknown = [figure for figure in chosen if figure not in figures]
    if unknown:
        raise ValueError(f"{name} has no figure {unknown[0]}")
    if chosen:
        figures = {figure: figures[figure] for figure in chosen}
    apart = worth_names(figures)
    apart -= result["goals"].keys()
    rows = [_row(name, value, result) for name, value in figures.items() if name not in apart]
    if rows:
        rows = ["| figure | measured | goal | met |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([*worth_table(figures), *rows]).rstrip() + "\n"


def _row(figure: str, value: float, result: dict[str, Any]) -> str:
    goal, spread = result["goals"].get(figure), result["spread"].get(figure)
    measured = number(value)
    if spread:
        measured += f" ({number(spread['min'])} to {number(spread['max'])})"
    wanted, verdict = (goal_text(goal), met(value, goal)) if goal else ("", "")
    return f"| `{figure}` | {measured} | {wanted} | {verdict} |"


def number(value: float) -> str:
    """Return a number with three significant digits, whole ones in full.

    >>> number(0.98765), number(20600000), number(1234.5)
    ('0.988', '20,600,000', '1,234')
    """
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def fill(text: str, results: Path) -> str:
    """Return a page with every block made anew."""

    def made(block: re.Match[str]) -> str:
        name, *chosen = block[2].split()
        return block[1] + table(name, results, chosen) + block[4]

    filled = BLOCK.sub(made, text)
    blocks = [found[3] for found in BLOCK.finditer(text)]
    if len(MARK.findall(text)) != len(blocks) or any(MARK.search(body) for body in blocks):
        raise ValueError("a figures block is not closed by <!-- /figures -->")
    return filled


def outdated(root: Path) -> dict[Path, str]:
    """Return the pages that differ from what the results say, with what they should hold."""
    changed = {}
    every = results_page(root / "benchmarks" / "results")
    if not (root / PAGE).exists() or (root / PAGE).read_text(encoding="utf-8") != every:
        changed[root / PAGE] = every
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if page.exists():
            text = page.read_text(encoding="utf-8")
            try:
                filled = fill(text, root / "benchmarks" / "results")
            except ValueError as error:
                raise ValueError(f"{page.relative_to(root)}: {error}") from error
            if filled != text:
                changed[page] = filled
    for name, draw in PICTURES.items():
        picture, drawn = root / "docs" / name, draw(root / "benchmarks" / "results")
        if drawn and (not picture.exists() or picture.read_text(encoding="utf-8") != drawn):
            changed[picture] = drawn
    return changed


def main(arguments: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Rewrite the pages, or with --check only say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if out of date")
    check = parser.parse_args(arguments).check
    try:
        changed = outdated(root)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for page, text in changed.items():
        print(f"{page.relative_to(root)}: {'out of date, run make report' if check else 'updated'}")
        if not check:
            page.write_text(text, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
