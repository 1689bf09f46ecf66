"""The names that other programs give to columns, and the columns of kgraft that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgraft.errors import BadInput
from kgraft.graph.batches import Refusals

ENDS = (
    ("head", "tail"),
    ("subject", "object"),
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("startid", "endid"),
    ("start", "end"),
    ("head entity", "tail entity"),
    ("h", "t"),
    ("s", "o"),
    ("src", "dest"),
    ("src", "tgt"),
    ("source", "destination"),
    ("origin", "destination"),
    ("u", "v"),
    ("fromnode", "tonode"),
    ("entity1", "entity2"),
    ("node1", "node2"),
)
"""Names of the two ends of a triple; each pair also with `id`, `node` or `ref` behind its names."""
RELATIONS = (
    *("relation", "predicate", "relationship", "rel", "p", "r", "relationtype", "edgetype"),
    *("relationshiptype", "reltype", "type", "label", "edgelabel", "kind", "edge", "property"),
    *("interaction", "caption", "name"),
)
"""Names of the relation of a triple; the first of them that a table has is taken."""
OPTIONAL = ("label", "edgelabel", "caption", "name", "kind")  # may be empty: "related to" then
FIELDS = {
    "id": (
        *("id", "identifier", "nodeid", "entityid", "node", "entity", "uri", "iri", "qid"),
        *("key", "vertex", "vertexid", "termid", "curie", "accession"),
    ),
    "label": (
        *("label", "preflabel", "name", "lbl", "title", "displayname", "caption", "rdfslabel"),
        *("preferredlabel", "preferredname", "labelen", "term"),
    ),
    "aliases": (
        *("aliases", "alias", "altlabels", "altlabel", "synonyms", "synonym", "alsoknownas"),
        *("aka", "alternativenames", "alternatenames", "othernames", "alternativelabels"),
        *("exactsynonyms", "exactsynonym"),
    ),
    "description": (
        *("description", "desc", "summary", "abstract", "definition", "def", "comment"),
        *("gloss", "scopenote", "about"),
    ),
    "types": (
        *("types", "type", "category", "categories", "kind", "class", "classes", "nodetype"),
        *("entitytype", "instanceof", "labels"),
    ),
}
"""Names of the columns of an entity; the first of them that a table has is taken."""
_RELATION_FIELDS = {
    **{column: meanings for column, meanings in FIELDS.items() if column != "types"},
    "id": (*FIELDS["id"], *RELATIONS),
}
EDGE_ROLES = ("head", "relation", "tail", "split")
RELATED = "related to"
DIRECTIONS = ("directed", "undirected", "mutual", "mixed", "")

_NEO4J = re.compile(r"^(?P<name>[^:]*):(?P<kind>[A-Za-z_]+(?:\[\])?)(?:\((?P<space>[^)]*)\))?.*$")
_NEO4J_ROLES = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_NEO4J_KINDS = (
    *("string", "int", "long", "float", "double", "boolean", "bool", "byte", "short", "char"),
    *("date", "point", "datetime", "localdatetime", "localtime", "time", "duration", "vector"),
)
_ID = re.compile(r"[a-z0-9](I[dD]|[_ -]id)$")
_PREFIXES = ("rdfs", "skos", "schema", "dc", "dcterms", "rdf", "foaf", "owl")


@dataclass(frozen=True)
class EdgeColumns:
    """Where the parts of a triple stand among the columns of a table."""

    head: int
    tail: int
    relation: int | None = None
    split: int | None = None
    direction: int | None = None
    optional: bool = False  # whether the relation may be empty

    @property
    def used(self) -> set[int]:
        """The columns that are read."""
        places = (self.head, self.tail, self.relation, self.split, self.direction)
        return {position for position in places if position is not None}

    def notes(self, names: Sequence[str], file: str) -> Iterator[str]:
        """Yield what was read as what, where the names differ from ours."""
        for part in ("head", "relation", "tail"):
            position = getattr(self, part)
            if position is None:
                yield f"{file}: no column names the relation; it is {RELATED!r}"
            elif names[position] != part:
                yield note(names[position], part, file)


def note(name: str, column: str, file: str) -> str:
    """Return the sentence that says how a column was read."""
    return f"{file}: column {name!r} read as {column}"


def plain_name(name: str) -> str:
    """Return a column's name in small letters, without marks, spaces and what Neo4j adds.

    >>> [plain_name(n) for n in ("Source", ' "Alt Labels"', "name:string", ":START_ID(P)")]
    ['source', 'altlabels', 'name', 'startid']
    """
    kind = neo4j_kind(name)
    prefix, _, rest = name.strip().partition(":")
    if kind in _NEO4J_ROLES:
        name = kind
    elif kind:
        name = prefix
    elif prefix in _PREFIXES:
        name = rest
    return re.sub(r"[^\w]|_", "", name.casefold())


def neo4j_kind(name: str) -> str:
    """Return the kind behind the colon of a header of `neo4j-admin import`, or nothing.

    >>> neo4j_kind("personId:ID(Person)"), neo4j_kind("tags:string[]"), neo4j_kind("skos:note")
    ('ID', 'string[]', '')
    """
    match = _NEO4J.match(name.strip())
    kind = match["kind"] if match else ""
    return kind if kind in _NEO4J_ROLES or kind.removesuffix("[]") in _NEO4J_KINDS else ""


def id_space(name: str) -> str:
    """Return the id space of a Neo4j header: `Person` of `:ID(Person)`."""
    match = _NEO4J.match(name.strip())
    return (match["space"] or "") if match and neo4j_kind(name) else ""


def edge_columns(names: Sequence[str]) -> EdgeColumns | None:
    """Return where head, relation and tail stand, or None where no pair of names is known.

    >>> edge_columns(["Source", "Target", "Type", "Label"]).relation
    2
    """
    plain = _distinct_names(names)
    ends = next((pair for pair in _pairs() if set(pair) <= set(plain)), None)
    if ends is None:
        return None
    head, tail = map(plain.index, ends)
    others = [name for k, name in enumerate(plain) if k not in (head, tail)]
    chosen = next((name for name in _relation_names(ends[0]) if name in others), None)
    weak = ends in (("start", "end"), ("s", "o"), ("h", "t"), ("u", "v"))
    multigraph = ends[0] == "u" and "key" in others  # NetworkX and OSMnx: u, v, key
    if weak and len(names) > 3 and not multigraph and (chosen is None or chosen in OPTIONAL):
        return None  # positions in a text, say
    return EdgeColumns(
        head,
        tail,
        None if chosen is None else plain.index(chosen),
        plain.index("split") if "split" in others else None,
        optional=chosen in OPTIONAL,
    )


def _relation_names(head: str) -> Iterator[str]:
    """Yield the names that the relation may go by where the head has this one, likeliest first."""
    best = ("predicate", "relation") if head.startswith("subject") else ("relation", "predicate")
    if head.endswith("id"):
        yield from (f"{name}id" for name in best)
    yield from best
    yield from RELATIONS


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return plain names, with nothing in place of one that was there before."""
    plain = [plain_name(name) for name in names]
    return [name if plain.index(name) == k else "" for k, name in enumerate(plain)]


