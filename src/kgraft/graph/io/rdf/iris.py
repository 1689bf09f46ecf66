"""Ids as IRIs and back, so that kgraft's own N-Triples come back as the graph they were.

An id that is an absolute IRI stands for itself unless the reader would take it for something else.
Any other is written `urn:kgraft:entity:…` (or relation, type, column, datatype) with its characters
percent-encoded. Wikidata's IRIs become its short ids.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Literal
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

Kind = Literal["entity", "relation", "type", "column", "datatype"]

OURS = "urn:kgraft:"
GRAPH, FORMAT = f"{OURS}graph", f"{OURS}format"  # the first statement of a file of kgraft
HEADER = b"# kgraft graph 2\n"  # the first line of a file of kgraft, since files keep literals
SPLIT, NAME_COUNTS = f"{OURS}split", f"{OURS}name_counts"
DECLARES: dict[str, Literal["entity", "relation"]] = {
    f"{OURS}Entity": "entity",
    f"{OURS}Relation": "relation",
}

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA = ("http://schema.org/", "https://schema.org/")
FOAF = "http://xmlns.com/foaf/0.1/"
DC = ("http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/")

WIKIDATA = "http://www.wikidata.org/"
WIKIBASE = "http://wikiba.se/ontology"
WIKIDATA_ID = r"^http://www\.wikidata\.org/(?:entity|prop/direct)/([A-Z][0-9]+)$"
WIKIDATA_PROPERTY = f"{WIKIDATA}entity/P"
INSTANCE_OF = f"{WIKIDATA}prop/direct/P31"

# What begins like this may mean something else to the reader than an id.
_TAKEN = (OURS, WIKIDATA, "https://www.wikidata.org/wiki/Special:EntityData/", WIKIBASE)
_TAKEN_RELATIONS = (*_TAKEN, f"{RDF}type")
_OF_WIKIDATA = re.compile(rf"{re.escape(WIKIDATA)}entity/(?!P|statement/|[A-Z][0-9]+\Z)")
_BLANK = re.compile(r"_:(?!kgraft)[A-Za-z][A-Za-z0-9]*")
_NAME = re.compile(r"urn:kgraft:(?:entity|relation|type|column|datatype):(.+)", re.DOTALL)
_LETTER = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF]|%[0-9A-Fa-f]{2}"
_ABSOLUTE = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:"  # scheme
    rf"(?://[A-Za-z0-9.\-_~]*(?::[0-9]{{1,5}})?(?=[/?#]|$)|(?!//))"  # host and port
    rf"(?:{_LETTER})*(?:\?(?:{_LETTER}|\?)*)?(?:\#(?:{_LETTER}|\?)*)?"  # path, query, fragment
)
_WRITABLE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|\\^`]*")
_SAFE = r"^[A-Za-z0-9_.~-]+$"  # what percent-encoding leaves as it is


def own_iri(name: str, kind: Kind) -> str:
    """Return kgraft's IRI for a name.

    >>> own_iri("New York", "entity")
    'urn:kgraft:entity:New%20York'
    """
    return f"{OURS}{kind}:{quote(name, safe='')}"


def iri_of(name: str, kind: Kind) -> str:
    """Return an IRI that the reader takes for this name and nothing else.

    >>> iri_of("http://example.org/a", "entity"), iri_of("Q1", "entity")
    ('http://example.org/a', 'urn:kgraft:entity:Q1')
    """
    if kind == "entity" and _BLANK.fullmatch(name):
        return name
    taken = name.startswith(_TAKEN_RELATIONS if kind == "relation" else _TAKEN)
    if kind == "entity" and _OF_WIKIDATA.match(name):
        taken = False
    itself = _ABSOLUTE.fullmatch(name) and not taken
    return name if itself else own_iri(name, kind)


def property_iri(name: str) -> str:
    """Return the IRI of a property whose values are literals: itself where it is one.

    >>> property_iri("http://xmlns.com/foaf/0.1/age"), property_iri("P1082")
    ('http://xmlns.com/foaf/0.1/age', 'urn:kgraft:relation:P1082')
    """
    return name if _ABSOLUTE.fullmatch(name) else own_iri(name, "relation")


def is_writable(iri: str) -> bool:
    """Whether a text may stand between angle brackets.

    >>> is_writable("mailto:ann@e.org"), is_writable("two words"), is_writable("kg")
    (True, False, False)
    """
    return _WRITABLE.fullmatch(iri) is not None


def id_of(iri: str) -> str:
    """Return the id an IRI stands for.

    >>> id_of("http://www.wikidata.org/entity/Q42"), id_of("urn:kgraft:entity:New%20York")
    ('Q42', 'New York')
    """
    if own := _NAME.fullmatch(iri):
        return unquote(own.group(1))
    short = re.match(WIKIDATA_ID, iri)
    return short.group(1) if short else iri


def iris_of(names: pa.Array, kind: Kind, *, own: Container[str] = ()) -> pa.Array:
    """Do `iri_of` for a column; the names in `own` get an IRI of kgraft in any case."""
    safe = pc.match_substring_regex(names, _SAFE)
    iris = pc.binary_join_element_wise(f"{OURS}{kind}:", names, "")
    others = [
        own_iri(name, kind) if name in own else iri_of(name, kind)
        for name in names.filter(pc.invert(safe)).to_pylist()
    ]
    return pc.replace_with_mask(iris, pc.invert(safe), pa.array(others, pa.string()))


def ids_of(iris: pa.Array) -> pa.Array:
    """Do `id_of` for a column."""
    if pc.any(pc.starts_with(iris, WIKIDATA)).as_py():
        iris = pc.replace_substring_regex(iris, WIKIDATA_ID, r"\1")
    ours = pc.starts_with(iris, OURS)
    if pc.any(ours).as_py():
        encoded = pc.dictionary_encode(iris.filter(ours))
        decoded = pa.array([id_of(iri) for iri in encoded.dictionary.to_pylist()], pa.string())
        iris = pc.replace_with_mask(iris, ours, decoded.take(encoded.indices))
    return iris
