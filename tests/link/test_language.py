"""Which texts the encoder can read: English ones, however short, and no others."""

import pytest

from kgraft.link.language import is_readable

ENGLISH = [
    "She flew from Paris to Georgia and stayed there for a week.",
    "Acme shares fall after profit warning",
    "BREAKING: Mercury launch delayed",
    "omg just saw taylor swift in nashville lol",
    "@nasa the moon is so bright tonight #moon",
    "who founded Acme?",
    "Paris Hilton",
    "Volkswagen and Deutsche Bank are based in Germany.",
    "The patient was diagnosed with Wilson disease (WD).",
    "東京 (Tokyo) is the capital of Japan, and its largest city.",
    "Köln",
    "1984",
    "",
]
OTHERS = {
    "German": "Ich fliege morgen von Wien nach Köln, und dann fahre ich mit dem Zug weiter.",
    "French": "Le président de la République est arrivé hier à Berlin avec son ministre.",
    "Spanish": "El presidente de la compañía llegó ayer a Madrid con su familia.",
    "Italian": "Il presidente della società è arrivato ieri a Roma con la sua famiglia.",
    "Portuguese": "O presidente da empresa chegou ontem a Lisboa com a sua família.",
    "Dutch": "De voorzitter van het bedrijf is gisteren met zijn gezin in Amsterdam aangekomen.",
    "Russian": "Президент компании вчера прибыл в Москву вместе со своей семьёй.",
    "Chinese": "公司总裁昨天和家人一起抵达北京。",
    "Japanese": "東京は日本の首都であり、最大の都市です。",
    "Arabic": "وصل رئيس الشركة أمس إلى القاهرة مع عائلته.",
    "Thai": "ประธานบริษัทเดินทางถึงกรุงเทพฯ เมื่อวานนี้พร้อมครอบครัว",
    "Hindi": "कंपनी के अध्यक्ष कल अपने परिवार के साथ दिल्ली पहुंचे।",
}


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_readable(text):
    assert is_readable(text)


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_not(language):
    assert not is_readable(OTHERS[language])


def test_only_the_beginning_of_a_text_is_looked_at():
    assert is_readable("The old town is on the river. " * 20 + OTHERS["Russian"] * 50)
