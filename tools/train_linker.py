"""Train the linker that ships with kgraft, from the public texts of the data folder.

    python -m tools.train_linker zero-shot build/linker-zero-shot   no question of WebQSP
    python -m tools.train_linker shipped src/kgraft/data/linker     from there, with those of train

Texts: linked Wikipedia sentences, sentences of relation corpora whose two entities are known, and
sentences made from the graph's own facts. Both go on where they stopped.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import ROOT, WORK, shared_data

from kgraft.graph import Graph, build_graph, open_source
from kgraft.graph.annotated import Annotated, annotate, joined, read_annotated
from kgraft.link.sentences import graph_texts
from kgraft.link.settings import LinkSettings
from kgraft.link.train import train_linker
from kgraft.training import stream

GRAPH_TEXTS = 24_000
OTHERS = 7_000  # texts that the shipped linker reads again beside the questions
QUESTIONS = 3  # times that WebQSP's few questions are among them
VALID = 800
SETTINGS = LinkSettings(epochs=1, unmarked_names=0.1, unmarked_words=0.4, batch_tokens=1536)
LAST = SETTINGS.changed(learning_rate=2e-4)
ZERO_SHOT = ROOT / "build" / "linker-zero-shot"
CARD = Path(__file__).with_name("linker_card.md")

Example = tuple[str, list[dict[str, Any]]]


def main() -> None:
    """Train one of the two."""
    kind, out = sys.argv[1], Path(sys.argv[2])
    data = shared_data()
    if data is None:
        return
    graph = wikidata(data)
    texts = read_texts(data, graph)
    order = stream(SETTINGS.seed, len(texts)).permutation(len(texts))
    valid, train = texts.part(np.sort(order[:VALID])), texts.part(np.sort(order[VALID:]))
    settings, start, figures = SETTINGS, None, {}
    if kind == "shipped":
        questions = read_annotated(data / "linking" / "webqsp" / "train.jsonl", graph)
        others = texts.part(np.sort(order[VALID : VALID + OTHERS]))
        train = joined([others, *[questions] * QUESTIONS])
        settings, start = LAST, ZERO_SHOT
    for epoch in train_linker(graph, train, out, valid=valid, settings=settings, start=start):
        figures = {name: round(value, 4) for name, value in epoch.figures.items()}
        losses = {name: round(value, 3) for name, value in epoch.losses.items()}
        print(epoch.number, f"{epoch.seconds / 60:.1f} min", losses, figures, flush=True)
    if kind == "shipped" and figures:
        card = CARD.read_text(encoding="utf-8").format(settings=SETTINGS, last=LAST, **figures)
        (out / "README.md").write_text(card, encoding="utf-8")


def wikidata(data: Path) -> Graph:
    """Open the graph that the texts speak of, built if it is not there."""
    folder = WORK / "wikidata"
    if not folder.exists():
        build_graph(open_source(data / "graphs" / "wikidata"), folder, name="wikidata")
    return Graph.open(folder)


def read_texts(data: Path, graph: Graph) -> Annotated:
    """Return all texts but questions."""
    return joined(
        [
            read_annotated(data / "corpus" / "wikipedia_linked.jsonl.gz", graph),
            annotate(graph, _relation_sentences(data / "relations" / "wiki80" / "all.jsonl.gz")),
            annotate(graph, _relation_sentences(data / "relations" / "fewrel" / "val_wiki.jsonl")),
            graph_texts(graph, GRAPH_TEXTS),
        ]
    )


def _relation_sentences(path: Path) -> Iterator[Example]:
    """Yield sentences with their head and tail marked, half of them in small letters."""
    draw = stream(SETTINGS.seed)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            example = json.loads(line)
            text, small = example["text"], example["text"].lower()
            if len(small) == len(text) and draw.random() < 0.5:
                text = small
            yield text, [example["head"], example["tail"]]


if __name__ == "__main__":
    main()
