import bz2
import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import BadInput
from kgraft.graph.io.readers.jsonl import JsonlSource

SAMPLE = """\
{"head": "Q64", "relation": "P17", "tail": "Q183", "split": "test", "weight": 0.5}
{"kind": "entity", "id": "Q64", "label": "Berlin", "aliases": ["B", "B"], "types": ["city"], \
"name_counts": [9, 1, 0], "population": 3769495, "capital": true, "note": "x", "nothing": null}

{"kind": "relation", "id": "P17", "label": "country", "template": "[X] is in [Y] ."}
{"id": "Q183", "description": "a \\u00e9 country"}
{"kind": "triple", "head": "Q183", "relation": "P17", "tail": "Q183"}
"""


def source(folder, text, name="g.jsonl"):
    path = folder / name
    path.write_bytes(text.encode())
    return JsonlSource(path)


def test_sample(tmp_path, collect):
    reader = source(tmp_path, SAMPLE)
    got = collect(reader)
    berlin, germany = got.entities
    assert got.lines == [2, 5]
    assert berlin["aliases"] == ["B", "B"]
    assert berlin["types"] == ["city"]
    assert berlin["name_counts"] == [9, 1, 0]
    assert (berlin["population"], berlin["capital"], berlin["note"]) == ("3769495", "true", "x")
    assert germany["label"] is None
    assert germany["description"] == "a é country"
    assert got.relations[0]["template"] == "[X] is in [Y] ."
    assert got.triples == [("Q183", "P17", "Q183", "train"), ("Q64", "P17", "Q183", "test")]
    assert got.left_out == {"other fields of triples": 1}
    assert reader.unknown == "add"


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_packed(tmp_path, collect, suffix, pack):
    path = tmp_path / f"g.jsonl{suffix}"
    path.write_bytes(pack(SAMPLE.encode()))
    assert collect(JsonlSource(path)) == collect(source(tmp_path, SAMPLE))


def test_a_folder(tmp_path, collect):
    (tmp_path / "edges.jsonl").write_text('{"subject": "a", "predicate": "r", "object": "b"}\n')
    (tmp_path / "nodes.jsonl").write_text('{"id": "a", "name": "Ann"}\n{"id": "b"}\n')
    (tmp_path / "notes.txt").write_text("no JSON")
    got = collect(JsonlSource(tmp_path))
    assert [row["id"] for row in got.entities] == ["a", "b"]
    assert got.triples == [("a", "r", "b", "train")]
    (tmp_path / "nodes.jsonl").write_text('{"id": "a"}\n{')
    with pytest.raises(BadInput) as error:
        collect(JsonlSource(tmp_path))
    assert (error.value.file, error.value.line) == (str(tmp_path / "nodes.jsonl"), 2)


def test_a_file_of_triples_only_may_name_any_entity(tmp_path, collect):
    reader = source(tmp_path, '{"head": "a", "relation": "r", "tail": "b"}\n')
    assert collect(reader).triples == [("a", "r", "b", "train")]
    assert reader.unknown == "add"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "expected one object per line, found a list"),
        ("{", "at column 2"),
        ('{"label": "x"}', "no id"),
        ('{"id": ""}', "no id"),
        ('{"kind": "entity", "id": 5}', "id must be a string, found a number"),
        ('{"id": "a", "aliases": "b|c"}', "aliases must be a list, found a string"),
        ('{"id": "a", "types": [1]}', "types must be a string, found a number"),
        ('{"id": "a", "label": ["b"]}', "label must be a string, found a list"),
        ('{"id": "a", "name_counts": [1, 2]}', "one number for the label and one for each alias"),
        ('{"id": "a", "name_counts": [-1]}', "whole numbers"),
        ('{"id": "a", "name_counts": [9223372036854775808]}', "whole numbers"),
        ('{"id": "a", "name_counts": [true]}', "whole numbers"),
        ('{"id": [5]}', "id must be a string, found a list"),
        ('{"id": "a\\ud800"}', "half of a surrogate pair"),
        ('{"kind": "edge", "id": "a"}', "no source and target"),
        (
            '{"kind": "fact", "head": "a", "relation": "r", "tail": "b"}',
            'entity, relation, triple, literal, found "fact"',
        ),
        ('{"kind": "triple", "head": "a", "relation": "r"}', "no tail"),
        ('{"head": "a", "relation": 1, "tail": "b"}', "relation must be a string"),
        ('{"head": "a", "relation": "r", "tail": "b", "split": "dev"}', 'found "dev"'),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_lines_are_refused_once(tmp_path, collect, line, reason):
    reader = source(tmp_path, f'{{"id": "good"}}\n{line}\n{{"id": "last"}}\n')
    with pytest.raises(BadInput) as raised:
        collect(reader)
    assert raised.value.line == 2
    assert reason in str(raised.value)
    refused = tmp_path / "refused"
    got = collect(reader, skip=True, path=refused)
    assert [entity["id"] for entity in got.entities] == ["good", "last"]
    assert got.refused.total() == 1
    assert len(refused.read_text().splitlines()) == 1


