"""Links: exact offsets whatever the text, scores that are probabilities, and changes at once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.tiny import build
from tests.link.tiny import link_model, reading, weighing

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph
from kgraft.link.linker import SHOWN, TEXTS_AT_ONCE, Linker
from kgraft.link.linking import LinkOptions
from kgraft.text import Encoder

WORDS = ["Paris", "new", "York", "City", "東京", "都", "Zu\u0308rich", "euro", "unbelievably", "'s"]
SIGNS = [
    "😀", "👨\u200d👩", "\u00ad", "\u0301", "\ud800", ".", "\n", "\t", " ", "한국", "ﬁ", "\u3000",
]  # fmt: skip
TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.lists(st.sampled_from(WORDS + SIGNS), max_size=25).map("".join),
    st.text(max_size=40),
)
TEXTS = [
    "Who rules Texas?",
    "",
    "We saw Paris",  # the word before the next text begins with a capital
    "Berlin and New York City are in the News",
    "Paris, New York City and 東京 " * 12,
    "\ud800",
    "euro",
    "Wir fahren mit dem Zug nach Paris und weiter nach Berlin.",
]
NEW = {"id": "x", "label": "Zorblax", "description": "an invented place"}


@pytest.fixture(scope="module")
def narrow_linker(graph, narrow):
    """A linker that reads no more than 16 tokens at once."""
    return Linker(graph, narrow)


@pytest.fixture(scope="module")
def searching(graph, model, tmp_path_factory):
    """A linker with an index, not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(tmp_path_factory.mktemp("searching")))
        linker = Linker(graph, model)
        linker.build_index()
    return linker


def check(text, links):
    """Links stand in the text as they say, in order, and none overlaps another."""
    reached = 0
    for link in links:
        assert reached <= link.start < link.end <= len(text)
        assert text[link.start : link.end] == link.surface
        assert link.surface.strip() == link.surface
        reached = link.end


def same(links, others):
    """Two lists of links agree, but for the last digits of their scores."""
    assert [(k.start, k.end, k.surface) for k in links] == [
        (k.start, k.end, k.surface) for k in others
    ]
    for link, other in zip(links, others, strict=True):
        scores = {candidate.entity.id: candidate.score for candidate in link.candidates}
        assert scores == pytest.approx({c.entity.id: c.score for c in other.candidates}, abs=1e-4)


def ids(links):
    return [link.entity.id for link in links]


# Offsets and scores


@pytest.mark.slow
@given(text=TEXT)
@reading
def test_offsets_are_exact_whatever_the_text(linker, text):
    links = linker(text, threshold=0)
    check(text, links)
    assert all(link.candidates for link in links)


@pytest.mark.slow
@given(text=TEXT)
@reading
def test_offsets_are_exact_over_many_windows(narrow_linker, text):
    check(text * 3, narrow_linker(text * 3, threshold=0))


@pytest.mark.slow
@given(text=TEXT)
@reading
def test_offsets_are_exact_with_candidates_by_meaning(searching, text):
    check(text, searching(text, threshold=0))


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\u00ad", "\u0301", "\u200b\u200d"])
def test_where_nothing_can_be_read_there_are_no_links(searching, text):
    assert searching(text, threshold=0) == []


@pytest.mark.parametrize("text", ["\ud800", "😀", "🇫🇷!", "\ud800Paris\udfff", "a" * 999, "\u115f"])
def test_odd_texts_are_read_like_any_other(searching, text):
    check(text, searching(text, threshold=0))


def test_candidates_are_best_first_with_probabilities(searching):
    links = searching("Paris pays in euro, not in Texas.", threshold=0)
    assert links
    for link in links:
        scores = [candidate.score for candidate in link.candidates]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) <= 1 + 1e-5
        assert 0 <= scores[-1] <= scores[0] == link.score
        assert link.entity is link.candidates[0].entity
        assert len(link.candidates) <= SHOWN
        assert len({candidate.entity.id for candidate in link.candidates}) == len(scores)
        for candidate in link.candidates:
            assert (candidate.prior == 0) == (candidate.match == "neighbour")


