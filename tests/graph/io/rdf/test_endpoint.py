"""A SPARQL endpoint as a source, against a server that answers with pyoxigraph."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pyoxigraph as ox
import pytest

from kgraft.errors import BadInput
from kgraft.graph import Graph, build_graph, open_source

TURTLE = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ann rdfs:label "Ann"@en, "Anne"@fr ; :knows :bob . :bob rdfs:label "Bob" ; :knows :ann .
"""
SELECT = "SELECT ?s ?p ?o WHERE { ?s ?p ?o . FILTER(?s = <http://example.org/ann>) }"


@pytest.fixture(scope="module")
def endpoint():
    """Return the address of a server that answers queries over three people."""
    store = ox.Store()
    store.load(TURTLE.encode(), format=ox.RdfFormat.TURTLE)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                status, kind, data = 200, *answer(store, parse_qs(body)["query"][0])
            except SyntaxError as error:
                status, kind, data = 400, "text/plain", str(error).encode()
            if self.path == "/page":
                status, kind, data = 200, "text/html", b"<html>"
            if self.path == "/broken":
                status, kind, data = 200, "application/n-triples", b"no triples\n"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def answer(store, query):
    found = store.query(query)
    if isinstance(found, ox.QueryTriples):
        return "application/n-triples", found.serialize(format=ox.RdfFormat.N_TRIPLES)
    data = found.serialize(format=ox.QueryResultsFormat.JSON)
    return "application/sparql-results+json", data


def test_all_triples(endpoint, tmp_path):
    address = endpoint.replace("//", "//user:secret@") + "/sparql"
    source = open_source(endpoint + "/sparql", lang="fr")
    manifest = build_graph(source, tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    assert (manifest.entities, manifest.triples) == (2, 2)
    assert [entity.id for entity in graph.find("Anne")] == ["http://example.org/ann"]
    assert manifest.source == f"{endpoint}/sparql (sparql)"
    assert "secret" not in open_source(address).describe()


def test_a_query_selects(endpoint, tmp_path, collect):
    path = tmp_path / "some.rq"
    path.write_text(SELECT)
    got = collect(open_source(endpoint, query=path))
    assert [triple[2] for triple in got.triples] == ["http://example.org/bob"]
    assert ("label", "Ann") in got.texts("http://example.org/ann")


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("", "SELECT nothing", "the endpoint says 400"),
        ("", "ASK { ?s ?p ?o }", "the answer is not triples; CONSTRUCT"),
        ("", "SELECT ?s WHERE { ?s ?p ?o }", "the answer is not triples; CONSTRUCT"),
        ("/page", SELECT, "the answer is text/html"),
        ("/broken", SELECT, "127.0.0.1"),
    ],
)
def test_what_goes_wrong_is_one_line(endpoint, collect, path, query, words):
    with pytest.raises(BadInput, match=words) as error:
        collect(open_source(endpoint + path, query=query))
    assert "\n" not in str(error.value)
    assert "cannot be" not in error.value.reason


def test_what_cannot_be_reached(tmp_path, collect):
    for url in ("http://127.0.0.1:9/x", "http://[bad", "http://127.0.0.1:99999/"):
        with pytest.raises(BadInput):
            collect(open_source(url))
    with pytest.raises(BadInput, match="only a SPARQL endpoint takes a query"):
        open_source(tmp_path, query="SELECT")
    with pytest.raises(BadInput, match="the query cannot be read"):
        open_source("http://127.0.0.1:9/x", query=tmp_path / "none.rq")
