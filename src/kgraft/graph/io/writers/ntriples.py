"""A graph as N-Triples, from which `RdfSource` makes the same graph again.

Relations come first, then entities, each named in a comment and followed by its texts and values,
then the triples. What came from RDF keeps its IRIs, languages and datatypes; the comments tell
`RdfSource` the order and which IRIs are entities, and no other program minds them. A
triple of the validation or test split is written only as a reified statement that names its split,
so that no other program takes it for a fact to train on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, list_rows, lists_from_rows, numbers, string_buffers
from kgraft.graph.batches import ENTITY_SCHEMA, RELATION_SCHEMA, ROWS, SPLITS
from kgraft.graph.graph import Graph
from kgraft.graph.io.export import Writer
from kgraft.graph.io.rdf.iris import (
    HEADER,
    NAME_COUNTS,
    OURS,
    RDF,
    RDFS,
    SKOS,
    SPLIT,
    WIKIDATA,
    WIKIDATA_ID,
    iri_of,
    iris_of,
    is_writable,
    own_iri,
    property_iri,
)
from kgraft.graph.io.writers import WRITERS
from kgraft.graph.iri_names import made_label
from kgraft.graph.literals import LINK, XSD, LiteralTables
from kgraft.graph.texts_as_literals import unsaid_texts
from kgraft.progress import Progress

ALIAS = f"{SKOS}altLabel"
TEXTS = {"label": f"{RDFS}label", "description": f"{RDFS}comment"}
FIRST = ("label", "description", "aliases", "types", "name_counts")
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_WIKIDATA = {
    "entity": (r"^([QP][1-9][0-9]*)$", rf"{WIKIDATA}entity/\1"),
    "relation": (r"^(P[1-9][0-9]*)$", rf"{WIKIDATA}prop/direct/\1"),
}
_LANGUAGE = re.compile(r"@[A-Za-z]+(-[A-Za-z0-9]+)*")
Named = Literal["entity", "relation"]


def write_ntriples(graph: Graph, path: Path, *, progress: Progress) -> None:
    """Write the whole graph; it imports as the same graph."""
    with path.open("wb") as out:
        out.write(HEADER)
        for text in statements(graph, progress):
            _write(out, text)


def statements(graph: Graph, progress: Progress) -> Iterator[pa.Array]:
    """Yield the lines of a graph, those that belong together in one string."""
    entities, relations, triples = graph.entities, graph.relations, graph.triples
    progress.start("writing statements", len(relations) + len(entities) + len(triples))
    shared, own = _shared(entities, relations)
    short = _has_short_ids(graph)
    relation_iris = _iris(relations["id"], "relation", own, short)
    entity_iris = _iris(entities["id"], "entity", own, short)
    yield from _Described(
        relations, relation_iris, "relation", graph.literal_tables, entities, shared
    )(progress)
    yield from _Described(entities, entity_iris, "entity", graph.literal_tables, entities)(progress)
    for start in range(0, len(triples), ROWS):
        part = triples.take(slice(start, start + ROWS))
        head, tail = entity_iris.take(part.head), entity_iris.take(part.tail)
        yield from _triples(head, relation_iris.take(part.relation), tail, part.split, start)
        progress.advance(len(part))


def _triples(
    head: pa.Array, relation: pa.Array, tail: pa.Array, split: np.ndarray, start: int
) -> Iterator[pa.Array]:
    """Yield the triples of a block from row `start` on, reified where they are held out."""
    plain = pa.array(split == 0)
    yield _statement(head.filter(plain), relation.filter(plain), tail.filter(plain))
    for index in np.flatnonzero(np.isin(np.arange(len(SPLITS)), split[split > 0])):
        marked = np.flatnonzero(split == index)
        parts = (column.take(marked) for column in (head, relation, tail))
        yield _reified(marked + start, SPLITS[index], *parts)


def _shared(entities: pa.Table, relations: pa.Table) -> tuple[set[str], set[str]]:
    """Return the ids that are an entity and a relation, if both have the same texts, if not.

    What is said about an IRI is said about both, so the latter need an IRI of kgraft each.
    """
    ids = relations["id"].combine_chunks()
    both = set(entities["id"].filter(pc.is_in(entities["id"], ids)).to_pylist())
    if not both:
        return set(), set()
    extras = {*entities.column_names, *relations.column_names} - {"id", *FIRST}
    if extras:  # columns of one table must not turn up in the other
        return set(), both
    names = pa.array(sorted(both), pa.string())
    described = [
        {row["id"]: row for row in table.filter(pc.is_in(table["id"], names)).to_pylist()}
        for table in (entities, relations)
    ]
    same = {name for name in both if _texts(described[0][name]) == _texts(described[1][name])}
    same = {name for name in same if not iri_of(name, "relation").startswith(OURS)}
    return same, both - same


def _texts(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value}


def _iris(ids: pa.ChunkedArray, kind: Named, own: set[str], short: bool) -> pa.Array:
    """Return the ids as IRIs in angle brackets, or as blank nodes."""
    if short:
        ids = pc.replace_substring_regex(ids, *_WIKIDATA[kind])
    blocks = [_strings(ids.slice(start, ROWS)) for start in range(0, len(ids), ROWS)]
    wide = [_node(_written(block, kind, own, short)).cast(pa.large_string()) for block in blocks]
    return pa.concat_arrays(wide) if wide else pa.array([], pa.large_string())


def _written(ids: pa.Array, kind: Named, own: set[str], short: bool) -> pa.Array:
    """Return ids as IRIs; Wikidata's, made from short ids, are there already."""
    iris = iris_of(ids, kind, own=own)
    return pc.if_else(pc.match_substring_regex(ids, WIKIDATA_ID), ids, iris) if short else iris


