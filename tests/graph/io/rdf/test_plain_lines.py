from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from kgraft.graph.io.rdf.plain_lines import split_plain

TERM = st.sampled_from(
    ["<a:1>", "<a:é>", "<a:b%20>", "<a:\\u0062>", "_:b", '"<x> <y>"', '"\\""@en']
)
GAP = st.sampled_from([" ", " ", " ", "  ", "\t"])


@st.composite
def lines(draw):
    subject, predicate, value = "<a:s>", "<a:p>", draw(TERM)
    if draw(st.booleans()):
        subject = draw(st.sampled_from(["<a:s>", "_:s", "<a:\\U0001F600>"]))
    if draw(st.booleans()):
        predicate = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    end = draw(st.sampled_from([" .", ".", " . # note", " .\r"]))
    return f"{subject}{draw(GAP)}{predicate}{draw(GAP)}{value}{end}"


def triples_of(block):
    return [(q.subject, q.predicate, q.object) for q in parse(block, RdfFormat.N_TRIPLES)]


@given(st.lists(lines(), max_size=6), st.booleans())
def test_plain_lines_and_the_rest_are_the_whole(some, ends):
    block = ("\n".join(some) + ("\n" if ends else "")).encode()
    columns, rest = split_plain(block)
    plain = list(zip(*(c.to_pylist() for c in columns), strict=True)) if columns else []
    parsed = triples_of(rest)
    whole = triples_of(block)
    both = [tuple(f"<{iri}>" for iri in triple) for triple in plain]
    both += [tuple(map(str, triple)) for triple in parsed]
    assert sorted(both) == sorted(tuple(map(str, triple)) for triple in whole)


@given(st.binary())
def test_any_bytes_are_kept(block):
    columns, rest = split_plain(block)
    assert columns is None
    assert rest.removesuffix(b"\n") == block.removesuffix(b"\n")


def test_predicates_with_a_meaning_are_left_to_the_parser():
    block = b"<a:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <a:o> .\n"
    assert split_plain(block) == (None, block)
