"""SQLite and DuckDB tables by a mapping file."""

import sqlite3
from contextlib import closing

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.errors import BadInput, KgraftError
from kgraft.graph import open_source

SQL = """
CREATE TABLE person (id INTEGER, name TEXT, nick TEXT, email TEXT);
INSERT INTO person VALUES (1, 'Ann', 'A|Annie', 'ann@example.org'), (2, 'Bob', NULL, NULL);
CREATE TABLE company (id INTEGER, name TEXT, kind TEXT);
INSERT INTO company VALUES (1, 'Acme', 'maker');
CREATE TABLE employment (person_id INTEGER, company_id INTEGER, role TEXT);
INSERT INTO employment VALUES (1, 1, 'boss'), (2, 1, 'clerk'), (2, NULL, 'guest');
"""
MAPPING = """
database = "DATABASE"

[[entities]]
table = "person"
id = "id"
prefix = "person:"
label = "name"
aliases = "nick"
type = "Person"
columns = ["email"]

[[entities]]
query = "SELECT * FROM company"
id = "id"
prefix = "company:"
label = "name"
types = "kind"

[[triples]]
table = "employment"
head = "person_id"
head_prefix = "person:"
relation_column = "role"
tail = "company_id"
tail_prefix = "company:"

[[triples]]
query = "SELECT 1 AS a, 2 AS b"
head = "a"
head_prefix = "person:"
relation = "knows"
tail = "b"
tail_prefix = "person:"
"""


def make(folder, name="data.db"):
    path = folder / name
    if name.endswith("duckdb"):
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute(SQL)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SQL)
    mapping = folder / "mapping.toml"
    mapping.write_text(MAPPING.replace("DATABASE", name))
    return mapping


@pytest.mark.parametrize("name", ["data.db", "data.duckdb"])
def test_tables_of_a_database(tmp_path, collect, name):
    got = collect(open_source(make(tmp_path, name)))
    ann, bob, acme = got.entities
    assert (ann["id"], ann["label"], ann["aliases"]) == ("person:1", "Ann", ["A", "Annie"])
    assert (ann["types"], ann["email"]) == (["Person"], "ann@example.org")
    assert (bob["aliases"], bob["email"]) == ([], "")
    assert (acme["id"], acme["types"]) == ("company:1", ["maker"])
    assert [triple[:3] for triple in got.triples] == [
        ("person:1", "boss", "company:1"),
        ("person:2", "clerk", "company:1"),
        ("person:1", "knows", "person:2"),
    ]
    assert got.left_out == {"rows of triples with NULL or nothing in a part": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data.db", "data.duckdb"])
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('table = "person"', 'table = "nobody"', "the database says"),
        ("SELECT * FROM company", "DROP TABLE company", "the database says"),
        ('label = "name"', 'label = "title"', "no column 'title'"),
        ('id = "id"', 'key = "id"', "unknown key 'key'"),
        ('id = "id"\n', "", "without id"),
        ('table = "person"\n', "", "without a source"),
        ('prefix = "person:"', "prefix = 5", "prefix in .* is not a text"),
        ("[[entities]]", "[entities", "cannot be read as TOML"),
        ('database = "data', 'database = "nowhere', "no such database"),
        ("database =", "base =", "names no database"),
    ],
)
def test_bad_mappings_are_refused(tmp_path, collect, name, old, new, words):
    mapping = make(tmp_path, name)
    before = (tmp_path / name).read_bytes()
    mapping.write_text(mapping.read_text().replace(old, new, 1))
    with pytest.raises(BadInput, match=words):
        collect(open_source(mapping))
    assert (tmp_path / name).read_bytes() == before


@given(
    text=st.text(max_size=40)
    | st.sampled_from(["database = 'x'", "database = 5", "entities = 5\ndatabase='x'", "[[a]]"])
)
def test_any_mapping_is_refused(tmp_path_factory, collect, text):
    path = tmp_path_factory.mktemp("any") / "mapping.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(KgraftError) as error:
        collect(open_source(path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_database(tmp_path, collect):
    mapping = make(tmp_path)
    (tmp_path / "data.db").write_bytes(b"no database" * 1000)
    with pytest.raises(BadInput, match="the database says: file is not a database"):
        collect(open_source(mapping))