def _pairs() -> Iterator[tuple[str, str]]:
    for head, tail in ENDS:
        for suffix in ("", "id", "node", "nodeid", "ref"):
            yield (head + suffix).replace(" ", ""), (tail + suffix).replace(" ", "")


def direction_column(columns: EdgeColumns, names: Sequence[str], values: list[str]) -> EdgeColumns:
    """Take Gephi's column Type, which holds Directed or Undirected, for what it is.

    `values` are the first ones of the column that was taken for the relation.
    """
    position = columns.relation
    if position is None or plain_name(names[position]) not in ("type", "edgetype", "kind"):
        return columns
    if not any(values) or any(value.strip().casefold() not in DIRECTIONS for value in values):
        return columns
    others = ["" if k == position else name for k, name in enumerate(names)]
    again = edge_columns(others)
    assert again is not None
    return EdgeColumns(again.head, again.tail, again.relation, again.split, position, True)


def entity_columns(names: Sequence[str], *, of: Literal["entity", "relation"]) -> dict[str, int]:
    """Return for our columns the place of the one that means it, where there is one.

    >>> entity_columns(["personId:ID", "name:string", ":LABEL"], of="entity")
    {'id': 0, 'label': 1, 'types': 2}
    """
    kinds = [neo4j_kind(name) for name in names]
    plain = [plain_name(name) for name in names]
    columns: dict[str, int] = {}
    if "LABEL" in kinds and of == "entity":  # :LABEL is the type of a node
        columns["types"] = kinds.index("LABEL")
    fields = FIELDS if of == "entity" else _RELATION_FIELDS
    for column, meanings in fields.items():
        exact = [k for k, name in enumerate(names) if name == column]
        positions = (plain.index(name) for name in meanings if name in plain)
        places = [k for k in (*exact, *positions) if k not in columns.values()]
        if column not in columns and places:
            columns[column] = places[0]
    if "id" not in columns and "label" in columns and columns["label"] and _ID.search(names[0]):
        columns["id"] = 0  # personId, name, …
    return dict(sorted(columns.items(), key=lambda item: item[1]))


def named_places(columns: Mapping[str, str], names: Sequence[str], file: str) -> dict[str, int]:
    """Return the places of the columns that the user named, by name or by number from 1."""
    places = {}
    for role, name in columns.items():
        if name.isdecimal() and 1 <= int(name) <= len(names):
            matches = [int(name) - 1]
        else:
            exact = [k for k, column in enumerate(names) if column == name]
            alike = [k for k, n in enumerate(names) if plain_name(n) == plain_name(name)]
            matches = exact or alike
        if not matches:
            shown = " | ".join(names)
            reason = f"no column is named {name!r}, which should be {role}"
            raise BadInput(
                reason,
                file=file,
                line=1,
                remedy=f"the columns are: {' '.join(shown.split())[:200]}",
            )
        places[role] = matches[0]
    return places


def named_edges(places: Mapping[str, int], file: str) -> EdgeColumns:
    """Return the columns of triples as the user named them."""
    for part in ("head", "tail"):
        if part not in places:
            remedy = "name both, as in --columns head=…,tail=…"
            raise BadInput(f"no column is named for {part}", file=file, remedy=remedy)
    return EdgeColumns(places["head"], places["tail"], places.get("relation"), places.get("split"))


def say_columns(columns: Mapping[str, int], names: Sequence[str], file: str, say: Refusals) -> None:
    """Note the columns of entities or relations that were read under another name."""
    for column, position in columns.items():
        if names[position] != column:
            say.note(note(names[position], column, file))
