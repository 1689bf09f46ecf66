"""Build src/kgraft/data/words.tsv: how often words are written in small letters, as ordinary words.

    pip install wordfreq && python -m tools.build_words

A name such as "disease" or "may" is trusted less than "Texas", because it is also an ordinary word.
The table says how ordinary: the Zipf frequency of the word (wordfreq) times the share of its
occurrences in running text that are written in small letters (articles of the data folder, and
WordNet where those are silent). Of other languages it has the most frequent words only.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter
from pathlib import Path

import wordfreq
from benchmarks.harness import ROOT, shared_data

from kgraft.graph.names import fold_name

OUT = ROOT / "src" / "kgraft" / "data" / "words.tsv"
ENGLISH, OTHERS = 40_000, 120  # words of English, and of each other language
LEAST = 2.0  # Zipf frequency of a word that is worth a line
FOREIGN = 2.0  # how much more frequent a word is in the language that it tells
PRIOR = 4  # occurrences that WordNet's word for it is worth
WORD = re.compile(r"[^\W\d_]+")


def main() -> None:
    """Write the table."""
    data = shared_data()
    if data is None:
        return
    small, capital = _count_cases(data)
    lemmas = _lemmas(data / "wordnet-3.0")
    table: dict[str, tuple[float, str]] = {}
    for word in wordfreq.top_n_list("en", ENGLISH):
        if not WORD.fullmatch(word) or fold_name(word) in table:  # "rose" is no rarer for "rosé"
            continue
        share = _small_share(small[word], capital[word], lemmas.get(word, 0.5))
        table[fold_name(word)] = wordfreq.zipf_frequency(word, "en") + math.log10(share), "en"
    for language in sorted(wordfreq.available_languages()):
        frequencies = wordfreq.get_frequency_dict(language)
        for word in wordfreq.top_n_list(language, OTHERS):
            if not WORD.fullmatch(word):
                continue
            zipf = wordfreq.freq_to_zipf(frequencies[word])
            english, _ = table.setdefault(fold_name(word), (zipf, language))
            if zipf >= english + FOREIGN:  # "de" and "la" are in English texts, but not English
                table[fold_name(word)] = english, language
    lines = [
        f"{word}\t{round(zipf * 10)}\t{language}"
        for word, (zipf, language) in sorted(table.items())
        if zipf >= LEAST
    ]
    OUT.write_text("\n".join(["word\tzipf10\tlanguage", *lines]) + "\n", encoding="utf-8")
    print(f"{len(lines):,} words, {OUT.stat().st_size:,} bytes")


def _small_share(small: int, capital: int, prior: float) -> float:
    return (small + PRIOR * prior) / (small + capital + PRIOR)


def _count_cases(data: Path) -> tuple[Counter[str], Counter[str]]:
    """Count words inside sentences by whether they begin with a small letter."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for text in _texts(data):
        for match in WORD.finditer(text):
            before = text[: match.start()].rstrip(" \"'“‘(")
            if not before or before[-1] in ".!?:\n":
                continue  # the first word of a sentence says nothing
            word = match[0]
            counts = small if word[0].islower() else capital
            counts[word.lower()] += 1
    return small, capital


def _texts(data: Path) -> list[str]:
    with gzip.open(data / "corpus" / "vital_articles.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    with (data / "extract" / "knowledgenet.jsonl").open(encoding="utf-8") as file:
        return texts + [json.loads(line)["text"] for line in file]


def _lemmas(wordnet: Path) -> dict[str, float]:
    """Return for each word of WordNet how surely it is written in small letters."""
    share: dict[str, float] = {}
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split()
            for lemma in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
                word = lemma.lower()
                share[word] = max(share.get(word, 0.02), 0.9 if lemma == word else 0.02)
    return share


if __name__ == "__main__":
    main()
