"""Links: prior and fit together choose the entity, and show what they chose from."""

import numpy as np
import pytest

from kgraft.graph import Graph, build_graph
from kgraft.graph.readers.tables import TablesSource
from kgraft.link import Linker
from kgraft.link.linker import FIT_WEIGHT

ENTITIES = [
    {"id": "fr", "label": "Paris", "description": "capital of France, on the Seine"},
    {"id": "tx", "label": "Paris", "description": "small city in Texas, United States"},
    {"id": "myth", "label": "Paris", "description": "Trojan prince who abducted Helen of Troy"},
    {"id": "eur", "label": "euro", "description": "currency of the European Union"},
]


@pytest.fixture(scope="module")
def linker(tmp_path_factory) -> Linker:
    target = tmp_path_factory.mktemp("graph") / "paris"
    build_graph(TablesSource([("fr", "uses", "eur")], ENTITIES), target)
    return Linker(Graph.open(target))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("In the Iliad, Paris steals Helen and starts the Trojan war.", "myth"),
        ("A farmer from Paris, in the north of Texas near Oklahoma, bought a ranch.", "tx"),
        ("The French president returned to Paris to open the Louvre.", "fr"),
    ],
)
def test_the_sentence_decides_between_namesakes(linker, text, meant):
    [link] = [link for link in linker(text) if link.surface == "Paris"]
    assert link.entity.id == meant
    assert text[link.start : link.end] == "Paris"


def test_scores_follow_the_formula(linker):
    [link] = linker("Paris was late.")
    logits = np.array([np.log(s.prior) + FIT_WEIGHT * s.fit for s in link.candidates])
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose([s.score for s in link.candidates], expected, rtol=1e-5)
    assert link.score == max(s.score for s in link.candidates)
    assert sum(s.prior for s in link.candidates) == pytest.approx(1)


def test_a_link_shows_all_its_candidates(linker):
    [link] = linker("Paris was late.")
    assert {scored.entity.id for scored in link.candidates} == {"fr", "tx", "myth"}


def test_the_threshold_leaves_unsure_links_out(linker):
    text = "Paris paid in euro."
    assert [link.surface for link in linker(text)] == ["Paris", "euro"]
    assert [link.surface for link in linker(text, threshold=0.999)] == ["euro"]


@pytest.mark.parametrize("text", ["", "   ", "nothing of the kind", "\ud800", "🇫🇷"])
def test_texts_without_names_have_no_links(linker, text):
    assert linker(text) == []


def test_offsets_hold_in_any_script(linker):
    text = "😀 e\u0301 ﬁn — ＰＡＲＩＳ et Pa\u00adris, PARIS!"
    assert [text[k.start : k.end] for k in linker(text)] == ["ＰＡＲＩＳ", "Pa\u00adris", "PARIS"]
