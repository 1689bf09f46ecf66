"""The format of a file or folder is recognised by its name and its first bytes."""

import gzip
import json

import pytest

from kgraft.errors import BadInput
from kgraft.graph.io import Format
from kgraft.graph.io.formats import find_format, open_source
from kgraft.graph.io.readers import FORMATS

ITEM = {"type": "item", "id": "Q1", "labels": {"en": {"language": "en", "value": "universe"}}}
OURS = {"kind": "entity", "id": "Q1", "label": "universe"}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("facts.tsv", "tsv"),
        ("facts.csv", "tsv"),
        ("train.txt", "tsv"),
        ("FACTS.TSV", "tsv"),
        ("facts.tsv.gz", "tsv"),
        ("facts.nt", "rdf"),
        ("facts.nt.gz", "rdf"),
        ("facts.ttl.bz2", "rdf"),
        ("facts.nq", "rdf"),
        ("facts.trig", "rdf"),
        ("facts.rdf", "rdf"),
        ("facts.owl", "rdf"),
        ("facts.xml", "rdf"),
        ("facts.jsonld", "rdf"),
        ("facts.jsonl", "jsonl"),
        ("facts.ndjson", "jsonl"),
        ("facts.json", "jsonl"),
    ],
)
def test_files_are_known_by_their_suffix(tmp_path, name, format):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    assert find_format(path) == format
    assert open_source(path).format == format


@pytest.mark.parametrize("name", ["dump.json", "dump.jsonl", "dump.json.gz"])
@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("[\n" + json.dumps(ITEM) + ",\n]\n", "wikidata"),
        (json.dumps(ITEM) + "\n", "wikidata"),
        ("\n[\n" + json.dumps({**ITEM, "type": "property"}), "wikidata"),
        (json.dumps(ITEM)[:-20] + '"claims": {', "wikidata"),
        (json.dumps([ITEM]), "wikidata"),
        (json.dumps([ITEM], indent=2), "wikidata"),
        (json.dumps(ITEM, indent=2), "wikidata"),
        (json.dumps({"entities": {"Q1": ITEM}}), "wikidata"),
        (json.dumps({"entities": {"Q9": {"id": "Q9", "missing": ""}}}, indent=2), "wikidata"),
        (json.dumps({"id": "a", "missing": "", "entities": 3}), "jsonl"),
        (json.dumps(OURS) + "\n", "jsonl"),
        ('{"head": "a", "relation": "r", "tail": "b"}\n', "jsonl"),
        ("no JSON\n", "jsonl"),
        ("[" * 100_000, "wikidata"),
        ("\n\n\n\n", "jsonl"),
    ],
)
def test_json_is_wikidata_or_ours_by_its_first_object(tmp_path, name, text, format):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    assert find_format(path) == format


@pytest.mark.parametrize("content", [[OURS], {"graph": [OURS]}])
def test_json_over_several_lines_is_one_document(tmp_path, content):
    for name, format in [("dump.json", "nodelink"), ("dump.jsonl", "jsonl")]:
        path = tmp_path / name
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")
        assert find_format(path) == format


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("train.txt", "tsv"),
        ("triples.csv.gz", "tsv"),
        ("entities.tsv", "tsv"),
        ("triples.parquet", "parquet"),
        ("edges.parquet", "parquet"),
        ("facts.jsonl", "jsonl"),
        ("data.noun", "wordnet"),
    ],
)
def test_folders_are_known_by_their_files(tmp_path, name, format):
    (tmp_path / name).touch()
    assert find_format(tmp_path) == format


@pytest.mark.parametrize(
    ("names", "format"),
    [
        (["data.noun", "triples.parquet", "triples.tsv", "facts.nt", "facts.jsonl"], "wordnet"),
        (["triples.parquet", "triples.tsv", "facts.nt", "facts.jsonl"], "parquet"),
        (["triples.tsv", "facts.nt", "facts.jsonl"], "tsv"),
        (["facts.nt", "people.csv", "facts.jsonl"], "rdf"),
        (["people.csv", "facts.jsonl"], "tsv"),
        (["notes.csv", "facts.jsonl"], "jsonl"),
    ],
)
def test_the_surest_sign_decides(tmp_path, names, format):
    for name in names:
        (tmp_path / name).write_text("source,target\nAnn,Bob\n" if name == "people.csv" else "")
    assert find_format(tmp_path) == format


def test_a_format_of_another_package_is_recognised(tmp_path, monkeypatch):
    paths = []
    opened = Format(open=lambda path, options: paths.append(path), suffixes=(".mine",))
    monkeypatch.setitem(FORMATS._registered, "mine", opened)
    path = tmp_path / "facts.mine"
    path.touch()
    assert find_format(path) == "mine"
    open_source(path)
    assert paths == [path]


@pytest.mark.parametrize("name", FORMATS.names())
def test_a_format_is_recognised_by_something(name):
    assert FORMATS[name].suffixes or FORMATS[name].signs


def test_a_folder_of_tables_without_names_says_what_to_do(tmp_path):
    (tmp_path / "people.csv").write_text("1,Ann\n2,Bob\n")
    (tmp_path / "knows.csv").write_text("1,2,2020,x\n")
    with pytest.raises(BadInput, match=r"knows\.csv, people\.csv; .*--columns head=1,tail=2"):
        open_source(tmp_path)


@pytest.mark.parametrize("path", ["nowhere", "nowhere.tsv", "no\x00where"])
@pytest.mark.parametrize("format", [None, *FORMATS])
def test_what_is_not_there(tmp_path, path, format):
    with pytest.raises(BadInput, match="no such file or folder"):
        open_source(tmp_path / path, format=format)


def test_what_is_not_recognised(tmp_path):
    with pytest.raises(BadInput) as error:
        open_source(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: no graph is recognised in this folder; "
        "it needs train.tsv, triples.tsv or edges.csv, "
        "triples.parquet, JSON Lines, RDF, or WordNet's data.noun"
    )
    for name in ("facts.doc", "facts", "facts.gz"):
        (tmp_path / name).touch()
        with pytest.raises(BadInput) as error:
            open_source(tmp_path / name)
        assert error.value.file == str(tmp_path / name)
        assert error.value.remedy.endswith(", ".join(FORMATS))


def test_a_format_can_be_named(tmp_path):
    path = tmp_path / "facts.data"
    path.touch()
    for format in ("tsv", "rdf", "wikidata", "jsonl"):
        assert open_source(path, format=format).format == format
    with pytest.raises(BadInput, match="'xls'") as error:
        open_source(path, format="xls")
    assert error.value.remedy.endswith(", ".join(FORMATS))


def test_the_language_is_handed_on(tmp_path):
    for name in ("a.nt", "a.json"):
        (tmp_path / name).write_text(json.dumps(ITEM))
        assert open_source(tmp_path / name, lang="de").lang == "de"


def test_a_graph_is_not_imported_but_opened(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(BadInput, match="this is a graph already; look at it with: kgraft graph"):
        find_format(tmp_path)
