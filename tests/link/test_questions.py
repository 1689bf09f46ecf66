"""Patterns of questions: each can be filled from a fact."""

from kgraft.link.questions import PLACES, places, plural, questions

KNOWN_PLACES = {"x", "y", "xy", "c", "cs", "d", "ds", "n"}


def test_every_question_speaks_of_head_or_tail():
    assert questions()
    for label, patterns in questions().items():
        assert label == label.lower().replace("_", " ")
        for pattern in patterns:
            assert {"x", "y", "xy"} & places(pattern), pattern
            assert places(pattern) <= KNOWN_PLACES, pattern
            assert "{" not in PLACES.sub("", pattern)


def test_plurals_are_those_of_most_words():
    words = {"box": "boxes", "city": "cities", "day": "days", "dish": "dishes", "lake": "lakes"}
    assert {word: plural(word) for word in words} == words
