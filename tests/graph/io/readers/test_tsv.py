"""Folders of TSV and CSV files: roles, headers, escapes, lists, counts, and what is refused."""

import bz2
import gzip

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput, KgraftError
from kgraft.graph import Graph, Refusals, build_graph
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.readers.tsv import TsvSource, unescape
from kgraft.graph.io.tables import delimited

ENTITIES = "id\tlabel\nx\tX\ny\tY\n"
TRIPLES = "head\trelation\ttail\nx\tnear\ty\n"


@pytest.fixture
def write(tmp_path):
    """Write files into a new folder: `write(entities_tsv="…")`; return the folder."""

    def write(**files):
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "source"
        folder.mkdir(parents=True)
        for name, content in files.items():
            stem, _, suffix = name.partition("_")
            data = content.encode() if isinstance(content, str) else content
            (folder / f"{stem}.{suffix.replace('_', '.')}").write_bytes(data)
        return folder

    return write


@pytest.fixture
def read(write, collect):
    """Read a folder with these files into lists."""

    def read(skip=False, path=None, **files):
        files.setdefault("triples_tsv", TRIPLES)
        return collect(TsvSource(write(**files)), skip=skip, path=path)

    return read


def message_of(read, **files):
    with pytest.raises(BadInput) as error:
        read(**files)
    return str(error.value).rpartition("/source/")[2]


# What is read


def test_a_folder_of_three_files(read):
    got = read(
        entities_tsv=(
            "id\tlabel\tdescription\taliases\ttypes\n"
            "x\tEx\tthe letter\tEks|Xi\tletter|sign\n"
            "y\tWhy\t\t\t\n"
        ),
        relations_tsv="id\tlabel\tdescription\tinverse\nnear\tis near\tclose by\tnear\n",
        triples_tsv=TRIPLES,
    )
    assert got.entities == [
        {
            "id": "x",
            "label": "Ex",
            "description": "the letter",
            "aliases": ["Eks", "Xi"],
            "types": ["letter", "sign"],
        },
        {"id": "y", "label": "Why", "description": "", "aliases": [], "types": []},
    ]
    assert got.lines == [2, 3]
    assert got.relations == [
        {"id": "near", "label": "is near", "description": "close by", "inverse": "near"}
    ]
    assert got.triples == [("x", "near", "y", "train")]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", "train"),
        ("triples", "train"),
        ("valid", "valid"),
        ("dev", "valid"),
        ("test", "test"),
    ],
)
@pytest.mark.parametrize("suffix", ["tsv", "txt", "csv"])
def test_the_name_of_a_file_tells_the_split(write, collect, name, split, suffix):
    content = TRIPLES.replace("\t", ",") if suffix == "csv" else TRIPLES
    source = TsvSource(write(**{f"{name}_{suffix}": content}))
    assert collect(source).triples == [("x", "near", "y", split)]


def test_all_splits_together(write, collect):
    folder = write(train_tsv=TRIPLES, dev_tsv="y\tnear\tx\n", test_tsv="x\tfar\ty\n")
    assert collect(TsvSource(folder)).triples == [
        ("x", "near", "y", "train"),
        ("y", "near", "x", "valid"),
        ("x", "far", "y", "test"),
    ]


def test_three_columns_need_no_header(read):
    got = read(triples_tsv="/m/1\t/film/actor\t/m/2\nb\tr\tc\n")
    assert got.triples == [("/m/1", "/film/actor", "/m/2", "train"), ("b", "r", "c", "train")]


def test_columns_of_triples_in_any_order_among_others(read):
    got = read(triples_tsv="source\ttail\thead\trelation\nbook\tb\ta\tr\n")
    assert got.triples == [("a", "r", "b", "train")]


def test_one_file_alone(write, collect):
    path = write(facts_tsv="a\tr\tb\n") / "facts.tsv"
    source = TsvSource(path)
    assert (source.describe(), source.unknown) == ("facts.tsv", "add")
    assert collect(source).triples == [("a", "r", "b", "train")]


