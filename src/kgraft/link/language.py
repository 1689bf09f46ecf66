"""Whether the default encoder can read a text: it knows English, and little of other languages.

Where it cannot, a linker trusts names and priors. A text is taken for English unless most of its
letters are of another script, or the function words of another language outnumber English ones.
"""

from __future__ import annotations

import re

from kgraft.graph.names import word_languages

_WORD = re.compile(r"[^\W\d_]+")
SAMPLE = 400  # characters of a text that are looked at
LATIN_END = 0x250


def is_readable(text: str) -> bool:
    """Tell whether the encoder can read a text.

    >>> is_readable("She flew from Paris to Rome."), is_readable("Ich fliege von Wien nach Köln.")
    (True, False)
    >>> is_readable("東京は日本の首都です。"), is_readable("Paris Hilton")
    (False, True)
    """
    sample = text[:SAMPLE]
    if not sample.isascii():
        letters = [c for c in sample if c.isalpha()]
        foreign = sum(ord(c) >= LATIN_END for c in letters)
        if letters and foreign > 0.4 * len(letters):
            return False
    english, other = word_languages(_WORD.findall(sample))
    return other <= english
