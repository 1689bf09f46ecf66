"""A joint model, pre-trained once for several benchmarks on Wikidata and linked Wikipedia.

The graph is graphs/wikidata without the types of the entities by which classification chooses and
is measured, and without what it says they are an instance of. Texts: the first 85 of 100 linked
Wikipedia articles, 5 others to choose the epoch by.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cached import is_current
from benchmarks.data.altered_graph import Table, altered_graph
from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.data.texts import open_graph
from benchmarks.harness import WORK
from kgraft.graph import Graph
from kgraft.joint import (
    JointConfig,
    JointModel,
    PretrainSettings,
    begin_alike,
    load_joint,
    pretrain,
)
from kgraft.joint.saving import read_facts
from kgraft.tasks.entity_classes import EntityClasses
from kgraft.text import Encoder
from kgraft.vectors import RefreshSettings

SEEDS = (0, 1, 2)
INSTANCE_OF = "P31"
SETTINGS = PretrainSettings(
    epochs=2, refreshing=RefreshSettings(first=60, every=1), language_rate=1e-4, knowledge_rate=1e-3
)


class Untold(NamedTuple):
    """A graph that tells the types of some entities only, and all that are asked for."""

    graph: Graph
    learnt: EntityClasses
    valid: EntityClasses
    test: EntityClasses


def untold_types(data: Path) -> Untold:
    """Return Wikidata without the types of four fifths of its typed entities, built if need be."""
    whole = open_graph("wikidata", data)
    learnt, valid, test = EntityClasses.of(whole).split()
    apart = np.concatenate([valid.entity, test.entity])
    ids = set(whole.entities["id"].take(apart).to_pylist())
    changes = {"entities": partial(_untyped, ids), "triples": partial(_no_instances, ids)}
    graph = altered_graph(data / "graphs" / "wikidata", WORK / "wikidata-untold", changes)
    assert graph.entities["id"].equals(whole.entities["id"])
    return Untold(graph, learnt, valid, test)


def _untyped(ids: set[str], entities: Table) -> Table:
    """Return entities, some of them without their types."""
    column = entities[0].index("types")
    rows = ([*row[:column], "", *row[column + 1 :]] if row[0] in ids else row for row in entities)
    return list(rows)


def _no_instances(ids: set[str], triples: Table) -> Table:
    """Return triples but those that say what some entities are an instance of."""
    return [row for row in triples if row[0] not in ids or row[1] != INSTANCE_OF]


def fresh(graph: Graph, config: JointConfig | None = None) -> JointModel:
    """Return a model that has learnt nothing of any graph."""
    model = JointModel(Encoder.load(max_length=128), config)
    begin_alike(model, graph)
    return model


@dataclass(frozen=True)
class Pretrained:
    """A pre-trained model, loaded again by each call, and how it was made."""

    folder: Path

    def __call__(self) -> JointModel:
        """Load it."""
        return load_joint(self.folder)

    @property
    def facts(self) -> dict[str, Any]:
        """Its settings, graph and texts."""
        facts: dict[str, Any] = read_facts(self.folder)["facts"]
        return facts


def pretrained(
    data: Path,
    settings: PretrainSettings = SETTINGS,
    name: str = "joint-wikipedia",
    *,
    every: int = 1,
) -> Pretrained:
    """Return the pre-trained model; it is trained if it is not there.

    With `every` 2 it learns from every other passage.
    """
    graph, folder = untold_types(data).graph, WORK / name
    articles = read_articles(data, graph)
    texts = articles.train.select(np.arange(0, len(articles.train), every))
    identity = {"valid": articles.valid.digest()}
    whole = {
        **asdict(settings), "graph": graph.manifest.version, "texts": texts.digest(), **identity,
    }  # fmt: skip
    if not is_current(folder, lambda: Pretrained(folder).facts, whole):
        for epoch in pretrain(
            fresh(graph),
            graph,
            texts,
            folder,
            valid=articles.valid,
            settings=settings,
            identity=identity,
        ):
            print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    return Pretrained(folder)
