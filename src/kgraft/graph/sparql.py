"""SPARQL over a graph, by pyoxigraph on the N-Triples that the graph is exported as."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kgraft.errors import BadInput, import_optional
from kgraft.graph.io.rdf.iris import OURS, RDF, RDFS, SKOS, id_of
from kgraft.progress import Progress, Silent

if TYPE_CHECKING:
    from kgraft.graph.graph import Graph

PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "skos": SKOS,
    "entity": f"{OURS}entity:",
    "relation": f"{OURS}relation:",
    "type": f"{OURS}type:",
}
_SERVICE = re.compile(r"\bSERVICE\b\s*(?:SILENT\b\s*)?[<?$:\w]", re.IGNORECASE)
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_TEXT = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"""|\'\'\'(?:[^\'\\]|\\.|\'{1,2}(?!\'))*\'\'\''
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>"{}|^`\\\x00-\x20]*>|#[^\n]*',
    re.DOTALL,
)


def query_sparql(
    graph: Graph, query: str, *, limit: int | None = None, progress: Progress | None = None
) -> pa.Table | bool:
    """Return the answer of a SPARQL query: a table of texts, or for ASK whether it holds.

    IRIs of entities, relations and types come back as their ids. The prefixes rdf, rdfs, skos,
    entity, relation and type are known. Nothing is fetched: a query with SERVICE is refused.
    """
    oxigraph = import_optional("pyoxigraph", "rdf")
    if _asks_elsewhere(query):
        remedy = "query one graph, or merge two with: kgraft graph merge"
        raise BadInput("the query asks another server (SERVICE)", remedy=remedy)
    store = _load(graph, oxigraph, progress or Silent())
    try:
        answer = store.query(query, prefixes=PREFIXES)
    except (SyntaxError, ValueError) as error:
        raise BadInput(
            f"the SPARQL query cannot be read: {' '.join(str(error).split())}"
        ) from error
    if isinstance(answer, oxigraph.QueryBoolean):
        return bool(answer)
    if isinstance(answer, oxigraph.QueryTriples):
        names, rows = (
            ["head", "relation", "tail"],
            ((t.subject, t.predicate, t.object) for t in answer),
        )
    else:
        names, rows = [variable.value for variable in answer.variables], answer
    return _table(names, islice(rows, limit))


def _table(names: list[str], rows: Iterable[Iterable[Any]]) -> pa.Table:
    """Return rows of terms as a table of texts."""
    columns: list[list[str | None]] = [[] for _ in names]
    for row in rows:
        for column, term in zip(columns, row, strict=True):
            column.append(_text(term))
    return pa.table({n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)})


def _asks_elsewhere(query: str) -> bool:
    """Tell whether SERVICE stands in a query outside of texts, IRIs and comments."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2], 16)), query)
    return _SERVICE.search(_TEXT.sub("<>", plain)) is not None


def _load(graph: Graph, oxigraph: Any, progress: Progress) -> Any:  # noqa: ANN401
    """Return an in-memory store with the whole graph."""
    from kgraft.graph.io.export import export_graph

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.nt"
        export_graph(graph.whole(), path, format="ntriples", progress=progress)
        store = oxigraph.Store()
        store.bulk_load(path=str(path), format=oxigraph.RdfFormat.N_TRIPLES)
    return store


def _text(term: Any) -> str | None:  # noqa: ANN401
    """Return an id for an IRI, the value of a literal, and nothing for an unbound variable."""
    if term is None:
        return None
    value = getattr(term, "value", None)
    if value is None:
        return str(term)
    return id_of(value) if type(term).__name__ == "NamedNode" else str(value)
