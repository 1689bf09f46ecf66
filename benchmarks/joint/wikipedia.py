"""A joint model, pre-trained once for several benchmarks on Wikidata and linked Wikipedia.

The graph is graphs/wikidata without the types of the entities by which classification chooses and
is measured, and without what it says they are an instance of. Texts: the first 85 of 100 linked
Wikipedia articles, 5 others to choose the epoch by.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    init_merge_norm,
    pretrain,
)
from kgraft.tasks.joint.classes import EntityClasses
from kgraft.text import Encoder
from kgraft.training import read_manifest
from kgraft.vectors import RefreshSettings

SEEDS = (0, 1, 2)
INSTANCE_OF = "P31"
SETTINGS = PretrainSettings(
    epochs=2, refresh=RefreshSettings(first=60, every=1), language_rate=1e-4, knowledge_rate=1e-3
)


class HiddenTypes(NamedTuple):
    """A graph that holds the types of some entities only, and the types that are asked for."""

    graph: Graph
    learnt: EntityClasses
    valid: EntityClasses
    test: EntityClasses


def hidden_types(data: Path) -> HiddenTypes:
    """Return Wikidata without the types of four fifths of its typed entities, built if need be."""
    original = open_graph("wikidata", data)
    learnt, valid, test = EntityClasses.of(original).split()
    apart = np.concatenate([valid.entity, test.entity])
    ids = set(original.entities["id"].take(apart).to_pylist())
    changes = {"entities": partial(_untyped, ids), "triples": partial(_no_instances, ids)}
    graph = altered_graph(data / "graphs" / "wikidata", WORK / "wikidata-hidden-types", changes)
    assert graph.entities["id"].equals(original.entities["id"])
    return HiddenTypes(graph, learnt, valid, test)


def _untyped(ids: set[str], entities: Table) -> Table:
    """Return entities, some of them without their types."""
    column = entities[0].index("types")
    rows = ([*row[:column], "", *row[column + 1 :]] if row[0] in ids else row for row in entities)
    return list(rows)


def _no_instances(ids: set[str], triples: Table) -> Table:
    """Return triples but those that say what some entities are an instance of."""
    return [row for row in triples if row[0] not in ids or row[1] != INSTANCE_OF]


def fresh(graph: Graph, config: JointConfig | None = None) -> JointModel:
    """Return a model that is not trained on any graph."""
    model = JointModel(Encoder.load(max_length=128), config)
    init_merge_norm(model, graph)
    return model


@dataclass(frozen=True)
class SavedModel:
    """A pre-trained model, loaded again by each call, and how it was made."""

    folder: Path

    def __call__(self) -> JointModel:
        """Load it."""
        return JointModel.from_pretrained(self.folder)

    @property
    def facts(self) -> dict[str, Any]:
        """Its settings, graph and texts."""
        return read_manifest(self.folder, JointModel).facts


def pretrained(
    data: Path,
    settings: PretrainSettings = SETTINGS,
    name: str = "joint-wikipedia",
    *,
    every: int = 1,
) -> SavedModel:
    """Return the pre-trained model; it is trained if it is not there.

    With `every` 2 it learns from every other passage.
    """
    graph, folder = hidden_types(data).graph, WORK / name
    articles = read_articles(data, graph)
    texts = articles.train.select(np.arange(0, len(articles.train), every))
    identity = {"valid": articles.valid.digest()}
    wanted = {
        "settings": settings.to_dict(),
        "graph": graph.manifest.version,
        "texts": texts.digest(),
        **identity,
    }
    if not is_current(folder, lambda: SavedModel(folder).facts, wanted):
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
    return SavedModel(folder)
