import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from kgraft.graph.io.rdf import iris
from kgraft.graph.io.rdf.iris import id_of, ids_of, iri_of, iris_of

NAMES = st.text(st.characters(codec="utf-8"), min_size=1)


@pytest.mark.slow
@given(NAMES | st.from_regex(iris._ABSOLUTE, fullmatch=True))
@example("http://e.org/a?b#c")
@example("http://www.wikidata.org/entity/Q42")
@example("urn:kgraft:entity:a")
def test_any_name_is_a_valid_iri_and_comes_back(name):
    iri = iri_of(name, "entity")
    assert NamedNode(iri).value == iri
    assert id_of(iri) == name


@given(st.lists(NAMES, max_size=5), st.data())
def test_columns_are_as_single_names(names, data):
    own = data.draw(st.sets(st.sampled_from(names))) if names else set()
    column = iris_of(pa.array(names, pa.string()), "relation", own=own)
    expected = [iris.own_iri(n, "relation") if n in own else iri_of(n, "relation") for n in names]
    assert column.to_pylist() == expected
    assert ids_of(column).to_pylist() == names


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("https://en.wikipedia.org/wiki/Berlin", {"entity", "relation", "type"}),
        ("http://schema.org/Person", {"entity", "relation", "type"}),
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", {"entity", "type"}),
        ("http://wikiba.se/ontology#Item", set()),
        ("https://www.wikidata.org/wiki/Special:EntityData/Q1", set()),
    ],
)
def test_an_iri_stands_for_itself_where_the_reader_gives_it_no_other_meaning(name, kinds):
    assert {kind for kind in ("entity", "relation", "type") if iri_of(name, kind) == name} == kinds


def test_known_iris():
    assert iri_of("http://e.org/a", "entity") == "http://e.org/a"
    assert iri_of("http://e.org/a b", "type") == "urn:kgraft:type:http%3A%2F%2Fe.org%2Fa%20b"
    assert id_of("http://www.wikidata.org/prop/direct/P31") == "P31"
    assert id_of("http://www.wikidata.org/prop/P31") == "http://www.wikidata.org/prop/P31"
