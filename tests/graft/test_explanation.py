"""What was looked up is shown with its candidates, and the words it moved."""

from html.parser import HTMLParser

import pytest
from tests.graft.drawn_paths import ALL_COUNT, DrawnPaths, DrawnRules
from tests.graft.test_predicted_facts import write

from kgraft.graft import GraftedEncoder, explain, render_html
from kgraft.text import Encoder

TEXT = "Paris lies in Texas & <b>France</b>."


def test_mentions_candidates_and_words(encoder):
    found = explain(encoder, TEXT, limit=2)
    assert [mention.text for mention in found.mentions] == ["Paris", "Texas", "France"]
    paris = found.mentions[0]
    assert TEXT[paris.start : paris.end] == "Paris"
    assert len(paris.candidates) == 2
    assert paris.candidates[0].weight >= paris.candidates[1].weight
    assert all(candidate.label == "Paris" for candidate in paris.candidates)
    assert sum(mention.attention_share for mention in found.mentions) == pytest.approx(1, abs=1e-4)
    assert [word.text for word in found.words][:4] == ["Paris", "lies", "in", "Texas"]
    assert all(TEXT[word.start : word.end] == word.text for word in found.words)
    assert all(word.change > 0 for word in found.words)


def test_a_text_without_mentions_is_not_moved(encoder):
    found = explain(encoder, "so it goes")
    assert found.mentions == []
    assert all(word.change == 0 for word in found.words)
    assert "nothing of the graph is mentioned" in render_html(found)


def test_a_page_that_is_whole_and_escapes_what_it_shows(encoder):
    page = render_html(explain(encoder, TEXT))
    opened = []

    class Check(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Check().feed(page)
    assert opened == []
    assert "<b>" not in page


def test_an_empty_text(encoder):
    assert explain(encoder, "").words == []


def related(host_folder, knowledge):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    return GraftedEncoder(host, {2: knowledge}, settings={2: ALL_COUNT})


def test_paths_are_shown_with_their_weights(graph, host_folder, encoder):
    shown = explain(related(host_folder, DrawnPaths(graph)), "Berlin and Texas and France")
    words = {path.words: path for path in shown.paths}
    path = words["Berlin — capital_of → … ← borders — France"]
    assert (path.layer, path.id, path.other, path.confidence) == (2, "berlin", "france", 1)
    assert len(words) == len(shown.paths) <= 5
    weights = [path.weight for path in shown.paths]
    assert all(0 < weight < 1 for weight in weights)
    assert weights == sorted(weights, reverse=True)  # one candidate each, which is all mixed in
    assert "— capital_of → … ← borders — France" in render_html(shown)
    assert explain(encoder, "Berlin and Texas and France").paths == []


def test_predicted_facts_are_shown_with_their_confidence(graph, host_folder, tmp_path):
    rules = DrawnRules(graph, write(tmp_path / "facts.jsonl"))
    shown = explain(related(host_folder, rules), "Paris is in France", limit=30)
    mine = [path for path in shown.paths if path.words == "Paris — lies in → France"]
    assert [path.confidence for path in mine] == [pytest.approx(0.8)]
    assert explain(related(host_folder, rules), "nothing").paths == []