def _has_short_ids(graph: Graph) -> bool:
    """Whether ids such as Q42 are the short ones of Wikidata, as its readers make them."""
    return graph.manifest.source.endswith(("(rdf)", "(wikidata)"))


def _node(iris: pa.Array) -> pa.Array:
    return pc.if_else(pc.starts_with(iris, "_:"), iris, _join("<", iris, ">"))


class _Described:
    """All that is said about the rows of a table; of `silent` ids only that they are there."""

    def __init__(
        self,
        table: pa.Table,
        iris: pa.Array,
        kind: Named,
        literals: LiteralTables,
        entities: pa.Table,
        silent: Collection[str] = (),
    ) -> None:
        self.table, self.iris, self.kind = table, iris, kind
        of_entity = kind == "entity"
        self.literals, subject = literals_of(literals, of_entity=of_entity)
        self.bounds = np.searchsorted(subject, np.arange(len(table) + 1))
        self.unsaid = unsaid_texts(table, literals, of_entity=of_entity)
        self.types = _unsaid_types(table, self.literals, subject, literals, entities)
        self.properties = [f"<{property_iri(i)}>" for i in literals.properties["id"].to_pylist()]
        datatypes = literals.datatypes["id"].to_pylist()
        self.link = datatypes.index(LINK) if LINK in datatypes else -1
        self.datatypes = [_suffix(item) for item in datatypes]
        is_silent = pc.is_in(table["id"], pa.array(sorted(silent), pa.string()))
        self.silent = numbers(is_silent)

    def _comments(self) -> list[str]:
        """Return a line for each column that not all graphs have."""
        schema = ENTITY_SCHEMA if self.kind == "entity" else RELATION_SCHEMA
        extras = [name for name in self.table.column_names if name not in schema.names]
        return [f"# column of {self.kind} <{own_iri(name, 'column')}>\n" for name in extras]

    def __call__(self, progress: Progress) -> Iterator[pa.Array]:
        """Yield one string per row, block by block."""
        columns = set(self.table.column_names) - {"id"}
        names = [n for n in dict.fromkeys([*FIRST, *self.table.column_names]) if n in columns]
        yield pa.array(self._comments(), pa.string())
        for start in range(0, len(self.table), ROWS):
            rows = slice(start, min(start + ROWS, len(self.table)))
            subject = self.iris[rows].cast(pa.string())
            texts = _join(
                *(self._column(name, rows, subject) for name in names),
                self._values(rows, subject),
            )
            texts = pc.if_else(pa.array(self.silent[rows]), "", texts)
            yield _join(f"# {self.kind} ", subject, "\n", texts)
            progress.advance(len(subject))

    def _column(self, name: str, rows: slice, subject: pa.Array) -> pa.Array:
        """Return the statements that hold a column, one string per row."""
        values = self.table[name][rows]
        if pa.types.is_list(values.type):
            counts = name == "name_counts"
            return _counted(values, subject) if counts else self._listed(name, rows, subject)
        texts = _strings(values)
        if name in TEXTS:
            is_unsaid = getattr(self.unsaid, name)[rows]
        else:
            is_unsaid = numbers(pc.fill_null(pc.not_equal(texts, ""), False))
        literals = _literal(pc.fill_null(texts, ""))
        predicate = TEXTS.get(name) or own_iri(name, "column")
        return pc.if_else(pa.array(is_unsaid), _statement(subject, f"<{predicate}>", literals), "")

    def _listed(self, name: str, rows: slice, subject: pa.Array) -> pa.Array:
        row, items = list_rows(self.table[name][rows])
        first = len(list_rows(self.table[name][: rows.start])[0])
        unsaid = self.unsaid.aliases if name == "aliases" else self.types
        chosen = np.flatnonzero(unsaid[first : first + len(row)])
        row, items = row[chosen], _strings(items.take(pa.array(chosen)))
        owner = subject.take(pa.array(row))
        if name == "aliases":
            lines = _statement(owner, f"<{ALIAS}>", _literal(items))
        else:
            distinct = pc.dictionary_encode(items)
            named = [f"<{own_iri(item, 'type')}>" for item in distinct.dictionary.to_pylist()]
            iris = pa.array(named, pa.string()).take(distinct.indices)
            lines = _statement(owner, f"<{RDF}type>", iris)
        return pc.binary_join(lists_from_rows(row, lines, len(subject)), "")

    def _objects(self, block: pa.Table) -> pa.Array:
        """Return literals as they stand in a statement: with a datatype, or as a link."""
        datatype = pa.array(self.datatypes, pa.string()).take(flat(block["datatype"]))
        texts = _strings(block["value"])
        links = _writable_links(texts, pc.equal(flat(block["datatype"]), self.link))
        return pc.if_else(links, _join("<", texts, ">"), _join(_literal(texts), datatype))

    def _values(self, rows: slice, subject: pa.Array) -> pa.Array:
        """Return the statements that hold the literals, one string per row."""
        bounds = self.bounds[rows.start : rows.stop + 1]
        block = self.literals.slice(bounds[0], bounds[-1] - bounds[0])
        row = np.repeat(np.arange(len(subject)), np.diff(bounds))
        property_ = pa.array(self.properties, pa.string()).take(flat(block["property"]))
        lines = _statement(subject.take(pa.array(row)), property_, self._objects(block))
        return pc.binary_join(lists_from_rows(row, lines, len(subject)), "")