def test_undeclared_entities_are_added_or_refused(write, tmp_path):
    folder = write(train_tsv="x\tnear\tz\n", entities_tsv=ENTITIES)
    manifest = build_graph(TsvSource(folder), tmp_path / "g")
    assert manifest.entities == 3
    assert [note[:8] for note in manifest.notes] == ["1 entity"]
    assert Graph.open(tmp_path / "g").entity("z").label == "z"
    with pytest.raises(BadInput, match=r"train\.tsv:1: unknown entity: 'z'"):
        build_graph(TsvSource(folder, TableOptions(undeclared="refuse")), tmp_path / "h")


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_packed_files(read, suffix, pack):
    files = {f"entities_tsv_{suffix}": pack(ENTITIES.encode())}
    got = read(**files, **{f"train_csv_{suffix}": pack(b"x,near,y\n")})
    assert [row["label"] for row in got.entities] == ["X", "Y"]
    assert ("x", "near", "y", "train") in got.triples


def test_a_plain_file_goes_before_a_packed_one(write):
    folder = write(train_tsv_gz=b"", train_csv=b"", train_tsv=TRIPLES)
    assert TsvSource(folder).files["train"].name == "train.tsv"


def test_windows_files(read):
    text = "\ufeff" + ENTITIES.replace("\n", "\r\n") + "\r\n\r\nz\tZ"
    got = read(entities_tsv=text, triples_tsv="\ufeff" + TRIPLES.replace("\n", "\r\n"))
    assert got.entities == [{"id": key, "label": key.upper()} for key in "xyz"]
    assert got.lines == [2, 3, 6]
    assert got.triples == [("x", "near", "y", "train")]


def test_blank_lines_count_as_lines(read):
    got = read(entities_tsv="\nid\n\n\nx\n\ny\n\n")
    assert [row["id"] for row in got.entities] == ["x", "y"]
    assert got.lines == [5, 7]


def test_other_columns_are_kept_as_text(read):
    got = read(entities_tsv="population\tid\tpopulation|2020\n007\tx\t1|2\n")
    assert got.entities == [{"population": "007", "id": "x", "population|2020": "1|2"}]


def test_lists_of_entities_are_texts_of_relations(read):
    got = read(relations_tsv="id\taliases\ttypes\tname_counts\nnear\tby|close\tx|y\tmany\n")
    assert got.relations == [
        {"id": "near", "aliases": ["by", "close"], "types": ["x", "y"], "name_counts": "many"}
    ]


def test_empty_items_of_a_list_are_no_items(read):
    got = read(entities_tsv="id\taliases\nx\t|a||b|\ny\t|\n")
    assert [row["aliases"] for row in got.entities] == [["a", "b"], []]


def test_singular_names_of_list_columns(read):
    got = read(entities_tsv="id\talias\ttype\nx\ta|b\tletter\n")
    assert got.entities == [{"id": "x", "aliases": ["a", "b"], "types": ["letter"]}]


def test_name_counts(read):
    got = read(entities_tsv="id\taliases\tname_counts\nx\ta|b\t1|20|0\ny\t\t\nz\t\t7\n")
    assert [row["name_counts"] for row in got.entities] == [[1, 20, 0], None, [7]]


def test_headers_alone(read):
    got = read(entities_tsv="id\tlabel\n", triples_tsv="head\trelation\ttail\n")
    assert got.entities == got.triples == []


def test_an_empty_file_of_triples_holds_none(read):
    assert read(entities_tsv=ENTITIES, triples_tsv="").triples == []


# Escapes


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"Compi\u00E8gne", "Compiègne"),
        (r"\U0001F600", "😀"),
        (r"say \"hi\"", 'say "hi"'),
        (r"a\u0009b\u000Ac", "a\tb\nc"),
        (r"C:\temp\new \'x\' \\", r"C:\temp\new \'x\' \\"),
        (r"\u005Cu00E8", r"\u00E8"),
        (r"C:\dir \u12 \U00110000 \x", r"C:\dir \u12 \U00110000 \x"),  # no escapes: they stay
        ("\\", "\\"),
        (r"\ud800", "\ufffd"),
    ],
)
def test_escapes(read, escaped, text):
    assert unescape(escaped) == text
    got = read(
        entities_tsv=f"id\tlabel\taliases\n{escaped}\t{escaped}\tone|{escaped}\n",
        triples_tsv=f"{escaped}\t{escaped}\t{escaped}\n",
    )
    assert got.entities == [{"id": text, "label": text, "aliases": ["one", text]}]
    assert got.triples == [(text, text, text, "train")]


