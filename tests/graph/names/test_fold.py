import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.columns import codepoints
from kgraft.graph.names import fold
from kgraft.graph.names.fold import (
    FoldedNames,
    HashedTokens,
    Kind,
    WordTokens,
    fold_name,
    hash_words,
    tokenise,
)

ODD = st.sampled_from(
    "aB1_ß İÅé\u0301\u0345\u00ad\u200d\ufeff\ufe0f\n\t\u00a0\u200b.-–’ʼ&…½ﬁガがカ\u3099東京한ั🇫🇷👍🏽"
)
SURROGATES = st.sampled_from("\ud83d\ude00")
TEXT = st.text(st.one_of(ODD, SURROGATES, st.characters()), max_size=25)
NAME = st.text(st.one_of(ODD, st.characters(exclude_categories=["Cs"])), max_size=12)


def tokens_of(text):
    """(start, end, folded form) of every token."""
    tokens = tokenise(codepoints(text))
    forms = [
        "".join(map(chr, tokens.folded[a:b]))
        for a, b in zip(tokens.bounds[:-1], tokens.bounds[1:], strict=True)
    ]
    return list(zip(tokens.start.tolist(), tokens.end.tolist(), forms, strict=True))


def naive_tokens(text):
    """One character after the other, as the docstrings of the module and of `Kind` say."""
    found, current, in_word = [], None, False
    for place, character in enumerate(text):
        kind = fold._kind(ord(character))
        if kind == Kind.SPACE:
            current, in_word = None, False
        elif kind == Kind.SOLO or (kind == Kind.WORD and not in_word):
            current, in_word = [place, place + 1, fold._fold(ord(character))], kind == Kind.WORD
            found.append(current)
        elif current is not None and kind != Kind.IGNORE:
            current[1] = place + 1
            current[2] += "" if kind == Kind.ACCENT else fold._fold(ord(character))
    return [tuple(token) for token in found]


@given(TEXT)
@settings(max_examples=at_most(300))
def test_tokens_are_those_of_a_plain_loop(text):
    assert tokens_of(text) == naive_tokens(text)


