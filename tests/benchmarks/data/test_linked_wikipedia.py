"""What is measured on was not trained on."""

import gzip
import json

import pytest
from benchmarks.data.linked_wikipedia import read_articles

from kgraft.graph import Graph

SEEN = "one two three four five six seven eight nine"


@pytest.fixture(scope="module")
def world():
    return Graph.open("world")


def sentence(article, number, text):
    item = {"id": f"wiki{article}.{number}", "text": text, "mentions": []}
    if text.startswith("paris"):
        item["mentions"] = [{"start": 0, "end": 5, "entity": "FR"}]
    return json.dumps(item)


@pytest.fixture
def data(tmp_path):
    lines = [
        sentence(3, 0, "an article to train on " * 20),
        sentence(3, 1, "paris again"),
        sentence(86, 0, "something to choose by"),
        sentence(91, 0, "this was seen " + SEEN.upper() + " word for word " * 30),
        sentence(91, 1, "paris is new " + "here " * 85),
        sentence(92, 0, "nine words in a row that nobody has seen"),
    ]
    (tmp_path / "corpus").mkdir()
    with gzip.open(tmp_path / "corpus" / "wikipedia_linked.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    with gzip.open(tmp_path / "corpus" / "vital_articles.jsonl.gz", "wt") as file:
        file.write(json.dumps({"title": "x", "text": f"Well: {SEEN}."}))
    return tmp_path


def test_articles_are_apart_and_what_was_seen_is_left_out(data, world):
    articles = read_articles(data, world)
    assert len(articles.train) == 2
    assert articles.valid.texts == ["something to choose by"]
    assert len(articles.test) == 2
    assert not any("this was seen" in text for text in articles.test.texts)


def test_marks_move_with_their_passages(data, world):
    train = read_articles(data, world).train
    spans = train.mentions.text, train.mentions.start, train.mentions.end
    [(number, start, end)] = zip(*spans, strict=True)
    assert train.texts[number][start:end] == "paris"
