"""The demonstration: three sentences with ambiguous names, linked to the built-in graph.

python -m tools.demo [--svg FILE]      also as a picture
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.console import Console

from kgraft.cli.link.text import print_links
from kgraft.graph import Graph
from kgraft.link import Linker

SENTENCES = (
    "The river rises north of Atlanta and leaves Georgia at Savannah.",
    "The British scientist took the train from London to Cambridge, and paid in pounds.",
    "In 東京 they paid in yen, in Köln in euros. Swiss people speak German too.",
)


def main() -> None:
    """Run the demonstration."""
    out = Console(highlight=False, record=True, width=120)
    graph = Graph.open("world")
    linker = Linker(graph)
    out.print(f"[dim]{graph.manifest.entities:,} entities, {graph.manifest.triples:,} triples[/]")
    for sentence in SENTENCES:
        out.print(f'\n[dim]$[/] kgraft link [yellow]"{sentence}"[/]\n')
        print_links(out, graph, sentence, linker(sentence), facts=3)
    out.print("\n[dim]Next:[/]")
    out.print("  .venv/bin/kgraft graph show Kenya --to Brazil")
    guide = "docs/how-to/bring-your-graph.md"
    out.print(f"  .venv/bin/kgraft graph import YOUR-GRAPH --out mine   [dim]({guide})[/]")
    if sys.argv[1:2] == ["--svg"]:
        drawing = out.export_svg(title="make demo")
        fonts = r"@font-face \{.*?\}"  # fetched from the web
        drawing = re.sub(fonts, "", drawing, flags=re.DOTALL)
        Path(sys.argv[2]).write_text(drawing, "utf-8")


if __name__ == "__main__":
    main()
