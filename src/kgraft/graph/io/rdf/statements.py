"""What RDF statements mean for a graph: which are triples, names, descriptions or types."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, NamedNode, Triple
from pyoxigraph import Literal as RdfLiteral

from kgraft.columns import numbers
from kgraft.graph.batches import (
    LITERAL_TYPE,
    SPLITS,
    Attributes,
    Batch,
    Entities,
    Literals,
    Origin,
    Refusals,
    Relations,
    Split,
    Triples,
)
from kgraft.graph.io.rdf import iris
from kgraft.graph.io.rdf.iris import RDF, SCHEMA, WIKIDATA, id_of, ids_of
from kgraft.graph.io.rdf.plain_lines import Block, Columns, ValueColumns
from kgraft.graph.io.rdf.texts import Of, Ranks, TextRows
from kgraft.graph.io.rdf.values import ValueRows
from kgraft.graph.literals import LINK, XSD
from kgraft.graph.texts_as_literals import TEXT_FIELDS

TYPE, STATEMENT = f"{RDF}type", f"{RDF}Statement"
TYPE_NAME = f"{iris.OURS}type:"
COLUMN, COLUMN_OF = f"{iris.OURS}column:", "column of "
OTHER = "Wikidata's bookkeeping"
PARTS = {f"{RDF}subject": "head", f"{RDF}predicate": "relation", f"{RDF}object": "tail"}
SPECIAL = {TYPE, *PARTS}

FIELDS = {**TEXT_FIELDS, iris.NAME_COUNTS: "name_counts"}
STRING = f"{XSD}string"

# What Wikidata's RDF says on statements, pages and properties, and not on the world.
NODES = r"^http://www\.wikidata\.org/(?:entity/statement|reference|value|\.well-known)/"
SUBJECTS = (
    NODES + r"|^http://www\.wikidata\.org/prop/"
    r"|^https?://www\.wikidata\.org/wiki/Special:EntityData/"
)
HEADS = SUBJECTS + r"|^http://www\.wikidata\.org/entity/P"
RELATIONS = (
    r"^http://www\.wikidata\.org/prop/(?:P|novalue|statement|qualifier|reference|direct-norm)"
    r"|^http://wikiba\.se/ontology"
)
SITE = (
    r"^https://[a-z-]+\.(?:wikipedia|wiktionary|wikibooks|wikinews|wikiquote|wikisource"
    r"|wikiversity|wikivoyage|wikimedia)\.org/"
)
PAGE, ITEM = SITE + "wiki/", r"^http://www\.wikidata\.org/entity/"
# A page is Wikidata's own where it is said to be about an item or a part of a site.
ABOUT = pa.array([f"{schema}about" for schema in SCHEMA])
PART_OF = pa.array([f"{schema}isPartOf" for schema in SCHEMA])
NO_PAGES = pa.array([], pa.string())


class Statements:
    """Turns the statements of one file into batches; blank nodes that mark splits are held back.

    In a file of `ours` nothing is Wikidata's: all of it is the graph that was written. Version 1
    of such files has no values but names, descriptions and other columns.
    """

    def __init__(
        self,
        file: str,
        refusals: Refusals,
        *,
        lang: str,
        keep_blank: bool,
        ours: int = 0,
        blank_mark: str = "",
    ) -> None:
        self._origin, self._refusals, self._ours = Origin(file), refusals, ours
        self._pages = NO_PAGES
        self._ranks, self._attributes = Ranks(lang), TextRows()
        self._blank_mark = blank_mark
        self._values = ValueRows([*TEXT_FIELDS, TYPE])
        self._blank: dict[str, str] | None = None if keep_blank else {}
        self._columns: dict[str, str] = {}
        self._declared_columns: dict[Of, list[str]] = {}  # in order, even where they are empty
        self._reified: dict[str, dict[str, str]] = {}
        self._declared: tuple[str, Of] = ("", None)  # the subject that was declared last
        self._start()

    def _start(self) -> None:
        self._parts: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._marked: dict[str, list[tuple[str, str, str]]] = {}
        self._declarations: dict[Of, list[str]] = {}
        self._left_out: Counter[str] = Counter()

    def read(self, block: Block) -> Iterator[Batch]:
        """Yield what one block says: declarations, attributes, values, triples."""
        self._read_declarations(block)
        heads, relations, tails = self._parts
        for s, p, o, _ in block.quads:
            subject = s.value if type(s) is NamedNode else self._node(s)
            predicate = p.value
            if type(o) is RdfLiteral:
                self._literal(subject, predicate, o)
            elif type(o) is Triple:
                self._left_out["statements about statements"] += 1
            else:
                value = o.value if type(o) is NamedNode else self._node(o)
                if predicate in SPECIAL and (predicate == TYPE or subject.startswith("_:")):
                    self._special(subject, predicate, value)
                else:
                    heads.append(subject)
                    relations.append(predicate)
                    tails.append(value)
        yield from self._take(block.plain)
        if block.types is not None:
            yield from self._plain_types(block.types)
        if block.values is not None:
            yield from self._plain_values(block.values)

    def _read_declarations(self, block: Block) -> None:
        for declared, iri in block.declared:
            if declared.startswith(COLUMN_OF):
                of = cast(Of, declared.removeprefix(COLUMN_OF))
                self._declared_columns.setdefault(of, []).append(id_of(iri))
            else:
                self._declarations.setdefault(cast(Of, declared), []).append(iri)

    def _plain_types(self, types: Columns) -> Iterator[Batch]:
        subject, predicate, value = types
        field = pa.repeat(pa.scalar("type"), len(subject))
        yield Attributes(ids_of(subject), field, ids_of(value), np.ones(len(subject), np.int8))
        link = pa.repeat(pa.scalar(LINK), len(subject))
        yield Literals(ids_of(subject), predicate, link, value)

    def _plain_values(self, values: ValueColumns) -> Iterator[Batch]:
        predicates = pc.dictionary_encode(values.property)
        names = predicates.dictionary.to_pylist()
        fields = pa.array([TEXT_FIELDS.get(name) for name in names], pa.string())
        field = fields.take(predicates.indices)
        texts = pc.is_valid(field)
        tags = values.datatype.dictionary.to_pylist()
        ranks = np.array([self._ranks[t[1:] if t[:1] == "@" else None] for t in tags], np.int8)
        rank = ranks[numbers(values.datatype.indices)][numbers(texts)]
        subject = ids_of(values.subject)
        if len(rank):
            of, text = subject.filter(texts), values.value.filter(texts)
            yield Attributes(of, field.filter(texts), text, rank)
        datatype = values.datatype.cast(pa.string())
        yield Literals(subject, ids_of(values.property), datatype, values.value)

    def finish(self) -> Iterator[Batch]:
        """Yield what was held back, and count the reified statements that name no split."""
        yield from self._texts([], hold="")
        self._count_left_out()
        if self._reified and self._ours:  # facts about blank nodes that are entities
            yield from self._unmarked()
        elif self._reified:
            self._refusals.leave_out("statements about statements", len(self._reified))

    def _unmarked(self) -> Iterator[Triples]:
        predicates = {part: predicate for predicate, part in PARTS.items()}
        rows = [
            (node, predicates[part], value)
            for node, parts in self._reified.items()
            for part, value in parts.items()
            if part in predicates
        ]
        if rows:
            head, relation, tail = (pa.array(part, pa.string()) for part in zip(*rows, strict=True))
            yield Triples(ids_of(head), relation, ids_of(tail), self._origin)

    def _node(self, node: object) -> str:
        """Return the id of a blank node; where the file gives no name, by order of appearance."""
        name = cast(BlankNode, node).value
        if self._blank is None:
            return f"_:{self._blank_mark}{name}"
        return self._blank.setdefault(name, f"_:{self._blank_mark}b{len(self._blank) + 1}")

    def _literal(self, subject: str, predicate: str, o: RdfLiteral) -> None:
        field = FIELDS.get(predicate) or self._columns.get(predicate)
        if field is None:
            self._own_literal(subject, predicate, o)
            return
        self._add(subject, field, o.value, self._ranks[o.language])
        if predicate in TEXT_FIELDS and self._ours != 1 and not subject.startswith(WIKIDATA):
            self._values.add(subject, predicate, _datatype(o), o.value)

    def _own_literal(self, subject: str, predicate: str, o: RdfLiteral) -> None:
        """Take in what only files of kgraft have: marks of splits, other columns."""
        if predicate.startswith(COLUMN):
            self._columns[predicate] = id_of(predicate)
            self._literal(subject, predicate, o)
        elif predicate == iris.SPLIT and o.value in SPLITS:
            self._part(subject, "split", o.value)
        elif predicate != iris.FORMAT:
            self._values.add(subject, predicate, _datatype(o), o.value)

    def _special(self, subject: str, predicate: str, value: str) -> None:
        if predicate in PARTS:
            self._part(subject, PARTS[predicate], value)
        elif value in iris.DECLARES:
            self._declare(subject, iris.DECLARES[value])
        elif value.startswith("_:") or (value.startswith(iris.WIKIBASE) and not self._ours):
            self._left_out["types without a name"] += 1
        elif value != STATEMENT or not subject.startswith("_:"):
            own = self._ours == 2 and value.startswith(TYPE_NAME)
            name = f"{LITERAL_TYPE}{id_of(value)}" if own else id_of(value)
            self._add(subject, "type", name, 1)
            if self._ours != 1 and not own and not value.startswith(iris.OURS):
                self._values.add(subject, TYPE, LINK, value)

    def _add(self, subject: str, field: str, value: str, rank: int) -> None:
        declared, of = self._declared
        self._attributes.add(subject, field, value, rank, of if subject == declared else None)

    def _declare(self, subject: str, of: Of) -> None:
        self._declared = (subject, of)
        self._declarations.setdefault(of, []).append(subject)

    def _part(self, node: str, name: str, value: str) -> None:
        parts = self._reified.setdefault(node, {})
        parts[name] = value
        if len(parts) == 4:
            del self._reified[node]
            triple = (parts["head"], parts["relation"], parts["tail"])
            self._marked.setdefault(parts["split"], []).append(triple)

    def _take(self, plain: Columns | None) -> Iterator[Batch]:
        yield from self._declaration_batches()
        head, relation, tail = (pa.array(part, pa.string()) for part in self._parts)
        blocks = [block for block in (plain, (head, relation, tail)) if block and len(block[0])]
        # The texts of a page may stand in this block and what tells that it is one in the next.
        last = "" if self._ours else self._attributes.last_subject
        yield from self._texts(blocks, hold=last if re.match(PAGE, last) else "")
        for block in blocks:
            yield from self._triples(*block)
        for split, triples in self._marked.items():
            parts = zip(*triples, strict=True)
            head, relation, tail = (ids_of(pa.array(part, pa.string())) for part in parts)
            yield Triples(head, relation, tail, self._origin, cast(Split, split))
        self._count_left_out()
        self._start()

    def _count_left_out(self) -> None:
        for kind, count in self._left_out.items():
            self._refusals.leave_out(kind, count)

    def _texts(self, blocks: list[Columns], *, hold: str) -> Iterator[Batch]:
        """Yield the attributes but those of pages that this block, or the one before, told of."""
        joined = pa.concat_arrays([NO_PAGES, *map(_pages, blocks)])
        pages = pa.concat_arrays([self._pages, joined])
        self._pages = joined if len(joined) else self._pages
        attributes, noise = self._attributes.take(
            lambda subjects: self._noise(subjects, SUBJECTS, pages), hold=hold
        )
        yield from attributes
        values, also = self._values.take(lambda s: self._noise(s, HEADS, pages), hold=hold)
        yield from values
        if noise or also:
            self._left_out[OTHER] += noise + also

    def _noise(self, column: pa.Array, pattern: str, pages: pa.Array = NO_PAGES) -> pa.Array:
        if self._ours:
            return pa.repeat(False, len(column))
        return pc.or_(pc.match_substring_regex(column, pattern), pc.is_in(column, pages))

    def _declaration_batches(self) -> Iterator[Batch]:
        for of, subjects in self._declarations.items():
            columns = {"id": ids_of(pa.array(subjects, pa.string()))}
            for name in self._declared_columns.get(of, ()):
                columns[name] = pa.nulls(len(subjects), pa.string())
            table = pa.table(columns)
            make = Entities if of == "entity" else Relations
            yield make(table, self._origin)

    def _without_noise(self, head: pa.Array, relation: pa.Array, tail: pa.Array) -> pa.Array:
        """Return a mask of the triples to keep."""
        noise = pc.or_(self._noise(head, HEADS, self._pages), self._noise(relation, RELATIONS))
        return pc.invert(pc.or_(noise, self._noise(tail, NODES)))

    def _triples(self, head: pa.Array, relation: pa.Array, tail: pa.Array) -> Iterator[Batch]:
        keep = self._without_noise(head, relation, tail)
        if not pc.all(keep).as_py():
            self._left_out[OTHER] += len(head) - pc.sum(keep).as_py()
            head, relation, tail = (column.filter(keep) for column in (head, relation, tail))
        instance = pc.equal(relation, iris.INSTANCE_OF)
        head, relation, tail = ids_of(head), ids_of(relation), ids_of(tail)
        if len(head):
            yield Triples(head, relation, tail, self._origin)
        if pc.any(instance).as_py() and not self._ours:
            of, types = head.filter(instance), tail.filter(instance)
            field = pa.array(["type"] * len(of), pa.string())
            yield Attributes(of, field, types, np.ones(len(of), np.int8))


def _datatype(literal: RdfLiteral) -> str:
    """Return the IRI of a literal's datatype, `@` and its language, or nothing for a string."""
    if literal.language:
        return f"@{literal.language}"
    datatype = literal.datatype.value
    return (
        ""
        if datatype == STRING
        else id_of(datatype)
        if datatype.startswith(iris.OURS)
        else datatype
    )


def _pages(block: Columns) -> pa.Array:
    """Return the pages that Wikidata gives with its items, for each of which it says so."""
    head, relation, tail = block
    parts = [NO_PAGES]
    for name, pattern in ((ABOUT, ITEM), (PART_OF, f"{SITE}$")):
        is_named = pc.is_in(relation, name)
        pages = head.filter(is_named).filter(
            pc.match_substring_regex(tail.filter(is_named), pattern)
        )
        parts.append(pages.filter(pc.match_substring_regex(pages, PAGE)))
    return pa.concat_arrays(parts).unique()