def _writable_links(texts: pa.Array, links: pa.Array) -> pa.Array:
    """Return which of the texts that are links can be written as IRIs."""
    if not pc.any(links).as_py():
        return links
    iris = [is_writable(text) for text in texts.filter(links).to_pylist()]
    return pc.replace_with_mask(links, links, pa.array(iris))


def literals_of(literals: LiteralTables, *, of_entity: bool) -> tuple[pa.Table, np.ndarray]:
    """Return the literals of entities or of relations, in order of these, and their numbers."""
    entity = literals.entity
    first = int(np.searchsorted(entity, 0))
    if of_entity:
        return literals.literals.slice(first), entity[first:]
    rows = np.argsort(-1 - entity[:first], kind="stable")
    return literals.literals.take(pa.array(rows)), -1 - entity[:first][rows]


def _unsaid_types(
    table: pa.Table,
    rows: pa.Table,
    subject: np.ndarray,
    literals: LiteralTables,
    entities: pa.Table,
) -> np.ndarray:
    """Return which types (of all lists in order) no literal says."""
    if "types" not in table.column_names:
        return np.zeros(0, bool)
    owner, types = list_rows(table["types"])
    is_type = [item == f"{RDF}type" for item in literals.properties["id"].to_pylist()]
    chosen = np.flatnonzero(np.array(is_type, bool)[numbers(rows["property"])])
    if not len(chosen):
        return np.ones(len(owner), bool)
    named = _type_labels(_strings(rows["value"].take(pa.array(chosen))), entities)
    code = pc.dictionary_encode(pa.concat_arrays([_strings(types), named]))
    who = np.concatenate([owner, subject[chosen]]).astype(np.int64)
    pair = who << 32 | numbers(code.indices)
    return ~np.isin(pair[: len(owner)], pair[len(owner) :])