def test_an_escaped_bar_is_no_end_of_an_item(read):
    got = read(entities_tsv="id\taliases\nx\ta\\u007Cb|c\n")
    assert got.entities[0]["aliases"] == ["a|b", "c"]


def test_names_of_columns_are_escaped_too(read):
    assert read(entities_tsv="id\ta\\u0009b\nx\t1\n").entities == [{"id": "x", "a\tb": "1"}]


def test_quotes_of_tsv_are_characters(read):
    got = read(entities_tsv='id\tlabel\nx\t"Ex"\ny\t"\n')
    assert [row["label"] for row in got.entities] == ['"Ex"', '"']


def test_a_csv_is_quoted_and_not_escaped(read):
    got = read(
        entities_csv='id,label,aliases\nx,"one, ""two""\nthree","a\\u007Cb|c"\ny,C:\\new,\n',
        triples_csv='"x",near,y\n',
        triples_tsv="",
    )
    assert got.entities == [
        {"id": "x", "label": 'one, "two"\nthree', "aliases": [r"a\u007Cb", "c"]},
        {"id": "y", "label": r"C:\new", "aliases": []},
    ]
    assert got.lines == [2, 4]


# What is refused


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_a_wrong_number_of_columns(read, suffix):
    mark = "\t" if suffix == "tsv" else ","
    for line, count in ((f"z{mark}Z{mark}!", 3), ("z", 1)):
        message = message_of(read, **{f"entities_{suffix}": f"id{mark}label\nx{mark}X\n{line}\n"})
        assert message == (
            f"entities.{suffix}:3: wrong number of columns: {count} instead of 2; "
            "mend the line, or leave such lines out (--skip-bad)"
        )


def test_headers_that_do_not_do(read):
    assert message_of(read, entities_tsv="surname\tlabel\nx\tX\n") == (
        "entities.tsv:1: the header is: surname | label; "
        "it needs a column named id, or --columns id=…,label=…"
    )
    assert "every name once" in message_of(read, entities_tsv="id\tlabel\tlabel\n")
    assert "every name once" in message_of(read, entities_tsv="id\tid\n")
    assert "the header is: a b" in message_of(read, entities_csv='"a\nb",label\n')


def test_an_empty_file_of_entities(read):
    for content in ("", "\n\n", "\ufeff"):
        assert message_of(read, entities_tsv=content) == (
            "entities.tsv: the file is empty; give it a header line"
        )


def test_triples_that_lack_a_part(read):
    for line in ("\tr\tb", "a\t\tb", "a\tr\t"):
        message = message_of(read, triples_tsv=f"a\tr\tb\n{line}\n")
        assert message.startswith("triples.tsv:2: empty field; mend the line")
    got = read(skip=True, triples_tsv="a\tr\tb\n\tr\tb\na\tr\tc\n")
    assert [triple[2] for triple in got.triples] == ["b", "c"]
    assert got.refused == {"empty field": 1}


@pytest.mark.parametrize("counts", ["many", "1,2", "1|", "-1", "1.0", "٣", "9" * 19, " 1"])
def test_name_counts_that_are_no_numbers(read, counts):
    entities = f"id\tname_counts\nx\t3\ny\t{counts}\nz\t4\n"
    message = message_of(read, entities_tsv=entities)
    assert message.startswith(f"entities.tsv:3: name_counts are not numbers: {counts!r}; mend")
    got = read(skip=True, entities_tsv=entities)
    assert [row["id"] for row in got.entities] == ["x", "z"]
    assert got.refused == {"name_counts are not numbers": 1}


def test_invalid_utf8(read):
    for suffix, mark in (("tsv", b"\t"), ("csv", b",")):
        lines = [b"id" + mark + b"label", b"x" + mark + b"X", b"y" + mark + b"\xe9t\xe9", b""]
        message = message_of(read, **{f"entities_{suffix}": b"\n".join(lines)})
        assert message == (
            f"entities.{suffix}:3: invalid UTF-8: byte 0xe9 at column 3; "
            "convert it to UTF-8 (iconv -t UTF-8), or leave such lines out (--skip-bad)"
        )