@given(TEXT)
def test_tokens_lie_in_the_text_one_behind_the_other(text):
    edges = [edge for start, end, _ in tokens_of(text) for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(start < end for start, end, _ in tokens_of(text))
    assert not edges or (edges[0] >= 0 and edges[-1] <= len(text))


@given(TEXT)
def test_a_token_folds_alone_as_in_its_text(text):
    """Without exception: what a token is depends on nothing before its first character."""
    for start, end, form in tokens_of(text):
        assert tokens_of(text[start:end]) == [(0, end - start, form)]
        assert fold_name(text[start:end]) == form


@given(TEXT)
def test_a_key_is_the_folded_tokens_joined_by_spaces(text):
    assert fold_name(text) == " ".join(form for _, _, form in tokens_of(text))


@given(st.lists(NAME, max_size=8), st.integers(0, 3))
def test_many_names_fold_as_each_does_alone(names, skipped):
    array = pa.array(names, pa.string()).slice(min(skipped, len(names)))
    folded = FoldedNames.of(array)
    assert folded.keys().to_pylist() == [fold_name(name) for name in array.to_pylist()]
    counts = [len(tokens_of(name)) for name in array.to_pylist()]
    assert np.diff(folded.bounds).tolist() == counts


@given(TEXT, st.integers(1, 8))
def test_a_long_text_in_pieces_has_the_tokens_of_the_whole(text, size):
    whole = HashedTokens.of(text, seed=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "_CHUNK", size)
        pieces = HashedTokens.of(text, seed=5)
    for part in ("start", "end", "hash"):
        assert getattr(pieces, part).tolist() == getattr(whole, part).tolist()


def test_a_long_text_is_really_cut(monkeypatch):
    monkeypatch.setattr(fold, "_CHUNK", 10)
    assert fold._pieces(codepoints("word " * 6)) == [(0, 14), (14, 24), (24, 30)]
    assert fold._pieces(codepoints("x" * 30)) == [(0, 30)]


def test_hashes_of_tokens_are_those_of_their_folded_forms():
    hashes = HashedTokens.of("Zürich zurich ZÜRICH Bern", seed=2).hash.tolist()
    assert hashes[0] == hashes[1] == hashes[2] != hashes[3]
    assert hashes[0] != HashedTokens.of("zurich", seed=3).hash[0]


SAME = [
    ("case", "Paris", "PARIS", "pArIs"),
    ("accents", "São Tomé", "Sao Tome", "SÃO TOMÉ"),
    ("stacked accents", "Việt Nam", "Viet Nam"),
    ("Greek", "Ἀθῆναι", "αθηναι", "ΑΘΗΝΑΙ"),
    ("final sigma", "Σίσυφος", "ΣΙΣΥΦΟΣ"),
    ("iota subscript", "ᾳ", "ᾼ", "α\u0345", "α"),
    ("Cyrillic", "Йошкар-Ола", "ЙОШКАР-ОЛА", "йошкар-ола"),
    ("sharp s", "Straße", "STRASSE", "STRAẞE", "strasse"),
    ("Turkish I with dot", "İstanbul", "istanbul", "Istanbul", "I\u0307stanbul"),
    ("full width", "Ｐａｒｉｓ　２０", "Paris 20"),
    ("half-width kana", "ｶﾞｷﾞ", "ガギ"),
    ("ligatures", "ﬁne œuvre", "fine œuvre"),
    ("soft hyphen", "Donau\u00addampf", "Donaudampf"),
    ("zero-width joiner", "کتاب\u200dها", "کتابها"),
    ("byte order mark", "\ufeffParis", "Paris"),
    ("apostrophes", "O'Neill", "O’Neill", "O‘Neill", "Oʼneill", "Oʻneill", "O`Neill", "O′Neill"),
    ("double quotes", '"Guernica"', "“Guernica”", "„Guernica‟", "«Guernica»"),
    ("dashes", "Jean-Luc", "Jean‐Luc", "Jean‑Luc", "Jean–Luc", "Jean—Luc", "Jean−Luc", "Jean－Luc"),
    ("spaces", "New York", "New\u00a0York", " New \n\t York ", "New\u200bYork", "New\u3000York"),
    ("around signs", "AT&T", "AT & T", "at&t"),
    ("emoji presentation", "❤", "❤\ufe0f"),
    ("ideographic variants", "葛城", "葛\U000e0100城"),
    ("compatibility ideographs", "\uf90a", "金"),
]


@pytest.mark.parametrize("names", [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_names_that_are_the_same(names):
    assert {fold_name(name) for name in names} == {fold_name(names[0])}
    assert fold_name(names[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", "Pari s"),
        ("カ", "ガ"),
        ("AT", "AT&T"),
        ("ı", "i"),
        ("C", "C++"),
        ("東京", "京東"),
        ("نَ", "ن"),
    ],
)
def test_names_that_differ(one, other):
    assert fold_name(one) != fold_name(other)


LETTERS = {
    "Latin": "AaÅåÉéÇçÑñÖöŠšŽžİıẞßŁłƠơữĆǅﬃ",
    "Greek": "ΑαάΆᾳᾷῼῥΐΰςσΣϊϐ",
    "Cyrillic": "АаЙйЁёЇїЎўҐґ",
    "Hangul": "한국어서울각갂ㄱ",
    "Kana": "がぎぐばぱヴガギパーァカか",
}


@pytest.mark.parametrize("letters", LETTERS.values(), ids=LETTERS)
def test_composed_and_decomposed_letters_are_the_same(letters):
    @given(st.text(letters + " -"))
    def check(text):
        keys = {fold_name(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
        assert keys == {fold_name(text)}

    check()


@given(st.text("".join(LETTERS.values()).replace("ㄱ", "") + " '’-–&東京🇫\u00ad"))
def test_a_key_is_its_own_key(name):
    """Not so for characters that stand for several tokens, such as `½`, `…` or `㈱`."""
    assert fold_name(fold_name(name)) == fold_name(name)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京都", ["東", "京", "都"]),
        ("서울은", [unicodedata.normalize("NFD", c) for c in "서울은"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("ひらカタカナ", ["ひ", "ら", "カタカナ"]),
        ("🇫🇷!", ["🇫", "🇷", "!"]),
        ("snake_case 3x", ["snake_case", "3x"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("1½", ["11⁄2"]),
    ],
)
def test_what_a_token_is(text, tokens):
    assert [form for _, _, form in tokens_of(text)] == tokens


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("é!", [(0, 1), (1, 2)]),
        ("e\u0301!", [(0, 2), (2, 3)]),
        ("Stra\u00adße\u00ad ", [(0, 7)]),
        ("\u200dİz ", [(1, 3)]),
        ("👍🏽", [(0, 1), (1, 2)]),
        ("a\ud83db", [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_spans_count_characters_of_the_source(text, spans):
    assert [(start, end) for start, end, _ in tokens_of(text)] == spans


@pytest.mark.parametrize("name", ["", " ", "\n\u00a0", "\u00ad\u200d", "\u0301", "\u3164", "\x00"])
def test_names_without_a_visible_character_have_an_empty_key(name):
    assert fold_name(name) == ""


def test_lone_surrogates_fold_to_the_replacement_character():
    assert fold_name("\ud83d\ude00 \udfff") == "\ufffd \ufffd \ufffd"


@given(TEXT, st.integers(0, 9))
def test_tokens_with_their_words_are_the_same_tokens(text, seed):
    tokens = WordTokens.of(text)
    spans = zip(tokens.start.tolist(), tokens.end.tolist(), tokens.words, strict=True)
    assert list(spans) == tokens_of(text)
    expected = HashedTokens.of(text, seed)
    assert tokens.start.tolist() == expected.start.tolist()
    assert tokens.end.tolist() == expected.end.tolist()
    assert hash_words(tokens.words, seed).tolist() == expected.hash.tolist()


@given(st.text(st.characters(max_codepoint=0x7F) | st.just("\uffff")))
def test_plain_texts_have_the_tokens_of_any_other(text):
    tokens = WordTokens.of(text)
    spans = zip(tokens.start.tolist(), tokens.end.tolist(), tokens.words, strict=True)
    assert list(spans) == tokens_of(text)
