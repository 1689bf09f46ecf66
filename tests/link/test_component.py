"""The spaCy component: links become `doc.ents` with the ids of their entities."""

import pytest
from tests.graph.tiny import build
from tests.link.tiny import link_model

spacy = pytest.importorskip("spacy")

from kgraft.link.component import LABEL, NAME, LinkerComponent, register  # noqa: E402
from kgraft.link.linker import Linker  # noqa: E402

TEXTS = ["Paris", "", "東京", "The York of old, not New York City.", "\ud83d", "😀 Zürich"]


@pytest.fixture(scope="module")
def folder(encoder_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("component") / "linker"
    link_model(encoder_folder, names_decide=True, threshold=0.0).save_pretrained(folder)
    return folder


@pytest.fixture
def nlp(graph, folder):
    made = spacy.blank("en")
    made.add_pipe(NAME, config={"graph": str(graph.folder), "model": str(folder)})
    return made


def test_spacy_knows_the_component_once_it_is_imported():
    register()  # again, as a second import would
    meta = spacy.Language.get_factory_meta(NAME)
    assert meta.default_config == {"graph": "world", "model": None, "threshold": None}


def test_entities_have_the_ids_and_types_of_the_graph(nlp):
    [entity] = nlp("Texas").ents
    assert (entity.text, entity.kb_id_, entity.label_) == ("Texas", "texas", "state")
    [untyped] = nlp("Zürich").ents
    assert (untyped.kb_id_, untyped.label_) == ("zürich", LABEL)


def test_links_with_their_scores_stay_at_hand(nlp, graph, folder):
    doc = nlp("The York of old, not New York City.")
    assert doc._.kgraft_links == Linker(graph, folder)(doc.text)
    assert {span.kb_id_ for span in doc.ents} <= {k.entity.id for k in doc._.kgraft_links}


def test_many_documents_have_the_entities_they_have_alone(nlp):
    texts = [text for text in TEXTS if text.isprintable()]
    for text, doc in zip(texts, nlp.pipe(texts), strict=True):
        alone = nlp(text)
        assert doc.text == text
        assert [(e.text, e.kb_id_) for e in doc.ents] == [(e.text, e.kb_id_) for e in alone.ents]


def test_a_link_inside_a_token_takes_the_whole_token(folder, tmp_path):
    """spaCy keeps 東京都 whole where a name is a part of it; no two entities share a token."""
    graph = build(
        tmp_path / "part", [], [{"id": "k", "label": "京"}, {"id": "t", "label": "都"}], None
    )
    component = LinkerComponent(Linker(graph, folder), None)
    doc = component(spacy.blank("en")("東京都"))
    assert [span.text for span in doc.ents] == ["東京都"]
    assert len(doc._.kgraft_links) >= 1


def test_the_threshold_of_the_config_holds(graph, folder):
    nlp = spacy.blank("en")
    config = {"graph": str(graph.folder), "model": str(folder), "threshold": 1.0}
    nlp.add_pipe(NAME, config=config)
    doc = nlp("Texas")
    assert not doc.ents
    assert doc._.kgraft_links == []
