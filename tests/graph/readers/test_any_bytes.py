"""Any bytes in a file of any format give batches or our error, nothing else."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import KgraftError
from kgraft.graph.readers.jsonl import JsonlSource
from kgraft.graph.readers.rdf import RdfSource
from kgraft.graph.readers.tables import parquet_source
from kgraft.graph.readers.wikidata import WikidataSource
from kgraft.graph.readers.wordnet import WordNetSource

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


@pytest.mark.parametrize("name", SOURCES)
@settings(deadline=None, max_examples=60)
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
