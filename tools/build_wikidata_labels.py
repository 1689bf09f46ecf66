"""Build src/kgraft/data/wikidata_labels.tsv: English labels of common properties and classes.

    python -m tools.build_wikidata_labels

A part of Wikidata rarely holds the properties and classes that its items use. Properties are all
that the graph `wikidata` of the data folder uses, classes the objects of its P31 and P279. Ids and
labels are Wikidata's own, CC0.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.harness import ROOT, shared_data

OUT = ROOT / "src" / "kgraft" / "data" / "wikidata_labels.tsv"
CLASS_RELATIONS = ("P31", "P279")  # instance of, subclass of


def main() -> None:
    """Write the table."""
    data = shared_data()
    if data is None:
        return
    graph = data / "graphs" / "wikidata"
    properties, items = _labels(graph / "relations.tsv"), _labels(graph / "entities.tsv")
    classes = _classes(graph / "triples.tsv")
    chosen = properties | {item: items[item] for item in classes if item in items}
    rows = sorted((item[0], int(item[1:]), label) for item, label in chosen.items())
    lines = [f"{letter}{number}\t{label}" for letter, number, label in rows]
    OUT.write_text("\n".join(["id\tlabel", *lines]) + "\n", encoding="utf-8")
    print(f"{OUT}: {len(properties)} properties, {len(lines) - len(properties)} classes")


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def _labels(path: Path) -> dict[str, str]:
    return {row[0]: row[1] for row in _rows(path) if row[1] and row[1] != row[0]}


def _classes(path: Path) -> Counter[str]:
    return Counter(row[2] for row in _rows(path) if row[1] in CLASS_RELATIONS)


if __name__ == "__main__":
    main()
