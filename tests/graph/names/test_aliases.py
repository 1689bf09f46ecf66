from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.columns import codepoints
from kgraft.graph.names.alias_build import Form
from kgraft.graph.names.fold import fold_name, tokenise

# Few letters, so that names overlap, begin alike and repeat.
PIECES = ["a", "A", "á", "b", "c", "-", "東", "\u00ad", "\u0301", " ", " ", "  ", "\n"]
PHRASE = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
NAMES = st.lists(st.tuples(PHRASE, st.integers(0, 4)), max_size=12)
TEXT = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=20))

WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join)
CROWDED = st.tuples(
    st.lists(st.tuples(WORDS, st.just(0)), max_size=10),
    st.lists(st.sampled_from("abc"), max_size=40).map(" ".join),
)


def naive_find(text, names, *, overlapping):
    """Try every run of tokens, from left to right, the longest first."""
    keys = {fold_name(name) for name, _ in names} - {""}
    tokens = tokenise(codepoints(text))
    start, end = tokens.start.tolist(), tokens.end.tolist()
    forms = ["".join(map(chr, tokens.folded[a:b])) for a, b in pairwise(tokens.bounds)]
    found, first = [], 0
    while first < len(forms):
        runs = [" ".join(forms[first:last]) for last in range(first + 1, len(forms) + 1)]
        here = [(start[first], end[first + n], run) for n, run in enumerate(runs) if run in keys]
        found += here if overlapping else here[-1:]
        step = 1
        if here and not overlapping:
            step = len(here[-1][2].split(" "))
        first += step
    return found


@pytest.mark.slow
@pytest.mark.parametrize("overlapping", [False, True])
@given(named=st.one_of(CROWDED, st.tuples(NAMES, TEXT)))
@settings(max_examples=at_most(100))
def test_names_in_a_text_are_those_of_a_plain_search(make_aliases, overlapping, named):
    names, text = named
    aliases = make_aliases(names)
    matches = aliases.find(text, overlapping=overlapping)
    found = [(start, end, aliases.keys[alias]) for start, end, alias in matches]
    assert found == naive_find(text, names, overlapping=overlapping)
    assert len(matches) == len(found)
    assert all(fold_name(text[start:end]) == name for start, end, name in found)


def test_of_overlapping_names_the_leftmost_and_longest_is_found(make_aliases):
    names = ["New York", "York", "New York City Council", "City", "City Hall", "Hall of"]
    aliases = make_aliases([(name, 0) for name in names])
    text = "New York City Hall of fame"
    assert [text[start:end] for start, end, _ in aliases.find(text)] == ["New York", "City Hall"]
    every = [text[start:end] for start, end, _ in aliases.find(text, overlapping=True)]
    assert every == ["New York", "York", "City", "City Hall", "Hall of"]


@pytest.mark.parametrize(
    ("name", "text", "surface"),
    [
        ("Straße", "die STRASSE!", "STRASSE"),
        ("Istanbul", "in İstanbul.", "İstanbul"),
        ("Zürich", "Zu\u0308rich\u00ad, CH", "Zu\u0308rich"),
        ("東京", "大東京都", "東京"),
        ("서울", "서울은", "서울"),
        ("O'Neill", "Eugene O’Neill's", "O’Neill"),
        ("Nuku'alofa", "in Nukuʻalofa", "Nukuʻalofa"),
        ("Jean-Luc", "Jean – Luc", "Jean – Luc"),
        ("New York", "New\u00a0\n York", "New\u00a0\n York"),
        ("🇫🇷", "Vive la 🇫🇷!", "🇫🇷"),
        ("fine", "a ﬁne day", "ﬁne"),
        ("C++", "in C++.", "C++"),
    ],
)
def test_a_name_is_found_in_every_guise_at_its_own_offsets(make_aliases, name, text, surface):
    aliases = make_aliases([(name, 0)])
    start = text.index(surface)
    assert list(aliases.find(text)) == [(start, start + len(surface), 0)]


@pytest.mark.parametrize("text", ["Parisian", "xParis", "Paris_", "Paris1", "Pa ris", ""])
def test_names_stand_at_word_boundaries(make_aliases, text):
    assert list(make_aliases([("Paris", 0)]).find(text)) == []


