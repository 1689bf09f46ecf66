import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.iri_names import COMMON, PREFIXES, made_label, made_labels, short_iri


@pytest.mark.parametrize(
    ("iri", "label"),
    [
        ("http://e.org/hasPart", "has part"),
        ("http://e.org/ns#hasURL", "has URL"),
        ("http://e.org/HTTPServer", "HTTP Server"),
        ("http://e.org/New_York/", "New York"),
        ("http://e.org/Z%C3%BCrich", "Zürich"),
        ("http://e.org/obo/GO_0008150", "GO_0008150"),
        ("http://e.org/", "e.org"),
        ("http://www.w3.org/2002/07/owl#sameAs", "same as"),
        ("https://schema.org/isPartOf", "part of"),
        ("http://e.org/___", "http://e.org/___"),
        ("_:b1", "_:b1"),
        ("GO:0008150", "GO:0008150"),
        ("New_York", "New_York"),
    ],
)
def test_made_label(iri, label):
    assert made_label(iri) == label


def test_common_terms_have_known_prefixes():
    assert {term.partition(":")[0] for term in COMMON} <= PREFIXES.keys()


@given(st.lists(st.text() | st.builds("http://e.org/{}".format, st.text()), min_size=1))
def test_a_column_gets_the_labels_of_its_ids(ids):
    ids = [text.encode("utf-8", "replace").decode() for text in ids]
    made = made_labels(pa.chunked_array([pa.array(ids, pa.string())])).to_pylist()
    assert made == [made_label(text) for text in ids]
    assert [not label for label in made] == [not text for text in ids]


def test_short_iri_needs_a_known_namespace_and_a_plain_name():
    assert short_iri("http://xmlns.com/foaf/0.1/knows") == "foaf:knows"
    assert short_iri("http://xmlns.com/foaf/0.1/") == "http://xmlns.com/foaf/0.1/"
    assert short_iri("http://e.org/knows") == "http://e.org/knows"
