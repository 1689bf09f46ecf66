"""What the graph says of an entity, whatever the text: how it is written, known and described."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.graph import Graph
from kgraft.graph.columns import numbers

KNOWN = 5.0  # log degree of an entity that a graph of common size knows well


def entity_facts(graph: Graph) -> np.ndarray:
    """Return for each entity whether its label is written like a name, log degree, described.

    As an (N, 3) float32. A label is written like a name unless it is all in small letters.
    """
    label, triples, count = graph.entities["label"], graph.triples, len(graph.entities)
    degree = np.bincount(triples.head, minlength=count) + np.bincount(triples.tail, minlength=count)
    facts = np.empty((count, 3), np.float32)
    facts[:, 0] = ~_true(pc.equal(pc.utf8_lower(label), label))
    facts[:, 1] = np.log1p(degree) / KNOWN
    facts[:, 2] = _true(pc.not_equal(graph.entities["description"], ""))
    return facts


def _true(column: pa.ChunkedArray) -> np.ndarray:
    """Return which rows are true; unknown ones are not."""
    return numbers(pc.fill_null(column, fill_value=False)).astype(bool)
