"""Links: exact offsets whatever the text, given mentions, and entities that come and go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.link.tiny import build, few, link_model

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph
from kgraft.link.linker import AT_ONCE, SHOWN, Linker

WORDS = ["Paris", "new", "York", "City", "東京", "都", "Zu\u0308rich", "euro", "unbelievably", "'s"]
OTHERS = [
    "😀",
    "👨\u200d👩",
    "\u00ad",
    "\u0301",
    "\ud800",
    ".",
    "\n",
    "\t",
    " ",
    "한국",
    "ﬁ",
    "\u3000",
]
TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.lists(st.sampled_from(WORDS + OTHERS), max_size=25).map("".join),
    st.text(max_size=40),
)
NEW = {"id": "x", "label": "Zorblax", "description": "an invented place"}


@pytest.fixture(scope="module")
def narrow(graph, encoder_folder):
    """A linker that reads no more than 12 tokens at once."""
    return Linker(graph, link_model(encoder_folder, max_length=12, longest=4))


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
        assert link.score == pytest.approx(other.score, abs=1e-4)
        priors = {scored.entity.id: scored.prior for scored in link.candidates}
        assert priors == {scored.entity.id: scored.prior for scored in other.candidates}


@given(text=TEXT)
@few
def test_offsets_are_exact_whatever_the_text(linker, text):
    links = linker(text, threshold=0)
    check(text, links)
    assert all(link.candidates for link in links)


@given(text=TEXT)
@few
def test_offsets_are_exact_over_many_windows(narrow, text):
    check(text * 3, narrow(text * 3, threshold=0))


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\u00ad", "\u0301", "\u200b\u200d"])
def test_where_nothing_can_be_read_there_are_no_links(linker, text):
    assert linker(text, threshold=0) == []


@pytest.mark.parametrize(
    "text", ["\ud800", "😀", "👨\u200d👩", "🇫🇷!", "\ud800Paris\udfff", "a" * 999]
)
def test_odd_texts_are_read_like_any_other(linker, text):
    check(text, linker(text, threshold=0))


def test_candidates_stand_best_first_with_probabilities(linker):
    for link in linker("Paris pays in euro, not in Texas.", threshold=0):
        scores = [scored.score for scored in link.candidates]
        assert scores == sorted(scores, reverse=True)
        assert 0 <= scores[-1] <= scores[0] == link.score <= 1
        assert link.entity is link.candidates[0].entity
        assert len(link.candidates) <= SHOWN
        assert all(-1.001 < scored.fit < 1.001 for scored in link.candidates)
        ids = [scored.entity.id for scored in link.candidates]
        assert len(ids) == len(set(ids))


def test_all_who_bear_the_name_are_candidates_with_their_priors(by_name):
    [link] = by_name("Paris", threshold=0)
    priors = {scored.entity.id: scored.prior for scored in link.candidates[:3]}
    assert priors == pytest.approx({"fr-paris": 0.4, "tx-paris": 0.4, "myth": 0.2})
    assert {scored.prior for scored in link.candidates[3:]} == {0}


def test_the_threshold_leaves_unsure_links_out(linker):
    text = "Paris pays in euro, not in Texas, said the man from Zürich."
    links = linker(text, threshold=0)
    middle = float(np.median([link.score for link in links]))
    surer = linker(text, threshold=middle)
    assert 0 < len(surer) <= len(links)
    assert all(link.score >= middle for link in surer)
    assert linker(text, threshold=1.0) == []


def test_by_default_the_threshold_is_the_models(graph, encoder_folder):
    text = "Paris pays in euro, not in Texas."
    low, high = (
        Linker(graph, link_model(encoder_folder, threshold=threshold)) for threshold in (0.0, 1.0)
    )
    assert low(text) == low(text, threshold=0) != []
    assert high(text) == []


def test_given_mentions_get_their_links_in_the_order_given(linker):
    text = "Paris pays in euro, not in the Lone Star State of old."
    mentions = [(14, 18), (0, 5), (6, 10), (0, len(text)), (0, 5)]
    links = linker(text, mentions=mentions)
    assert [(link.start, link.end) for link in links] == mentions
    assert [link.surface for link in links] == [text[a:b] for a, b in mentions]
    by_name = [{scored.entity.id for scored in link.candidates if scored.prior} for link in links]
    assert by_name[0] == {"euro"}
    assert by_name[1] == by_name[4] == {"fr-paris", "tx-paris", "myth"}
    assert by_name[2] == by_name[3] == set()


def test_a_given_mention_scores_as_one_that_was_found(linker):
    text = "Paris pays in euro, not in Texas."
    found = linker(text, threshold=0)
    same(linker(text, mentions=[(link.start, link.end) for link in found]), found)


def test_given_mentions_may_have_a_threshold_too(linker):
    assert linker("Paris", mentions=[(0, 5)], threshold=1.0) == []
    assert linker("Paris", mentions=[]) == linker("", mentions=[]) == []


@pytest.mark.parametrize("mention", [(0, 0), (5, 6), (3, 2), (0, 99), (99, 100), (-1, 3)])
def test_mentions_that_hold_nothing_are_refused(linker, mention):
    with pytest.raises(BadInput):
        linker("Paris rules", mentions=[(0, 5), mention])


def test_a_mention_too_long_for_a_window_is_refused(narrow):
    with pytest.raises(BadInput, match=r"mention 0:\d+ holds nothing to read, or too much at once"):
        narrow("Paris " * 30, mentions=[(0, 170)])


def test_many_texts_have_the_links_they_have_alone(narrow, graph):
    texts = ["Who rules Texas?", "", "Paris, New York City and 東京 " * 4, "\ud800", "euro"] * 2
    for text, links in zip(texts, narrow.link(texts, threshold=0), strict=True):
        same(links, narrow(text, threshold=0))
    assert narrow.link([]) == []


def test_a_stream_gives_the_same_links_text_by_text(linker):
    texts = [f"Paris and River {n % 20}" for n in range(AT_ONCE + 3)]
    taken = []
    stream = linker.stream((taken.append(text) or text for text in texts), threshold=0)
    first = next(stream)
    assert len(taken) == AT_ONCE  # no more is read than is needed
    for links, text in zip([first, *stream], texts, strict=True):
        same(links, linker(text, threshold=0))


def test_one_text_in_place_of_many_is_refused(linker):
    with pytest.raises(BadInput, match=r"pass \[text\]"):
        linker.link("Paris")


def test_a_graph_without_entities_has_no_links(nothing, model):
    linker = Linker(nothing, model)
    for text in ("", "Paris in Texas"):
        assert linker(text, threshold=0) == []
    assert linker("Paris", mentions=[(0, 5)]) == []


def test_an_entity_without_a_label_is_known_by_its_id(by_name):
    [link] = by_name("nameless", threshold=0)
    assert (link.entity.id, link.entity.label) == ("nameless", "nameless")


def test_an_invented_entity_links_at_once_and_no_more_when_removed(by_name):
    assert not any(s.prior for link in by_name("Zorblax", threshold=0) for s in link.candidates)
    by_name.add([NEW])
    [link] = by_name("Zorblax", threshold=0)
    assert (link.entity.id, link.entity.label, link.candidates[0].prior) == ("x", "Zorblax", 1)
    by_name.remove(["x"])
    for link in by_name("Zorblax", threshold=0):
        assert "x" not in {scored.entity.id for scored in link.candidates}


def test_a_removed_entity_of_the_graph_is_nowhere(by_name):
    by_name.remove(["fr-paris"])
    [link] = by_name("Paris", threshold=0)
    assert {s.entity.id for s in link.candidates if s.prior} == {"tx-paris", "myth"}
    assert "fr-paris" not in {s.entity.id for s in link.candidates}


def test_the_last_entity_may_go(model, tmp_path):
    linker = Linker(build(tmp_path / "one", [], [{"id": "a", "label": "Alone"}], None), model)
    assert [link.entity.id for link in linker("Alone", threshold=0)] == ["a"]
    linker.remove(["a"])
    assert linker("Alone", threshold=0) == []


def test_a_saved_graph_links_what_was_added(by_name, tmp_path, encoder_folder):
    by_name.add([NEW, NEW | {"id": "y", "label": "Quux"}])
    by_name.remove(["y", "euro"])
    saved = by_name.save(tmp_path / "new")
    assert saved.folder == tmp_path / "new"
    again = Linker(Graph.open(tmp_path / "new"), link_model(encoder_folder, names_decide=True))
    [link] = again("Zorblax", threshold=0)
    assert link.entity.id == "x"
    for link in again("euro, Quux", threshold=0):
        assert not {"euro", "y"} & {scored.entity.id for scored in link.candidates}


def test_the_graph_itself_is_not_touched(by_name, graph):
    by_name.add([NEW])
    by_name.remove(["euro"])
    assert Graph.open(graph.folder).numbers_of(["x", "euro"]).tolist() == [
        -1, graph.numbers_of(["euro"])[0],
    ]  # fmt: skip


def test_a_linker_opens_a_folder_as_it_takes_a_model(graph, encoder_folder, tmp_path):
    model = link_model(encoder_folder, threshold=0.25)
    model.save_pretrained(tmp_path / "linker")
    text = "Paris pays in euro, not in Texas."
    for folder in (tmp_path / "linker", str(tmp_path / "linker")):
        opened = Linker(graph, folder)
        assert opened.threshold == 0.25
        same(opened(text), Linker(graph, model)(text))


def test_a_folder_that_is_no_linker_is_told_of(graph, tmp_path):
    with pytest.raises(NotFound, match="no link model at"):
        Linker(graph, tmp_path / "nowhere")