@pytest.mark.parametrize("names", [[], ["", " ", "\u00ad", "\u0301"]])
def test_without_a_visible_name_nothing_is_found(make_aliases, names):
    aliases = make_aliases([(name, 0) for name in names])
    assert len(aliases) == 0
    for text in ("", "a b", " \u00ad\u0301"):
        assert list(aliases.find(text)) == list(aliases.find(text, overlapping=True)) == []
        assert aliases.row(text) is None
        assert aliases.starting_with(text).tolist() == aliases.with_words(text).tolist() == []
    assert aliases.best(np.zeros(0, np.int64), 5) == []


def test_invisible_names_do_not_hide_the_others(make_aliases):
    aliases = make_aliases([("", 0), ("b", 1), ("\u00ad", 2), ("a", 3)])
    assert list(aliases.keys) == ["a", "b"]
    assert [aliases.candidates(row)[0].tolist() for row in (0, 1)] == [[3], [1]]


@given(NAMES, PHRASE)
def test_rows_are_those_of_the_sorted_keys(make_aliases, names, name):
    aliases = make_aliases(names)
    keys = sorted({fold_name(n) for n, _ in names} - {""})
    assert list(aliases.keys) == keys
    assert aliases.row(name) == (keys.index(fold_name(name)) if fold_name(name) in keys else None)


@given(NAMES, PHRASE)
def test_aliases_by_prefix_and_by_words_are_those_of_a_plain_search(make_aliases, names, query):
    aliases = make_aliases(names)
    wanted, keys = fold_name(query), list(aliases.keys)
    begun = [row for row, name in enumerate(keys) if wanted and name.startswith(wanted)]
    assert aliases.starting_with(query).tolist() == begun
    words = set(wanted.split())
    words = {word for word in words if any(map(str.isalnum, word))} or words
    held = [row for row, name in enumerate(keys) if words and words <= set(name.split())]
    assert aliases.with_words(query).tolist() == held


def test_a_prefix_may_end_inside_a_word_or_behind_a_sign(make_aliases):
    aliases = make_aliases([(n, 0) for n in ("AT&T", "atж", "Athens", "at", "Bath", "\U0010ffff")])

    def begun(prefix):
        return [aliases.keys[row] for row in aliases.starting_with(prefix)]

    assert begun("AT") == ["at", "at & t", "athens", "atж"]
    assert begun("at &") == ["at & t"]
    assert begun("\U0010ffff") == ["\U0010ffff"]


DEGREES = st.lists(st.integers(0, 3), min_size=5, max_size=5)


@given(NAMES, DEGREES)
def test_priors_follow_the_degrees_best_first(make_aliases, names, degree):
    aliases = make_aliases(names, degree=degree)
    for row, name in enumerate(aliases.keys):
        entities = sorted(
            {entity for surface, entity in names if fold_name(surface) == name},
            key=lambda entity: (-degree[entity], entity),
        )
        total = sum(degree[entity] + 1 for entity in entities)
        found, prior = aliases.candidates(row)
        assert found.tolist() == entities
        assert prior == pytest.approx([(degree[entity] + 1) / total for entity in entities])
        assert prior.sum() == pytest.approx(1)


def test_priors_follow_the_counts_where_there_are_some(make_aliases):
    """Paris: seen 6 + 1 times as entity 0 (label and alias), 1 as 1, never as 2."""
    names = [("Paris", 0), ("Paris", 1), ("Paris", 2), ("PARIS", 0), ("Lutetia", 0)]
    aliases = make_aliases(names, degree=[0, 50, 90], counts=[6, 1, 0, 1, 9])
    entities, prior = aliases.candidates(aliases.row("paris"))
    assert entities.tolist() == [0, 1, 2]
    assert prior == pytest.approx([8 / 11, 2 / 11, 1 / 11])


def test_priors_follow_the_degree_by_hand(make_aliases):
    aliases = make_aliases([("Paris", 0), ("Paris", 1)], degree=[1, 6])
    entities, prior = aliases.candidates(aliases.row("Paris"))
    assert entities.tolist() == [1, 0]
    assert prior == pytest.approx([7 / 9, 2 / 9])


