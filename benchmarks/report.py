"""Writes benchmarks/RESULTS.md, and figures into README and docs: python -m benchmarks.report.

RESULTS.md holds all figures with their protocols. In README.md, docs/ and the NOTES.md beside
benchmarks, whatever stands between <!-- figures:NAME --> and <!-- /figures --> is made from
benchmarks/results/NAME.json and from nothing else; <!-- figures:NAME one two --> shows only these
figures, and <!-- figure:NAME one --> in the middle of a line the number alone. The pictures
docs/graft-knowledge.svg and docs/joint-knowledge.svg show what knowledge adds,
docs/joint-losses.svg what each loss of joint pre-training contributes. With --check nothing is
written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import charts
from benchmarks.catalogue import catalogue, goals_met
from benchmarks.differences import difference_figures, difference_table
from benchmarks.harness import OFF_SIDES, ROOT, Benchmark, goal_text, met

BLOCK = re.compile(r"(<!-- figures:([\w -]+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- figure:(\w+) (\w+) -->).*?(<!-- /figure -->)")
MARK = re.compile(r"<!-- figures:[\w -]+ -->")
PAGE = Path("benchmarks") / "RESULTS.md"
OPENING = """# Results

All figures that `make bench-NAME` has measured, with how they were measured. Made by `make report`
from [benchmarks/results](results), which also hold machine, versions, seeds and the digest of the
data; do not edit. What was tried on the way is in the `NOTES.md` beside the benchmarks. A figure
of several repeats or seeds is their median, with the least and the greatest in brackets.

What stands on the off side of a difference:

"""


@cache
def declared() -> dict[str, Benchmark]:
    """Return all benchmarks by the names of their results."""
    return {benchmark.name: benchmark for benchmark in catalogue().values()}


def results_page(results: Path) -> str:
    """Return the page of all results."""
    off_sides = [f"- *{name}*: {meaning}" for name, meaning in OFF_SIDES.items()]
    sections = [OPENING + "\n".join(off_sides) + "\n"]
    for path in sorted(results.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        parts = [f"## {path.stem}", *_measures(path.stem), result["protocol"], _made(result)]
        sections.append("\n\n".join([*parts, table(path.stem, results)]))
    return "\n".join(sections)


def _measures(name: str) -> list[str]:
    """Return the line on what a benchmark measures, none for one that is not declared."""
    return [f"**{declared()[name].measures}**"] if name in declared() else []


def _made(result: dict[str, Any]) -> str:
    """Return at which commit a result was made, how long that took, and how many goals it met."""
    tree = "" if result.get("clean_tree", True) else ", with changes"
    commit = f"Commit {result['commit'][:8]}{tree}." if result.get("commit") else _stored(result)
    minutes = f"{result['duration_seconds'] / 60:.1f} minutes (trained models may be reused)."
    reached, goals = goals_met(result)
    return f"{commit} {minutes} {f'{reached} of {goals} goals met.' if goals else 'No goals.'}"


def _stored(result: dict[str, Any]) -> str:
    """Return the commit that stored an older result, which does not name the one it measured."""
    if result.get("stored_in"):
        return f"Commit not recorded; stored in {result['stored_in'][:8]}."
    return "Commit not recorded."


def table(name: str, results: Path, chosen: Sequence[str] = ()) -> str:
    """Return the Markdown table of one benchmark, or of some of its figures or tasks."""
    path = results / f"{name}.json"
    if not path.exists():
        return f"Not measured: run `make bench-{name}`.\n"
    result = json.loads(path.read_text(encoding="utf-8"))
    figures = _choose(name, result["figures"], chosen)
    in_differences = difference_figures(figures) - result["goals"].keys()
    rows = [_row(n, value, result) for n, value in figures.items() if n not in in_differences]
    if rows:
        rows = ["| figure | measured | goal | met |", "| --- | --- | --- | --- |", *rows]
    off = declared()[name].off if name in declared() else ""
    return "\n".join([*difference_table(figures, off), *rows]).rstrip() + "\n"


def _choose(name: str, figures: dict[str, float], chosen: Sequence[str]) -> dict[str, float]:
    """Return the figures that a block names, all where it names none."""
    unknown = [figure for figure in chosen if figure not in figures]
    if unknown:
        raise ValueError(f"{name} has no figure {unknown[0]}")
    return {figure: figures[figure] for figure in chosen} if chosen else figures


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
    """Return a page with every block made again."""

    def make_block(block: re.Match[str]) -> str:
        name, *chosen = block[2].split()
        return block[1] + table(name, results, chosen) + block[4]

    def make_number(place: re.Match[str]) -> str:
        result = json.loads((results / f"{place[2]}.json").read_text(encoding="utf-8"))
        (value,) = _choose(place[2], result["figures"], [place[3]]).values()
        return place[1] + number(value) + place[4]

    filled = INLINE.sub(make_number, BLOCK.sub(make_block, text))
    blocks = [block[3] for block in BLOCK.finditer(text)]
    if len(MARK.findall(text)) != len(blocks) or any(MARK.search(body) for body in blocks):
        raise ValueError("a figures block is not closed by <!-- /figures -->")
    return filled


def outdated_pages(root: Path) -> dict[Path, str]:
    """Return the pages that differ from what the results say, with what they should hold."""
    changed = {}
    all_results = results_page(root / "benchmarks" / "results")
    if not (root / PAGE).exists() or (root / PAGE).read_text(encoding="utf-8") != all_results:
        changed[root / PAGE] = all_results
    for page in _pages_with_blocks(root):
        text = page.read_text(encoding="utf-8")
        try:
            filled = fill(text, root / "benchmarks" / "results")
        except ValueError as error:
            raise ValueError(f"{page.relative_to(root)}: {error}") from error
        if filled != text:
            changed[page] = filled
    return changed


def _pages_with_blocks(root: Path) -> Iterator[Path]:
    if (root / "README.md").exists():
        yield root / "README.md"
    yield from sorted((root / "docs").glob("**/*.md"))
    yield from sorted((root / "benchmarks").glob("*/NOTES.md"))


def pictures(root: Path) -> dict[Path, list[charts.DifferencePanel] | list[charts.LossPanel]]:
    """Return what each picture shows; one without a result is not drawn."""
    results, benchmarks = root / "benchmarks" / "results", list(declared().values())
    panels: dict[str, list[charts.DifferencePanel] | list[charts.LossPanel]] = {
        "graft-knowledge.svg": charts.difference_panels(results, "graft_*.json", benchmarks),
        "joint-knowledge.svg": charts.difference_panels(results, "joint_*.json", benchmarks),
        "joint-losses.svg": charts.loss_panels(results / "joint_losses.json"),
    }
    return {root / "docs" / name: shown for name, shown in panels.items() if shown}


def outdated_pictures(root: Path) -> list[Path]:
    """Return the pictures that were drawn of other results, or not at all."""
    return [
        file
        for file, panels in pictures(root).items()
        if not file.exists() or charts.digest_mark(panels) not in file.read_text(encoding="utf-8")
    ]


def main(arguments: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Rewrite pages and pictures, or with --check only say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if out of date")
    check = parser.parse_args(arguments).check
    try:
        pages = outdated_pages(root)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    changed = [*pages, *outdated_pictures(root)]
    for file in changed:
        print(f"{file.relative_to(root)}: {'out of date, run make report' if check else 'updated'}")
    if check:
        return 1 if changed else 0
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    for file, panels in pictures(root).items():
        charts.draw(panels, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