def test_all_who_bear_the_name_are_candidates_with_their_priors(by_name):
    [link] = by_name("Paris", threshold=0)
    priors = {candidate.entity.id: candidate.prior for candidate in link.candidates}
    assert priors == pytest.approx({"fr-paris": 0.4, "tx-paris": 0.4, "myth": 0.2})
    assert {candidate.match for candidate in link.candidates} == {"name"}


def test_the_threshold_leaves_unsure_links_out(linker):
    text = "Paris pays in euro, not in Texas, said the man from Zürich."
    links = linker(text, threshold=0)
    middle = float(np.median([link.score for link in links]))
    surer = linker(text, threshold=middle)
    assert 0 < len(surer) < len(links)
    assert all(link.score >= middle for link in surer)
    assert linker(text, threshold=1.0) == []


def test_by_default_the_threshold_is_the_models(graph, encoder_folder, own_cache):
    text = "Paris pays in euro, not in Texas."
    low, high = (Linker(graph, link_model(encoder_folder, threshold=t)) for t in (0.0, 1.0))
    assert low(text) == low(text, threshold=0) != []
    assert high(text) == []


def test_a_link_as_json_has_offsets_ids_and_candidates(by_name):
    [link] = by_name("in Texas", threshold=0)
    assert link.to_dict() == {
        "start": 3,
        "end": 8,
        "surface": "Texas",
        "id": "texas",
        "label": "Texas",
        "score": link.score,
        "candidates": [
            {
                "id": "texas",
                "label": "Texas",
                "description": "",
                "types": ("state",),
                "score": link.score,
                "prior": 1.0,
                "match": "name",
            }
        ],
    }


# What decides


@pytest.fixture
def projects(tmp_path, encoder_folder):
    """A graph with a project that is named after a planet; single words score higher."""
    entities = [
        {"id": "planet", "label": "Mercury"},
        {"id": "metal", "label": "Mercury"},
        {"id": "project", "label": "Project Mercury"},
    ]
    model = weighing(link_model(encoder_folder), {"words": -3.0}, bias=2.0)
    return Linker(build(tmp_path / "projects", [], entities, None), model)


def test_an_exact_unique_name_of_several_words_wins_over_a_shorter_one_inside(projects):
    [link] = projects("The launch of Project Mercury is late.", threshold=0)
    assert (link.surface, link.entity.id) == ("Project Mercury", "project")
    [inner] = projects("The launch of Mercury is late.", threshold=0)
    assert inner.surface == "Mercury"
    assert inner.score > 0.4  # more than the longer name has
    assert link.score < 0.6


def test_a_pinned_name_gets_score_1(graph, encoder_folder):
    model = weighing(link_model(encoder_folder), {}, bias=-9.0)
    linker = Linker(graph, model, pin={"Paris": "myth", "the Capital": "berlin"})
    links = linker("Paris is not the capital of Texas.")
    assert [(k.surface, k.entity.id, k.score) for k in links] == [
        ("Paris", "myth", 1.0), ("the capital", "berlin", 1.0),
    ]  # fmt: skip
    assert links[0].candidates[0].match == "pinned"


def test_a_name_pinned_to_nobody_is_refused(graph, model):
    with pytest.raises(NotFound, match="'nobody'"):
        Linker(graph, model, pin={"Paris": "nobody"})


def test_exact_finds_no_variants(encoder_folder, tmp_path):
    entities = [{"id": "a", "label": "Lone Ranger"}]
    graph = build(tmp_path / "variants", [], entities, None)
    model = link_model(encoder_folder, names_decide=True)
    text = "The Lone Rangers rode."
    [variant] = Linker(graph, model)(text, threshold=0)
    assert (variant.surface, variant.candidates[0].match) == ("Lone Rangers", "variant")
    for exact in (
        Linker(graph, model, exact=True),
        Linker(graph, model, options=LinkOptions(True)),
    ):
        assert exact(text, threshold=0) == []
        assert ids(exact("The Lone Ranger rode.", threshold=0)) == ["a"]


def test_an_unreadable_text_is_linked_by_names_only(graph, encoder_folder):
    """The head trusts the encoder alone, which says nothing of German."""
    model = weighing(link_model(encoder_folder), {"silent": -9.0, "cosine": 3.0}, bias=4.0)
    linker = Linker(graph, model)
    english, german = "We go to Texas.", "Wir fahren mit dem Zug nach Texas."
    [link], [unread] = linker(english, threshold=0), linker(german, threshold=0)
    assert unread.score == pytest.approx(1 / (1 + np.exp(5.0)), rel=1e-3)
    assert link.score != pytest.approx(unread.score, rel=0.1)