@given(NAMES, DEGREES, st.integers(0, 4), st.data())
def test_best_takes_each_entity_once_by_its_heaviest_name(make_aliases, names, degree, limit, data):
    counts = [data.draw(st.integers(0, 3)) for _ in names]
    aliases = make_aliases(names, degree=degree, counts=counts)
    weight = {}
    for (name, entity), count in zip(names, counts, strict=True):
        pair = aliases.row(name), entity
        weight[pair] = weight.get(pair, 1) + count
    rows = [row for row in range(len(aliases)) if row % 3 != 2]
    ranked = sorted(
        ((r, e) for r, e in weight if r in rows), key=lambda pair: (-weight[pair], *pair)
    )
    expected = {}
    for row, entity in ranked:
        expected.setdefault(entity, row)
    found = aliases.best(np.array(rows, np.int64), limit)
    assert found == list(expected.items())[:limit]


@given(NAMES, DEGREES, st.data())
def test_candidate_rows_are_the_candidates_of_each_alias(make_aliases, names, degree, data):
    aliases = make_aliases(names, degree=degree)
    last = len(aliases) - 1
    rows = data.draw(st.lists(st.integers(0, last), max_size=6)) if last >= 0 else []
    owner, entity, weight, forms = aliases.candidate_rows(np.array(rows, np.int64))
    assert len(owner) == len(entity) == len(weight) == len(forms)
    for place, row in enumerate(rows):
        own = owner == place
        entities, prior = aliases.candidates(row)
        assert entity[own].tolist() == entities.tolist()
        assert weight[own] / weight[own].sum() == pytest.approx(prior)
        cases = [name for name, number in names if fold_name(name) == aliases.keys[row]]
        assert (forms[own] > 0).all()
        assert any(name.islower() for name in cases) == bool((forms[own] & Form.LOWER).any())


@given(NAMES, st.integers(1, 15))
def test_a_sample_is_spread_over_all_names(make_aliases, names, limit):
    aliases = make_aliases(names)
    sampled, forms = aliases.sample(limit)
    keys = list(aliases.keys)
    assert len(sampled) == len(forms) <= limit
    steps = {b - a for a, b in pairwise(keys.index(name) for name in sampled)}
    assert len(steps) <= 1
    assert sampled[:1] == keys[:1]
    assert len(keys) > limit or sampled == keys
    for name, form in zip(sampled, forms.tolist(), strict=True):
        row = np.array([keys.index(name)])
        assert form == aliases.candidate_rows(row)[3][0]


# Folded words; some of them would fold to several words a second time, or to none.
FOLDED = ["a", "b", "c", "-", "東", "zz", "", " ", "...", "1⁄2", "(10)", "a b", "\ud800"]


@given(NAMES, st.lists(st.sampled_from(FOLDED), max_size=8))
def test_holders_are_counted_as_by_a_plain_loop(make_aliases, names, words):
    aliases = make_aliases([*names, ("Wait…", 0), ("½ a", 0)])
    held = [set(name.split(" ")) for name in aliases.keys]
    expected = [sum(word in own for own in held) for word in words]
    assert aliases.count_holders(words).tolist() == expected


def test_no_names_hold_no_words(make_aliases):
    assert make_aliases([]).count_holders(["a", "b"]).tolist() == [0, 0]
    assert make_aliases([]).count_holders([]).tolist() == []
    assert make_aliases([]).names_with("a") == []
    assert make_aliases([]).word_forms(["a", ""]).tolist() == [0, 0]
    assert make_aliases([]).sample(5)[0] == []


@given(NAMES, st.sampled_from(["a", "b", "c", "-", "東", "zz"]))
def test_names_with_a_word_are_those_of_a_plain_search(make_aliases, names, word):
    aliases = make_aliases(names)
    split = [(row, name.split(" ")) for row, name in enumerate(aliases.keys)]
    assert aliases.names_with(word) == [(row, words) for row, words in split if word in words]


@given(NAMES, st.lists(st.sampled_from(FOLDED), max_size=6))
def test_word_forms_are_those_of_all_candidates_of_a_word(make_aliases, names, words):
    aliases = make_aliases(names)
    expected = []
    for word in words:
        rows = [row for row, name in enumerate(aliases.keys) if name == word and " " not in word]
        expected.append(np.bitwise_or.reduce(aliases.candidate_rows(np.array(rows, int))[3]))
    forms = aliases.word_forms(words)
    assert (forms.tolist(), forms.dtype) == (expected, np.uint8)
