"""Values of properties as columns of texts, as `tables.literal_rows` reads them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, numbers
from kgraft.graph.graph import Graph
from kgraft.graph.io.tables.literal_rows import LINK_NAME
from kgraft.graph.iri_names import made_label
from kgraft.graph.literals import LINK, labels_in

ROWS = 1 << 17  # rows written at a time


def literal_blocks(graph: Graph) -> Iterator[pa.Table]:
    """Yield the values of a graph, block by block, all with the same columns of texts.

    There is a column `relation` where values are about relations, and one for labels of properties
    where these could not be told from the rest of the graph.
    """
    tables = graph.literal_tables
    labels = _unsaid_labels(graph)
    of_relation = bool((tables.entity < 0).any())
    for first in range(0, len(tables), ROWS):
        rows = tables.literals.slice(first, ROWS)
        columns = _columns(graph, rows, flat(tables.datatypes["id"]))
        if not of_relation:
            del columns["relation"]
        if pc.any(pc.not_equal(labels, "")).as_py():
            columns["property_label"] = flat(labels.take(flat(rows["property"])))
        yield pa.table(columns)


def _columns(graph: Graph, rows: pa.Table, datatypes: pa.Array) -> dict[str, pa.Array]:
    number = numbers(rows["entity"])
    datatype = datatypes.take(flat(rows["datatype"]))
    tagged = pc.starts_with(datatype, "@")
    language = pc.if_else(tagged, pc.utf8_slice_codeunits(datatype, 1), "")
    datatype = pc.if_else(
        tagged, "", pc.replace_with_mask(datatype, pc.equal(datatype, LINK), LINK_NAME)
    )
    ids = flat(graph.literal_tables.properties["id"])
    return {
        "entity": _ids(graph.entities["id"], number),
        "relation": _ids(graph.relations["id"], -1 - number),
        "property": ids.take(flat(rows["property"])),
        "value": flat(rows["value"]).cast(pa.string()),
        "datatype": datatype,
        "language": language,
    }


def _ids(column: pa.ChunkedArray, number: np.ndarray) -> pa.Array:
    """Return the ids of some rows, an empty text for negative ones."""
    return pc.fill_null(flat(column.take(pa.array(number, mask=number < 0))), "")


def _unsaid_labels(graph: Graph) -> pa.Array:
    """Return the labels of properties that are not those of relations, entities or IRIs."""
    properties = graph.literal_tables.properties
    implied = labels_in(flat(properties["id"]), graph.relations, graph.entities)
    pairs = zip(properties["id"].to_pylist(), properties["label"].to_pylist(), strict=True)
    labels = [
        "" if item in implied or label == made_label(item) else label for item, label in pairs
    ]
    return pa.array(labels, pa.string())
