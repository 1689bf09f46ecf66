"""RDF that is rewritten on its way into the parser."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph.io.rdf import rewritten as module
from kgraft.graph.io.rdf.rewritten import rewritten
from kgraft.graph.io.rdf.source import RdfSource

NS = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
)
BODY = (
    f"<rdf:RDF {NS}>\n<rdf:Description rdf:about='http://e.org/a'>\n"
    "<rdfs:label>Zürich {}</rdfs:label></rdf:Description></rdf:RDF>"
)


def declared(encoding):
    return f"<?xml version='1.0' encoding='{encoding}'?>\n"


def read(path, collect, content):
    path.write_bytes(content)
    return collect(RdfSource(path))


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-be"),
        ("UTF-16", "utf-8"),
        ("UTF-32", "utf-32"),
        ("UTF-8", "utf-8-sig"),
        ("utf8", "utf-8"),
    ],
)
@pytest.mark.parametrize("piece", [256, 1 << 18])
def test_declared_encodings(tmp_path, collect, monkeypatch, encoding, codec, piece):
    monkeypatch.setattr(module, "PIECE", piece)
    content = (declared(encoding) + BODY.format("é" * 999)).encode(codec)
    got = read(tmp_path / "g.rdf", collect, content)
    assert got.texts("http://e.org/a") == [("label", "Zürich " + "é" * 999)]


def test_utf_16_without_a_declaration(tmp_path, collect):
    got = read(tmp_path / "g.rdf", collect, BODY.encode("utf-16"))
    assert got.texts("http://e.org/a") == [("label", "Zürich {}")]


@pytest.mark.parametrize("encoding", ["klingon", "base64", "rot13"])
def test_an_unknown_encoding_is_refused(tmp_path, collect, encoding):
    with pytest.raises(BadInput, match=encoding) as error:
        read(tmp_path / "g.rdf", collect, (declared(encoding) + BODY).encode())
    assert error.value.line == 1


@pytest.mark.parametrize("piece", [256, 1 << 18])
def test_a_bad_byte_is_told_by_its_line(tmp_path, collect, monkeypatch, piece):
    monkeypatch.setattr(module, "PIECE", piece)
    lines = [declared("us-ascii").strip(), *["<!-- a line -->"] * 100, "<!-- \xfc -->", "<a/>"]
    with pytest.raises(BadInput, match="0xfc") as error:
        read(tmp_path / "g.rdf", collect, "\n".join(lines).encode("latin-1"))
    assert error.value.line == 102


def test_entities_of_another_encoding_have_the_same_limit(tmp_path, collect):
    bomb = f'<!DOCTYPE r [<!ENTITY b "{"b" * 2000}">]>' + BODY.format("&b;")
    with pytest.raises(BadInput, match="XML entity"):
        read(tmp_path / "g.rdf", collect, bomb.encode("utf-16"))


def test_types_that_are_nodes(tmp_path, collect):
    node = {
        "@id": "http://e.org/a",
        "@type": ["http://e.org/T", {"@id": "http://e.org/U"}, {"@id": "_:b"}],
        "http://e.org/says": 'a \\"@type\\": [{"@id": "x"}] within a text',
    }
    (tmp_path / "g.jsonld").write_text(json.dumps(node, indent=1))
    got = collect(RdfSource(tmp_path / "g.jsonld"))
    types = {value for _, field, value, *_ in got.attributes if field == "type"}
    assert types == {"http://e.org/T", "http://e.org/U"}
    assert node["http://e.org/says"] in [value for _, _, value, _ in got.literals]


@given(
    st.lists(st.sampled_from(['"@type"', ": [", '{"@id": "a"}', ", ", "]", "\n", '"b"'])),
    st.integers(1, 50),
)
def test_pieces_make_no_difference(parts, size):
    content = "".join(parts).encode()
    read_in_one = rewritten(io.BufferedReader(io.BytesIO(content)), "JSON_LD", None).read()
    before, module.PIECE = module.PIECE, size
    try:
        stream = rewritten(io.BufferedReader(io.BytesIO(content)), "JSON_LD", None)
        assert stream.read() == read_in_one
    finally:
        module.PIECE = before
    assert read_in_one.count(b"\n") == content.count(b"\n")