def _type_labels(types: pa.Array, entities: pa.Table) -> pa.Array:
    """Return the labels of types by their IRIs: of entities, or made from the IRIs."""
    ids = pc.dictionary_encode(types)
    position = pc.index_in(ids.dictionary, _strings(entities["id"]))
    made = pa.array([made_label(item) for item in ids.dictionary.to_pylist()], pa.string())
    return pc.coalesce(_strings(entities["label"].take(position)), made).take(ids.indices)


def _suffix(datatype: str) -> str:
    """Return what is written behind a literal of a datatype."""
    if not datatype or datatype.startswith("@"):
        return datatype if _LANGUAGE.fullmatch(datatype) else ""
    if datatype == LINK:  # of a text that is no IRI
        return f"^^<{XSD}anyURI>"
    return f"^^<{datatype if is_writable(datatype) else own_iri(datatype, 'datatype')}>"


def _counted(values: pa.ChunkedArray, subject: pa.Array) -> pa.Array:
    texts = [None if row is None else "|".join(map(str, row)) for row in values.to_pylist()]
    lines = _statement(subject, f"<{NAME_COUNTS}>", _literal(pa.array(texts, pa.string())))
    return pc.fill_null(lines, "")


def _reified(
    rows: np.ndarray, split: str, head: pa.Array, relation: pa.Array, tail: pa.Array
) -> pa.Array:
    node = _join("_:kgraft", pa.array(rows).cast(pa.string()))
    parts = (("subject", head), ("predicate", relation), ("object", tail))
    return _join(
        _statement(node, f"<{SPLIT}>", f'"{split}"'),
        _statement(node, f"<{RDF}type>", f"<{RDF}Statement>"),
        *(_statement(node, f"<{RDF}{name}>", column) for name, column in parts),
    )


def _statement(subject: pa.Array, predicate: pa.Array | str, value: pa.Array | str) -> pa.Array:
    return _join(subject, " ", predicate, " ", value, " .\n")


def _literal(texts: pa.Array) -> pa.Array:
    for character, escaped in ESCAPES.items():
        texts = pc.replace_substring(texts, character, escaped)
    return _join('"', texts, '"')


def _join(*parts: pa.Array | str) -> pa.Array:
    strings = [p.cast(pa.string()) if isinstance(p, pa.Array) else p for p in parts]
    return pc.binary_join_element_wise(*strings, "")


def _strings(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.cast(pa.string())


def _write(out: BinaryIO, texts: pa.Array) -> None:
    octets, _ = string_buffers(texts)
    out.write(octets.tobytes())


WRITERS.register("ntriples")(Writer(write_ntriples, folder=False, suffix=".nt"))