# Given mentions


def test_given_mentions_get_their_links_in_the_order_given(searching):
    text = "Paris pays in euro, not in the Lone Star State of old."
    mentions = [(14, 18), (0, 5), (6, 10), (0, len(text)), (0, 5)]
    links = searching(text, mentions=mentions)
    assert [(link.start, link.end) for link in links] == mentions
    assert [link.surface for link in links] == [text[a:b] for a, b in mentions]
    assert links[0].entity.id == "euro"
    assert links[1] == links[4]


def test_given_mentions_without_a_candidate_have_no_link(by_name):
    assert ids(by_name("Paris pays Texas ", mentions=[(11, 17), (11, 16), (6, 10)])) == ["texas"]


def test_given_mentions_may_have_a_threshold_too(by_name):
    assert by_name("Paris", mentions=[(0, 5)], threshold=0.9) == []
    [link] = by_name("Paris", mentions=[(0, 5)], threshold=0.3)
    assert sum(candidate.score for candidate in link.candidates) == pytest.approx(1)
    assert by_name("Paris", mentions=[]) == by_name("", mentions=[]) == []


# Many texts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linker", "narrow_linker", "searching"])
def test_many_texts_have_the_links_they_have_alone(request, name):
    linker = request.getfixturevalue(name)
    for text, links in zip(TEXTS * 2, linker.link(TEXTS * 2, threshold=0), strict=True):
        same(links, linker(text, threshold=0))
    assert linker.link([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", TEXTS)
def test_the_other_texts_change_nothing(linker, first):
    for second in TEXTS:
        _, links = linker.link([first, second], threshold=0)
        same(links, linker(second, threshold=0))


@pytest.mark.slow
def test_a_stream_gives_the_same_links_text_by_text(linker):
    texts = [f"Paris and River {n % 20}" for n in range(TEXTS_AT_ONCE + 3)]
    taken = []
    stream = linker.stream((taken.append(text) or text for text in texts), threshold=0)
    first = next(stream)
    assert len(taken) == TEXTS_AT_ONCE  # no more is read than is needed
    for links, text in zip([first, *stream], texts, strict=True):
        same(links, linker(text, threshold=0))


@pytest.mark.slow
def test_eight_threads_get_the_links_that_one_gets(graph, model, own_cache):
    texts = [f"{text} and River {n}" for n in range(3) for text in TEXTS]
    expected = [Linker(graph, model)(text, threshold=0) for text in texts]
    shared = Linker(graph, model)
    with ThreadPoolExecutor(8) as pool:
        links = list(pool.map(lambda text: shared(text, threshold=0), texts))
    assert links == expected


def test_one_text_in_place_of_many_is_refused(linker):
    with pytest.raises(BadInput, match=r"\[text\]"):
        linker.link("Paris")


# Opening


def test_a_linker_opens_without_encoding_entities(graph, model, own_cache, monkeypatch):
    encoded, encode = [], Encoder.encode

    def noted(self, texts, **options):
        encoded.extend(texts)
        return encode(self, texts, **options)

    monkeypatch.setattr(Encoder, "encode", noted)
    linker = Linker(graph, model)
    assert encoded == []
    linker("Paris and Texas")
    assert len(encoded) == 4  # the candidates
    linker("Texas and Paris")
    assert len(encoded) == 4


def test_a_graph_without_entities_has_no_links(nothing, model):
    linker = Linker(nothing, model)
    for text in ("", "Paris in Texas"):
        assert linker(text, threshold=0) == []
    assert linker("Paris", mentions=[(0, 5)]) == []


def test_an_entity_without_a_label_is_known_by_its_id(by_name):
    [link] = by_name("nameless", threshold=0)
    assert (link.entity.id, link.entity.label) == ("nameless", "nameless")


def test_a_linker_opens_a_folder_as_it_takes_a_model(graph, encoder_folder, tmp_path):
    model = link_model(encoder_folder, threshold=0.25)
    model.save_pretrained(tmp_path / "linker")
    text = "Paris pays in euro, not in Texas."
    for folder in (tmp_path / "linker", str(tmp_path / "linker")):
        opened = Linker(graph, folder)
        assert opened.threshold == 0.25
        same(opened(text), Linker(graph, model)(text))


def test_a_folder_that_is_no_linker_is_named(graph, tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        Linker(graph, tmp_path / "nowhere")


# Change


@pytest.mark.parametrize("indexed", [False, True])
def test_added_entities_link_at_once_and_removed_ones_never(by_name, own_cache, indexed):
    if indexed:
        by_name.build_index()
    before = by_name("Zorblax", threshold=0)
    assert not any(candidate.prior for link in before for candidate in link.candidates)
    by_name.add([NEW])
    [link] = by_name("Zorblax", threshold=0)
    assert (link.entity.id, link.entity.label, link.candidates[0].prior) == ("x", "Zorblax", 1)
    by_name.remove(["x", "fr-paris"])
    links = by_name("Zorblax in Paris", threshold=0) + by_name("Zorblax", mentions=[(0, 7)])
    candidates = {candidate.entity.id for link in links for candidate in link.candidates}
    assert not {"x", "fr-paris"} & candidates
    assert {"tx-paris", "myth"} <= candidates


def test_the_last_entity_may_go(model, tmp_path):
    linker = Linker(build(tmp_path / "one", [], [{"id": "a", "label": "Alone"}], None), model)
    assert ids(linker("Alone", threshold=0)) == ["a"]
    linker.remove(["a"])
    assert linker("Alone", threshold=0) == []


def test_a_saved_graph_links_what_was_added(by_name, tmp_path, encoder_folder):
    by_name.add([NEW, NEW | {"id": "y", "label": "Quux"}])
    by_name.remove(["y", "euro"])
    saved = by_name.save(tmp_path / "new")
    assert saved.folder == tmp_path / "new"
    again = Linker(Graph.open(tmp_path / "new"), link_model(encoder_folder, names_decide=True))
    assert ids(again("Zorblax", threshold=0)) == ["x"]
    assert again("euro, Quux", threshold=0) == []


def test_the_graph_itself_is_not_touched(by_name, graph):
    by_name.add([NEW])
    by_name.remove(["euro"])
    [euro] = graph.indices_of(["euro"])
    assert Graph.open(graph.folder).indices_of(["x", "euro"]).tolist() == [-1, euro]
    assert by_name.graph is graph


def test_links_of_a_text_are_in_order(linker):
    links = linker("Texas, Berlin, Paris, York and Zürich", threshold=0)
    assert len(links) == 5
    assert all(one.end <= other.start for one, other in pairwise(links))


# In a session


def test_several_texts_at_once(linker):
    texts = ["Berlin", "", "We saw Paris"]
    assert linker(texts) == linker(tuple(texts)) == linker.link(texts)
    assert linker([]) == []
    with pytest.raises(BadInput, match="pass one text"):
        linker(texts, mentions=[(0, 1)])


def test_pins_and_removals_take_entities(graph, model):
    texas = graph["tx-paris"]
    for meant in (texas, texas.id, texas.index):
        [link] = Linker(graph, model, pin={"Paris": meant})("Paris", threshold=0)
        assert link.entity == texas
    linker = Linker(graph, model)
    linker.remove([texas])
    linked = linker("Paris", threshold=0)
    assert texas.id not in {c.entity.id for link in linked for c in link.candidates}
    with pytest.raises(NotFound, match="nobody"):
        Linker(graph, model, pin={"Paris": "nobody"})


def test_linker_and_links_show_themselves_in_short(linker):
    name = linker.graph.manifest.name
    entities = linker.graph.manifest.entities
    expected = f"<Linker to {name}: {entities} entities, threshold {linker.threshold:.2f}>"
    assert repr(linker) == expected
    assert name in linker._repr_html_()
    [link] = linker("Berlin", threshold=0)
    assert repr(link) == f"<Link 'Berlin' 0:6 → {link.entity.id} 'Berlin' {link.score:.2f}>"
    html = link._repr_html_()
    assert html.count("<tr>") == 1 + len(link.candidates)
    assert len(html) < 5000
