"""Any bytes in a file of any format give batches or our error, nothing else."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import KgraftError
from kgraft.graph.io.rdf.source import RdfSource
from kgraft.graph.io.readers.dot import DotSource
from kgraft.graph.io.readers.gexf import GexfSource
from kgraft.graph.io.readers.gml import GmlSource
from kgraft.graph.io.readers.graphml import GraphmlSource
from kgraft.graph.io.readers.jsonl import JsonlSource
from kgraft.graph.io.readers.nodelink import NodeLinkSource
from kgraft.graph.io.readers.obo import OboSource
from kgraft.graph.io.readers.pajek import PajekSource
from kgraft.graph.io.readers.parquet import parquet_source
from kgraft.graph.io.readers.tsv import TsvSource
from kgraft.graph.io.readers.wikidata import WikidataSource
from kgraft.graph.io.readers.wordnet import WordNetSource
from kgraft.graph.io.readers.xlsx import ExcelSource

SOURCES = {
    "g.nt": RdfSource,
    "g.nq": RdfSource,
    "g.ttl": RdfSource,
    "g.trig": RdfSource,
    "g.rdf": RdfSource,
    "g.jsonld": RdfSource,
    "g.nt.gz": RdfSource,
    "g.ttl.bz2": RdfSource,
    "g.jsonl": JsonlSource,
    "g.jsonl.gz": JsonlSource,
    "dump.json": WikidataSource,
    "g.graphml": GraphmlSource,
    "g.gexf": GexfSource,
    "g.gml": GmlSource,
    "g.net": PajekSource,
    "g.dot": DotSource,
    "g.obo": OboSource,
    "g.obo.gz": OboSource,
    "graph.json": NodeLinkSource,
    "g.xlsx": ExcelSource,
    "g.parquet": parquet_source,
    "g.csv": TsvSource,
    "g.edgelist": TsvSource,
    "triples.parquet": lambda path: parquet_source(path.parent),
    "data.noun": lambda path: WordNetSource(path.parent),
    "index.sense": lambda path: WordNetSource(path.parent),
    "cntlist.rev": lambda path: WordNetSource(path.parent),
}
SNIPPETS = st.sampled_from(
    [
        b'{"id": "a", "aliases": ["b"]}\n',
        b'{"type": "item", "id": "Q1", "claims": {"P31": [{"mainsnak": {}}]}},\n',
        b"<http://e.org/a> <http://e.org/r> <http://e.org/b> .\n",
        b'<urn:kgraft:entity:a%FF> <urn:kgraft:column:%20> "x"@en .\n',
        b'_:s <urn:kgraft:split> "test" .\n',
        b"<a:b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:kgraft:Relation> .\n",
        b"@prefix : <http://e.org/> .\n:a :b [ :c (1 2) ] .\n",
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
        b"00000100 05 n 01 dog 0 001 @ 00000200 n 0000 | a gloss  \n",
        b"dog%1:05:00:: 00000100 1 42\n",
        b"dog%1:05:00:: 1 42\n",
        b'<graphml><key id="k" for="all" attr.name="type"/><graph edgedefault="undirected">',
        b'<node id="a" labels=":b"><data key="k">x</data></node>',
        b'<edge source="a" target="b" label="r"/><edge/>',
        b"</graph></graphml>",
        b'<gexf><graph><node id="a" label="b"><attvalue for="0" value="c"/></node>',
        b"</graph></gexf>",
        b'<!DOCTYPE a [<!ENTITY b "c">]>',
        b'graph [ directed 1 node [ id 1 label "a" graphics [ x 1 ] ]',
        b"edge [ source 1 target 2 ] ]",
        b'*Vertices 2\n1 "a"\n',
        b'*Arcs :1 "r"\n1 2 1 l "s"\n',
        b"*Partition p\n*Matrix\n0 1\n",
        b'digraph g { a [label="\\N"] edge [label=r];',
        b"a -> {b; subgraph c {d:n:s}} -> <e<f>> }",
        b"[Term]\nid: a ! b\nis_a: c {\n",
        b'[Typedef]\nid: r\nname: \\\nsynonym: "x" []\nrelationship: r\n',
        b'{"nodes": [{"id": 1, "synonyms": 2, "label": ["x"]}, {"name": "b"}],',
        b'"links": [{"source": 0, "target": {"id": "b"}, "type": []}]}',
        b'{"type": "relationship", "start": {"id": "a"}, "end": 1, "properties": {}}\n',
        b'{"source": null, "target": 1.5, "kind": ["x"]}\n',
        b"Source,Target;Type\n",
        b"a,b;Undirected\n",
        b"\xff\n",
        b"\xef\xbb\xbf",
        b"\x00",
        b"\r",
    ]
)
CONTENT = st.binary(max_size=60) | st.lists(SNIPPETS | st.binary(max_size=4)).map(b"".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("any")
    for name in ("data.noun", "data.verb", "data.adj", "data.adv", "index.sense", "cntlist.rev"):
        (made / name).touch()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
@settings(deadline=None, max_examples=at_most(60))
@given(content=CONTENT, packed=st.booleans(), skip=st.booleans())
def test_any_bytes(folder, collect, name, content, packed, skip):
    path = folder / name
    path.write_bytes(gzip.compress(content) if packed and name.endswith(".gz") else content)
    try:
        got = collect(SOURCES[name](path), skip=skip)
    except KgraftError as error:
        message = str(error)
    else:
        message = path.name
        assert skip or not got.refused
    path.write_bytes(b"")  # the next test reads the same folder
    assert path.name in message
    assert "\n" not in message
