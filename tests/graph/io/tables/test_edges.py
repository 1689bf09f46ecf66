"""Edge lists of other programs: what is a header, what the columns mean, what is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput, KgraftError
from kgraft.graph import Graph, build_graph, open_source
from kgraft.graph.io.options import TableOptions
from kgraft.graph.io.readers.tsv import TsvSource

KNOWS = [("a", "knows", "b", "train"), ("b", "knows", "c", "train")]
RELATED = [("a", "related to", "b", "train"), ("b", "related to", "c", "train")]
BOTH = [
    *RELATED,
    ("b", "related to", "a", "train"),
    ("c", "related to", "b", "train"),
]


@pytest.fixture
def read(tmp_path, collect):
    """Read one file with this text: `read(text, "edges.csv", columns=…, header=…)`."""

    def read(text, name="list.csv", **options):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return collect(TsvSource(path, TableOptions(**options)))

    return read


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("source,target,type\na,b,knows\nb,c,knows\n", KNOWS),
        ("Source;Target;Label\na;b;knows\nb;c;knows\n", KNOWS),
        ("Source\tTarget\tRelation\na\tb\tknows\nb\tc\tknows\n", KNOWS),
        ("from|to|rel\na|b|knows\nb|c|knows\n", KNOWS),
        ('"subject","predicate","object"\n"a","knows","b"\n"b","knows","c"\n', KNOWS),
        ("Subject, Predicate, Object\na, knows, b\nb, knows, c\n", KNOWS),
        (":START_ID,:END_ID,:TYPE\na,b,knows\nb,c,knows\n", KNOWS),
        (":START_ID(P),since:int,:END_ID(P),:TYPE\na,1,b,knows\nb,2,c,knows\n", KNOWS),
        ("head,relation,tail\na,knows,b\nb,knows,c\n", KNOWS),
        ("HEAD,RELATION,TAIL\na,knows,b\nb,knows,c\n", KNOWS),
        ("src,dst\na,b\nb,c\n", RELATED),
        ("from,to,weight\na,b,1\nb,c,2\n", RELATED),
        ("subject_id,predicate_id,object_id\na,knows,b\nb,knows,c\n", KNOWS),
        ("subject,object,predicate,relation\na,b,knows,x\nb,c,knows,x\n", KNOWS),
        ("start,end\na,b\nb,c\n", RELATED),
        ("u,v,key,length\na,b,0,1.5\nb,c,0,2.5\n", RELATED),
        ("fact,subject_ref,predicate,object_ref\n1,a,knows,b\n2,b,knows,c\n", KNOWS),
        ("Id,Source,Target,Type,Label\n0,a,b,Directed,knows\n1,b,c,Directed,knows\n", KNOWS),
        ("Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,1\nb,c,Undirected,1,,1\n", BOTH),
        ("Source,Target,Type\na,b,Undirected\nb,c,Undirected\n", BOTH),
        ("\ufeffsource,target,type\r\na,b,knows\r\nb,c,knows\r\n", KNOWS),
    ],
)
def test_headers_of_other_programs(read, text, triples):
    assert read(text).triples == triples


def test_what_was_read_as_what_is_noted(read):
    got = read("Source,Target,Weight\na,b,3\nb,c,\n")
    assert got.notes == [
        "list.csv: column 'Source' read as head",
        "list.csv: no column names the relation; it is 'related to'",
        "list.csv: column 'Target' read as tail",
    ]
    assert got.left_out == {"values of the column 'Weight' of triples": 1}
    assert read("head,relation,tail\na,r,b\n").notes == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "a b\nb c\nc a\n"),
        ("list.edgelist", "# a comment\na b\nb c\nc a\n"),
        ("list.tsv", "# nodes: 3\n# edges: 3\n\na\tb\nb\tc\nc\ta\n"),
        ("list.edgelist", "a b {}\nb c {}\nc a {}\n"),
        ("list.edgelist", "a b {'weight': 3}\nb c {'weight': 1}\nc a {'weight': 2}\n"),
        ("list.csv", "a,b\nb,c\nc,a\n"),
        ("list.csv", "a, b\nb, c\nc, a\n"),
    ],
)
def test_two_columns_without_a_header(read, name, text):
    assert [t[:3] for t in read(text, name).triples] == [
        (head, "related to", tail) for head, tail in ("ab", "bc", "ca")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a\tknows\tb\nb\tknows\tc\n",
        "#a\tknows\tb\n#b\tknows\tc\n",
        "/m/1\t/film/actor\t/m/2\n/m/3\t/film/genre\t/m/4\n",
        "Berlin\tcapital of\tGermany\nGermany\tborders\tFrance\n",
    ],
)
def test_three_columns_without_a_header(read, text):
    rows = [tuple(line.split("\t")) for line in text.splitlines()]
    assert [triple[:3] for triple in read(text, "list.tsv").triples] == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("person,role,firm\nann,boss,acme\nbob,clerk,initech\n", "--no-header"),
        ("name,city\nann,paris\nbob,rome\n", "--no-header"),
        ("0,1,3735.0\n0,2,1060.0\n", "head=1,tail=2"),
        ("a,b,38\na,c,82\n", "head=1,tail=2"),
        ("iata,city,state\nABE,x,PA\nABI,y,TX\n", "--no-header"),
        ("a,b,c,d\ne,f,g,h\n", "--columns head=…"),
        ("date,open,high,low\n2020,1,2,3\n", "--columns head=…"),
        ("text,start,end,label\nx,1,2,person\n", "--columns head=…"),
    ],
)
def test_what_is_not_clear_is_asked_for(read, text, words):
    with pytest.raises(BadInput) as error:
        read(text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.line == 1


def test_columns_may_be_named(read):
    text = "person,role,firm\nann,boss,acme\nbob,boss,acme\n"
    triples = [("ann", "boss", "acme", "train"), ("bob", "boss", "acme", "train")]
    named = {"head": "person", "relation": "role", "tail": "firm"}
    assert read(text, columns=named).triples == triples
    numbered = {"head": "1", "relation": "2", "tail": "3"}
    assert read(text, columns=numbered, header=True).triples == triples
    with pytest.raises(BadInput, match="say --header"):
        read(text, columns=numbered)
    assert len(read(text, header=False).triples) == 3
    got = read("1 2 0.5\n2 3 0.1\n", "list.txt", columns={"head": "1", "tail": "2"})
    assert [triple[:3] for triple in got.triples] == [
        ("1", "related to", "2"),
        ("2", "related to", "3"),
    ]
    with pytest.raises(BadInput, match="no column is named 'company'"):
        read(text, columns={"head": "person", "tail": "company"})
    with pytest.raises(BadInput, match="no column is named for tail"):
        read(text, columns={"head": "person"})
    with pytest.raises(BadInput, match="unknown column 'whole'"):
        read(text, columns={"whole": "person"})


def test_a_table_of_entities_alone(read):
    got = read("ID,Name,Alt Labels,desc,Category\n1,Ann,A|Annie,a boss,person\n2,Bob,,,\n")
    assert got.entities[0] == {
        "id": "1",
        "label": "Ann",
        "aliases": ["A", "Annie"],
        "description": "a boss",
        "types": ["person"],
    }
    assert "list.csv: column 'Name' read as label" in got.notes
    got = read("iata,name,city\nABE,Lehigh,x\n", columns={"id": "iata"})
    assert got.entities == [{"id": "ABE", "label": "Lehigh", "city": "x"}]


def write_folder(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return folder


def test_a_folder_of_neo4j(tmp_path):
    folder = write_folder(
        tmp_path / "neo",
        other_csv="whatever\nx\n",
        movies_csv="movieId:ID(Movie),title,year:int,:LABEL\n1,The Matrix,1999,Movie;Film\n",
        actors_csv="personId:ID(Person),name,:LABEL,:IGNORE\n1,Keanu,Actor,x\n2,Carrie,Actor,y\n",
        roles_csv=":START_ID(Person),role,:END_ID(Movie),:TYPE\n1,Neo,1,ACTED_IN\n2,Trinity,1,ACTED_IN\n",
    )
    manifest = build_graph(open_source(folder), tmp_path / "g")
    graph = Graph.open(tmp_path / "g")
    assert (manifest.entities, manifest.triples) == (3, 2)
    matrix = graph.entity("Movie:1")
    assert (matrix.label, matrix.types) == ("The Matrix", ("Movie", "Film"))
    assert graph.entities.column_names[-1] == "year"
    assert {n.entity.label for n in graph.neighbours(matrix)} == {"Keanu", "Carrie"}
    assert manifest.left_out == {
        "values of the column 'role' of triples": 2,
        "files whose columns are not known: other.csv": 1,
    }


def test_nodes_that_are_a_list_of_numbers(tmp_path, collect):
    folder = write_folder(
        tmp_path / "snap", nodes_csv="440\n3977\n7\n", edges_csv="440,3977\n3977,7\n"
    )
    got = collect(open_source(folder))
    assert [row["id"] for row in got.entities] == ["440", "3977", "7"]
    assert len(got.triples) == 2
    folder = write_folder(tmp_path / "named", nodes_csv="person\n7\n", edges_csv="7,8\n7,9\n9,7\n")
    with pytest.raises(BadInput) as error:
        collect(open_source(folder))
    assert (error.value.file, error.value.line) == (str(folder / "nodes.csv"), 1)


def test_a_folder_of_gephi(tmp_path, collect):
    folder = write_folder(
        tmp_path / "gephi",
        nodes_csv="Id,Label,timeset,modularity\nn1,Ann,,3\nn2,Bob,,3\n",
        edges_csv="Source,Target,Type,Id,Label,timeset,Weight\nn1,n2,Directed,0,knows,,1.0\n",
    )
    got = collect(open_source(folder))
    assert [(e["id"], e["label"], e["modularity"]) for e in got.entities] == [
        ("n1", "Ann", "3"),
        ("n2", "Bob", "3"),
    ]
    assert got.triples == [("n1", "knows", "n2", "train")]


def test_lists_are_split_where_the_program_splits_them(read):
    got = read("id:ID,name,aliases:string[],:LABEL\n1,Ann,A;B,Person;Boss\n")
    assert (got.entities[0]["aliases"], got.entities[0]["types"]) == (
        ["A", "B"],
        ["Person", "Boss"],
    )
    got = read("id,name,synonyms\n1,Ann,A; B\n2,Bob,\n")
    assert got.entities[0]["aliases"] == ["A", "B"]
    assert read("id,aliases\n1,A;B\n").entities[0]["aliases"] == ["A;B"]


NAMES = st.sampled_from(["source", "Target", "type", ":ID", ":TYPE", "a", "1", "", '"x"', "#", "é"])
MARKS = st.sampled_from([",", ";", "\t", "|", " ", "\n", "\r\n", "\\", '"'])
TEXT = st.lists(st.tuples(NAMES, MARKS)).map(lambda parts: "".join(a + b for a, b in parts))


@settings(max_examples=at_most(150))
@given(
    text=TEXT | st.text(max_size=30),
    suffix=st.sampled_from([".csv", ".tsv", ".txt", ".edges"]),
    header=st.none() | st.booleans(),
    columns=st.dictionaries(
        st.sampled_from(["head", "tail", "relation", "id", "label"]), NAMES | st.just("2")
    ),
)
def test_any_text_is_read_or_refused(tmp_path_factory, collect, text, suffix, header, columns):
    path = tmp_path_factory.mktemp("any") / f"list{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        collect(TsvSource(path, TableOptions(columns, header)), skip=True)
    except KgraftError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message


@given(
    rows=st.lists(st.tuples(*[st.text("abcxyz", min_size=1, max_size=3)] * 3), min_size=1),
    mark=st.sampled_from(",;|\t"),
    names=st.sampled_from(
        [("source", "type", "target"), ("Subject", "Predicate", "Object"), ("from", "rel", "to")]
    ),
)
def test_any_delimiter_gives_the_same_triples(tmp_path_factory, collect, rows, mark, names):
    path = tmp_path_factory.mktemp("any") / "list.csv"
    path.write_text("\n".join(mark.join(row) for row in [names, *rows]) + "\n")
    assert [triple[:3] for triple in collect(TsvSource(path)).triples] == rows
