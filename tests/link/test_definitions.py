"""An abbreviation that a text defines means nothing else there."""

import pytest

from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.link.definitions import defined_otherwise
from kgraft.link.knowledge import Knowledge


@pytest.fixture(scope="module")
def diseases(tmp_path_factory, model):
    entities = [
        {"id": "od", "label": "Osteochondritis Dissecans", "aliases": ["OD"]},
        {"id": "who", "label": "World Health Organization", "aliases": ["WHO"]},
        {"id": "ibm", "label": "IBM", "aliases": ["Big Blue"]},
    ]
    out = tmp_path_factory.mktemp("graph") / "diseases"
    build_graph(TablesSource(entities=entities, triples=[]), out)
    return Knowledge(Graph.open(out), model.entity_encoder)


@pytest.mark.parametrize(
    ("text", "ruled_out"),
    [
        ("An optical density (OD) of 2; OD rose.", {"OD"}),
        ("Osteochondrosis dissecans (OD): OD is rare.", set()),  # a like name
        ("OD rose (a little).", set()),  # not defined
        ("The World Health Organisation (WHO): WHO said.", set()),  # another spelling
        ("International Business Machines (IBM): IBM.", set()),  # no long form is known
    ],
)
def test_an_abbreviation_means_what_the_text_says(diseases, text, ruled_out):
    mentions = diseases.matcher.find([text])
    wrong = defined_otherwise(diseases, mentions, [text])
    rows = mentions.owner[wrong]
    spans = zip(mentions.start[rows], mentions.end[rows], strict=True)
    assert {text[start:end] for start, end in spans} == ruled_out
