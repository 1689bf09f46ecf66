"""What was looked up is shown with its candidates, and the words it moved."""

from html.parser import HTMLParser

import pytest

from kgraft.graft import explain, render_html

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