def test_a_truncated_gzip(read):
    data = gzip.compress(ENTITIES.encode() * 100)
    assert "entities.tsv.gz: the gzip file is truncated" in message_of(
        read, entities_tsv_gz=data[: len(data) // 2]
    )


def test_a_folder_without_triples(write):
    with pytest.raises(BadInput, match=r"no file of triples in this folder; add train\.tsv or"):
        TsvSource(write(entities_tsv=ENTITIES))


def test_skipping_keeps_file_line_reason_and_text(read, tmp_path):
    path = tmp_path / "refused.tsv"
    got = read(
        skip=True,
        path=path,
        entities_tsv=b"id\tlabel\nx\nz\t\xff\ny\tY\n",
        triples_tsv="x\tr\ty\nx\ty\n",
    )
    assert [row["id"] for row in got.entities] == ["y"]
    assert got.refused == {"wrong number of columns": 2, "invalid UTF-8": 1}
    lines = [line.split("\t", 2) for line in path.read_text().splitlines()]
    assert [(place.rpartition("/")[2], reason, text) for place, reason, text in lines] == [
        ("entities.tsv:3", "invalid UTF-8: byte 0xff at column 3", "z\t\\xff"),
        ("entities.tsv:2", "wrong number of columns: 1 instead of 2", "x"),
        ("triples.tsv:2", "wrong number of columns: 2 instead of 3", "x\ty"),
    ]


# Blocks


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_blocks_may_end_anywhere(read, monkeypatch, size):
    monkeypatch.setattr(delimited, "BLOCK", size)
    monkeypatch.setattr(delimited, "ROWS", size)
    got = read(
        entities_tsv="\ufeffid\tlabel\r\n\nx\tÉté 😀\r\ny\tY",
        train_csv='head,relation,tail\n"x",\n"two\nlines",near,y\nx,near,y\n',
        skip=True,
    )
    assert got.entities == [{"id": "x", "label": "Été 😀"}, {"id": "y", "label": "Y"}]
    assert got.lines == [3, 4]
    assert ("two\nlines", "near", "y", "train") in got.triples
    assert got.refused == {"wrong number of columns": 1}


# Any bytes

SNIPPETS = st.sampled_from(
    [
        b"id\tlabel\taliases\tname_counts\n",
        b"head\trelation\ttail\n",
        b"x\tX\ta|b\t1|2|3\n",
        b"id,label\n",
        b"x,near,y\n",
        b"x\tnear\ty\n",
        b"\t",
        b"|",
        b'"',
        b"\\u00",
        b"\\",
        b"\r\n",
        b"\n",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        "\u0663\u2028".encode(),
    ]
)
CONTENT = st.binary(max_size=40) | st.lists(SNIPPETS | st.binary(max_size=3)).map(b"".join)
FILES = ("entities.tsv", "entities.csv", "relations.tsv", "triples.tsv", "train.csv", "test.txt.gz")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=at_most(60), deadline=None)
@given(content=CONTENT, skip=st.booleans())
@example(content="id\tname_counts\nx\t٣\n".encode(), skip=True)
@example(content=b'"a\nb",id,id\n', skip=False)
def test_any_bytes_import_or_raise_our_error(tmp_path_factory, name, content, skip):
    place = tmp_path_factory.mktemp("any")
    source = place / "source"
    source.mkdir()
    for known, text in (("entities.tsv", ENTITIES), ("triples.tsv", TRIPLES)):
        if known.split(".")[0] != name.split(".")[0]:
            (source / known).write_text(text)
    packed = name.endswith(".gz") and len(content) % 2
    (source / name).write_bytes(gzip.compress(content) if packed else content)
    refusals = Refusals(skip=skip, path=place / "g.refused.tsv")
    try:
        manifest = build_graph(TsvSource(source), place / "g", refusals=refusals)
    except KgraftError as error:
        message = str(error)
        left = {path.name for path in place.glob("g*")}
    else:
        message = ""
        left = set()
        assert len(Graph.open(place / "g").triples) == manifest.triples
        assert skip or not manifest.refused
    assert "\n" not in message
    assert left <= ({"g.refused.tsv"} if skip else set())


def test_the_words_of_rdf_name_the_parts_too(tmp_path, collect):
    path = tmp_path / "facts.tsv"
    path.write_text("object\tsubject\tpredicate\nparis\tfrance\tcapital\n")
    assert collect(TsvSource(path)).triples == [("france", "capital", "paris", "train")]
