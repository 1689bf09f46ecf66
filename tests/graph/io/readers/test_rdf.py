import zipfile

import pytest

from kgraft.errors import BadInput
from kgraft.graph import Graph, build_graph, open_source

ONE = "<http://e.org/a> <http://e.org/r> <http://e.org/b> .\n_:x <http://e.org/r> _:y .\n"
TWO = "@prefix : <http://e.org/> . :b :r :c . [] :r :c ."


def ids(source, folder):
    build_graph(source, folder / "g")
    return Graph.open(folder / "g").entities["id"].to_pylist()


def test_the_files_of_a_folder_are_one_graph_and_share_no_blank_nodes(tmp_path):
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    (data / "one.nt").write_text(ONE, "utf-8")
    (data / "deep" / "two.n3").write_text(TWO, "utf-8")
    (data / "three.nt").write_text(ONE, "utf-8")
    got = ids(open_source(data, blank_nodes="keep"), tmp_path)
    assert len(got) == len(set(got)) == 3 + 1 + 2 + 2


def test_an_archive_is_read_without_trusting_its_names(tmp_path):
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as packed:
        packed.writestr("../../one.nt", ONE)
        packed.writestr("/abs/two.ttl", TWO)
        packed.writestr("readme.txt", "no RDF")
    got = ids(open_source(tmp_path / "g.zip"), tmp_path)
    assert got == [f"http://e.org/{name}" for name in "abc"]


def test_archives_without_rdf_or_without_sense_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as packed:
        packed.writestr("readme.txt", "no RDF")
    (tmp_path / "h.zip").write_bytes(b"PK nonsense")
    for name, words in (("g.zip", "no RDF file"), ("h.zip", "cannot be unpacked")):
        with pytest.raises(BadInput, match=words):
            ids(open_source(tmp_path / name), tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("g.owl", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
        (
            "g.owx",
            '<?xml version="1.0"?><!-- x --><owl:Ontology xmlns:owl='
            '"http://www.w3.org/2002/07/owl#"/>',
            "OWL/XML",
        ),
        ("g.xml", "<html><body/></html>", "no RDF .*'html'"),
        ("g.owl", "Prefix(:=<http://e.org/>)", "functional syntax"),
        ("g.jsonld", '{"@context": "https://schema.org/", "@id": "a"}', "fetches nothing"),
    ],
)
def test_what_is_no_rdf_is_named(tmp_path, name, text, words):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(BadInput, match=words):
        ids(open_source(tmp_path / name), tmp_path)


def test_json_ld_is_recognised_in_json(tmp_path):
    text = '{"@id": "http://e.org/a", "http://e.org/r": {"@id": "http://e.org/b"}}'
    (tmp_path / "g.json").write_text(text, "utf-8")
    assert len(ids(open_source(tmp_path / "g.json"), tmp_path)) == 2
