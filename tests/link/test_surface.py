"""Names count when they are written like names."""

from kgraft.graph import Candidate, Entity, Mention
from kgraft.link.surface import plausible


def mention(text, surface, *names):
    start = text.index(surface)
    entity = Entity(0, "e", names[0], aliases=names[1:])
    return Mention(start, start + len(surface), surface, (Candidate(entity, 1.0),))


def judge(text, surface, *names):
    return plausible(text, mention(text, surface, *names))


def test_capitals_make_a_name():
    assert judge("Born in Nice, France.", "Nice", "Nice")
    assert not judge("A nice day in France.", "nice", "Nice")


def test_small_letters_count_where_the_name_is_written_so():
    assert judge("She paid in euro.", "euro", "euro")
    assert judge("She paid in bucks.", "bucks", "US dollar", "bucks")


def test_in_a_text_without_capitals_short_names_are_left_out():
    assert judge("where is paris", "paris", "Paris")
    assert not judge("what is that", "is", "Iceland", "IS")


def test_scripts_without_case_and_signs():
    assert judge("私は東京に住んでいます", "東京", "Tokyo", "東京")
    assert not judge("Well, well.", ",", "comma", ",")