def test_names_of_other_programs(tmp_path, collect):
    lines = [
        '{"source": 1, "target": 2.5, "type": "knows", "weight": 3}',
        '{"id": 1, "name": "Ann", "synonym": ["A", "Annie"], "category": "person|boss", "age": 7}',
        '{"subject": "a", "predicate": "r", "object": "b", "evidence": "x"}',
        '{"from": "a", "to": "b", "label": ""}',
    ]
    reader = source(tmp_path, "\n".join(lines))
    got = collect(reader)
    assert got.triples == [
        ("1", "knows", "2.5", "train"),
        ("a", "r", "b", "train"),
        ("a", "related to", "b", "train"),
    ]
    (ann,) = got.entities
    assert (ann["id"], ann["label"], ann["aliases"]) == ("1", "Ann", ["A", "Annie"])
    assert (ann["types"], ann["age"]) == (["person", "boss"], "7")
    assert got.left_out == {"other fields of triples": 2}
    assert "g.jsonl: field 'name' of entities read as label" in got.notes
    assert "g.jsonl: field 'predicate' of triples read as relation" in got.notes


def test_exports_of_apoc(tmp_path, collect):
    lines = [
        '{"type":"node","id":"0","labels":["User"],"properties":{"name":"Adam","age":42}}',
        '{"type":"node","id":"1","labels":["User","Boss"],"properties":{"id":"x"}}',
        '{"id":"0","type":"relationship","label":"KNOWS","properties":{"since":1993},'
        '"start":{"id":"0","labels":["User"]},"end":{"id":"1"}}',
    ]
    got = collect(source(tmp_path, "\n".join(lines)))
    assert [(e["id"], e["label"], e["types"]) for e in got.entities] == [
        ("0", "Adam", ["User"]),
        ("1", None, ["User", "Boss"]),
    ]
    assert got.triples == [("0", "KNOWS", "1", "train")]
    assert got.left_out == {"other fields of triples": 1}


def test_nested_fields_are_counted(tmp_path, collect):
    got = collect(source(tmp_path, '{"id": "a", "place": {"lat": 1}, "x": [1]}\n'))
    assert got.entities[0]["id"] == "a"
    assert got.left_out == {"nested fields of entities and relations": 2}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELD = st.sampled_from(
    ["kind", "id", "label", "aliases", "types", "name_counts", "head", "relation", "tail", "split"]
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(FIELD | st.text(), JSON | st.lists(st.text())) | JSON, max_size=4))
def test_any_json_is_read_or_refused(tmp_path_factory, collect, values):
    path = tmp_path_factory.mktemp("any") / "g.jsonl"
    path.write_text("\n".join(map(json.dumps, values)) + "\n")
    got = collect(JsonlSource(path), skip=True)
    kept = len(got.entities) + len(got.relations) + len(got.triples)
    assert kept + got.refused.total() == len(values)
