"""How well questions are linked: python -m benchmarks.link_webqsp (WebQSP, 110,992 entities)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from tools.train_linker import wikidata

from benchmarks.harness import ROOT, WORK, Benchmark, Goal, shared_data
from benchmarks.spacy_peer import spacy_links
from kgraft.graph import Graph
from kgraft.graph.annotated import Annotated
from kgraft.link import LinkSettings, read_annotated, train_linker
from kgraft.link.decode import choose
from kgraft.link.evaluate import evaluate, find_links
from kgraft.link.knowledge import Knowledge, text_vectors
from kgraft.link.reading import read_spans
from kgraft.link.score import Found, figures, match
from kgraft.link.shipped import load_model
from kgraft.storage import sha256
from kgraft.vectors import index as entity_index
from kgraft.vectors.index import EntityIndex

ZERO_SHOT = ROOT / "build" / "linker-zero-shot"
SETTINGS = LinkSettings(
    epochs=10, patience=5, learning_rate=3e-4, unmarked_names=0.1, unmarked_words=0.3
)
PROTOCOL = """
Test questions of WebQSP against graphs/wikidata. Weak: the right entity and overlapping spans;
strong: the same span. Mentions whose entity the graph lacks count as missed. Fine-tuned: the
zero-shot model (tools.train_linker zero-shot: no question of WebQSP) trained on the train split,
epoch and threshold chosen on dev, whose annotation is partial: links of proper names that touch no
marked mention do not count there. On test everything counts. Zero-shot: the threshold is that of
its own held-out texts. Alias baseline: the longest names that are written like names, each with its
likeliest entity. spaCy: its named-entity recogniser and EntityLinker trained on the same split, the
same names and entity vectors as knowledge base. int8_index_f1_loss: weak F1 with an exact float
index minus that with the index as it is; index_recall10 on the mention vectors of test: how many of
the ten found are as near as the tenth of the exact index (entities of the same text are tied).
"""
GOALS: dict[str, Goal] = {
    "weak_f1": {"at_least": 0.91},
    "strong_f1": {"at_least": 0.88},
    "zero_shot_weak_f1": {"at_least": 0.84},
    "int8_index_f1_loss": {"at_most": 0.003},
    "index_recall10": {"at_least": 0.99},
}


def main() -> None:
    """Train, link and record."""
    data = shared_data()
    if data is None:
        return
    graph, folder = wikidata(data), data / "linking" / "webqsp"
    train, dev, test = (
        read_annotated(folder / f"{s}.jsonl", graph) for s in ("train", "dev", "test")
    )
    with Benchmark(
        "link_webqsp",
        protocol=PROTOCOL,
        data={"name": "webqsp", "sha256": sha256(folder / "test.jsonl")},
        seeds=[SETTINGS.seed],
        goals=GOALS,
    ) as run:
        tuned = fine_tuned(graph, train, dev)
        found = _record(run, "", tuned, graph, test)
        _record(run, "zero_shot_", ZERO_SHOT, graph, test)
        _record_index(run, tuned, graph, test, found)
        names = alias_links(Knowledge.of(graph, load_model(tuned)), test)
        run.figure("alias_baseline_f1", round(_f1(names, test), 4))
        run.figure("spacy_f1", round(_f1(spacy_links(graph, train, dev, test), test), 4))


def fine_tuned(graph: Graph, train: Annotated, dev: Annotated) -> Path:
    """Return the model trained on the train split, trained now if it is not there."""
    out = WORK / "linker-webqsp"
    if not out.exists():
        for epoch in train_linker(graph, train, out, valid=dev, settings=SETTINGS, start=ZERO_SHOT):
            shown = {name: round(value, 4) for name, value in epoch.figures.items()}
            print(f"epoch {epoch.number}, {epoch.seconds / 60:.1f} min: {shown}", flush=True)
    return out


def _record(run: Benchmark, prefix: str, folder: Path, graph: Graph, test: Annotated) -> Found:
    model = load_model(folder)
    found = find_links(model, Knowledge.of(graph, model), test.texts)
    for name, value in evaluate(found, test, model.config.threshold).items():
        run.figure(f"{prefix}{name}", round(value, 4))
    run.figure(f"{prefix}threshold", model.config.threshold)
    return found


def _record_index(
    run: Benchmark, folder: Path, graph: Graph, test: Annotated, found: Found
) -> None:
    """Compare the index with one that holds every vector as it is."""
    model = load_model(folder)
    knowledge = Knowledge.of(graph, model)
    stored = knowledge.index
    vectors = text_vectors(graph, model.config.encoder)
    entity_index.EXACT, before = len(vectors), entity_index.EXACT
    knowledge.index = EntityIndex.build(vectors.chunks, len(vectors), vectors.dimension)
    entity_index.EXACT = before
    exact = find_links(model, knowledge, test.texts)
    least = model.config.threshold
    loss = evaluate(exact, test, least)["weak_f1"] - evaluate(found, test, least)["weak_f1"]
    run.figure("int8_index_f1_loss", round(loss, 4))
    windows, named = model.encoder.windows(test.texts), knowledge.names.find(test.texts)
    spans = read_spans(model, windows, named)
    mentions = spans.vectors[spans.logits > 0]
    near, (_, dots) = stored.search(mentions, 10)[0], knowledge.index.search(mentions, 10)
    vectors_near = knowledge.index.take(near.ravel()).view(*near.shape, -1)
    as_near = torch.bmm(vectors_near, mentions[:, :, None])[:, :, 0].numpy() > dots[:, 9:] - 1e-4
    run.figure("index_recall10", round(float(as_near.mean()), 4))


def alias_links(knowledge: Knowledge, test: Annotated) -> Found:
    """Link the longest names that are written like names to their likeliest entity."""
    named = knowledge.names.find(test.texts)
    best = named.entity[named.candidates[:-1]]
    rows = np.flatnonzero(knowledge.facts[best, 0] > 0)
    start, end = named.start[rows], named.end[rows]
    kept = rows[choose((end - start).astype(float), start, end, 0.0)]
    text = named.text_of(named.start[kept])
    shift = named.bounds[text]
    columns = (named.start[kept] - shift, named.end[kept] - shift, best[kept])
    flags = np.ones(len(kept), bool)
    return Found(text, *columns, flags.astype(float), flags, best[kept][:, None])


def _f1(links: Found, test: Annotated) -> float:
    return figures(match(links, test), np.ones(len(links.text), bool))["weak_f1"]


if __name__ == "__main__":
    main()
