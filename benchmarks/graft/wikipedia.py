"""Encoders that read linked Wikipedia with knowledge and without, trained once for two benchmarks.

The graph is graphs/wikidata with the templates of wiki27k's relations, and without what it says of
any two entities that a valid or test triple of wiki27k joins, so that these facts are held out of
its triples (descriptions may tell some).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.cached import graft_is_current
from benchmarks.data.altered_graph import Table, altered_graph, read_table
from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.graft.masked_start import masked_start
from benchmarks.harness import WORK
from kgraft.graft import (
    GraftedEncoder,
    GraftSettings,
    GraphKnowledge,
    locate_mentions,
    open_knowledge,
    train_graft,
)
from kgraft.graph import Graph
from kgraft.text import Encoder, MaskedHead

SEEDS = (0, 1, 2)
LAYER = 5
SETTINGS = GraftSettings(
    linker_epochs=0, epochs=2, masked_fraction=0.9, gold_fraction=0.9, frozen_layers=3,
    graft_rate=5e-4, host_rate=1e-4, above_rate=1e-4, head_rate=5e-4,
)  # fmt: skip


def wikipedia_knowledge(data: Path, *, mask_token: str | None = None) -> GraphKnowledge:
    """Return the knowledge of the graph, built if it is not there.

    With a mask token it recalls facts: it predicts the words behind that token.
    """
    graphs = data / "graphs"
    changes = {"triples": partial(_held_out, graphs), "relations": partial(_with_templates, graphs)}
    graph = altered_graph(graphs / "wikidata", WORK / "wikidata-held-out", changes)
    return open_knowledge(
        graph.folder, kind="fact-recall" if mask_token else None, mask_token=mask_token
    )


def _held_out(graphs: Path, triples: Table) -> Table:
    """Return triples without those between two entities that wiki27k asks for."""
    asked = (read_table(graphs / "wiki27k" / f"{name}.tsv")[1:] for name in ("valid", "test"))
    apart = {frozenset((head, tail)) for rows in asked for head, _, tail in rows}
    return [row for row in triples if frozenset((row[0], row[2])) not in apart]


def _with_templates(graphs: Path, relations: Table) -> Table:
    """Return relations with the templates of wiki27k."""
    names, *rows = read_table(graphs / "wiki27k" / "relations.tsv")
    column = names.index("template")
    templates = {row[0]: row[column] for row in rows}
    head, *rows = relations
    return [[*head, "template"], *([*row, templates.get(row[0], "")] for row in rows)]


def named_triples(graph: Graph, rows: np.ndarray | None = None) -> list[tuple[str, str, str]]:
    """Return triples by the ids of their parts."""
    triples = graph.triples if rows is None else graph.triples.take(rows)
    entities, relations = (table["id"].to_pylist() for table in (graph.entities, graph.relations))
    columns = zip(triples.head, triples.relation, triples.tail, strict=True)
    return [(entities[h], relations[r], entities[t]) for h, r, t in columns]


def trained(
    knowledge: GraphKnowledge, data: Path, seed: int, *, use_knowledge: bool
) -> tuple[GraftedEncoder, MaskedHead]:
    """Return an encoder and its head, trained if they are not there."""
    folder = WORK / f"grafted-wikipedia.{'on' if use_knowledge else 'off'}.{seed}"
    settings = SETTINGS.replace(seed=seed)
    settings = settings if use_knowledge else settings.without_knowledge()
    articles = read_articles(data, knowledge.graph)
    identity = {"texts": articles.train.digest(), "valid": articles.valid.digest()}
    if not graft_is_current(folder, settings, identity):
        start = masked_start(data)
        host = Encoder.load(start, max_length=128)
        encoder = GraftedEncoder(host, {LAYER: knowledge}, seed=seed)
        for epoch in train_graft(
            encoder,
            locate_mentions(
                encoder, articles.train, LAYER, add_annotated=True, trust_unambiguous=True
            ),
            folder,
            valid=locate_mentions(encoder, articles.valid, LAYER),
            head=MaskedHead.load(start, encoder).train(),
            settings=settings,
            identity=identity,
            overwrite=True,
            use_knowledge=use_knowledge,
        ):
            print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    encoder = GraftedEncoder.from_pretrained(folder, {LAYER: knowledge})
    encoder.max_length = 128
    return encoder, MaskedHead.load(folder, encoder)
