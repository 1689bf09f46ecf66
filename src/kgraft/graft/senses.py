"""Texts with annotated word senses: each word with its lemma, part of speech and synsets.

A line of a file is `{"id": "doc.1", "text": "a dog", "mentions": [{"start": 2, "end": 5, "lemma":
"dog", "pos": "NOUN", "entities": ["dog%1:05:00::"]}]}`, with sense keys as entities.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgraft.corpus import AnnotatedTexts, document_name, read_json_lines
from kgraft.errors import BadInput
from kgraft.graft.windows import LocatedMentions, MentionWindows, locate_mentions
from kgraft.graph import UNKNOWN, Graph, Match, Mentions
from kgraft.json_text import parse_json
from kgraft.text import join_sentences, passages

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder
    from kgraft.graft.knowledge.wordnet import WordNetKnowledge

LOOKED_AT = 20  # lines of a file that show whether it has lemmas
POS_NAMES = {"n": "NOUN", "v": "VERB", "a": "ADJ", "s": "ADJ", "r": "ADV"}


class SenseWord(NamedTuple):
    """A word whose sense is annotated."""

    start: int
    end: int
    lemma: str
    pos: str  # NOUN …
    sense_keys: list[str]  # of the senses that are right


class SenseSentence(NamedTuple):
    """A text with annotated words."""

    text: str
    words: list[SenseWord]
    document: str = ""  # that it is part of


@dataclass(frozen=True)
class SenseTexts:
    """Texts with annotated words, looked up."""

    texts: list[str]
    mentions: Mentions  # the words, with their senses as candidates
    gold: list[frozenset[int]]  # of each word: the synsets that are right

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def first_gold(self) -> np.ndarray:
        """One right synset of each word, UNKNOWN where WordNet lacks it, (M,)."""
        return np.array([min(right, default=UNKNOWN) for right in self.gold], np.int64)


# Files


def has_senses(path: Path) -> bool:
    """Tell whether the mentions of a file have lemmas."""
    lines = itertools.islice(read_json_lines(path), LOOKED_AT)
    return any('"lemma"' in line for _, line in lines)


def sense_sentences(path: Path) -> Iterator[SenseSentence]:
    """Yield sentences with annotated senses; those that follow one another are read together.

    All before the last dot of a sentence's id says which document it is of.
    """
    documents, sentences = [], []
    for index, (name, text, words) in enumerate(_read(path)):
        documents.append(document_name(name) or f"#{index}")
        sentences.append(SenseSentence(text, words, documents[-1]))
    for group in passages(documents, [sentence.text for sentence in sentences]):
        yield _joined([sentences[index] for index in group])


def _joined(sentences: list[SenseSentence]) -> SenseSentence:
    text, starts = join_sentences([sentence.text for sentence in sentences])
    words = [
        word._replace(start=word.start + shift, end=word.end + shift)
        for sentence, shift in zip(sentences, starts, strict=True)
        for word in sentence.words
    ]
    return SenseSentence(text, words, sentences[0].document)


def _read(path: Path) -> Iterator[tuple[str, str, list[SenseWord]]]:
    for number, line in read_json_lines(path):
        try:
            value = parse_json(line)
            name = str(value.get("id", ""))
            yield name, value["text"], [_word(mention) for mention in value["mentions"]]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            reason = f"not a text with senses ({type(error).__name__}: {error})"
            raise BadInput(reason, file=str(path), line=number) from error


def _word(mention: dict[str, Any]) -> SenseWord:
    return SenseWord(*(mention[name] for name in ("start", "end", "lemma", "pos", "entities")))


def sentences_digest(sentences: Sequence[SenseSentence]) -> str:
    """Return a name for sentences and their senses: other ones have another."""
    plain = [(text, list(map(tuple, words)), document) for text, words, document in sentences]
    return hashlib.sha256(repr(plain).encode(errors="surrogatepass")).hexdigest()[:16]


def example_sentences(graph: Graph) -> Iterator[SenseSentence]:
    """Yield the examples in WordNet's own glosses that use a word of their synset."""
    columns = ["label", "aliases", "examples", "sense_keys", "pos"]
    for row in graph.entities.select(columns).to_pylist():
        lemmas = [row["label"], *(row["aliases"] or [])]
        for example in filter(None, row["examples"].split("|")):
            for lemma, key in zip(lemmas, row["sense_keys"].split("|"), strict=False):
                span = _find_lemma(lemma.lower(), example.lower())
                if span and key:
                    word = SenseWord(*span, lemma, POS_NAMES[row["pos"]], [key])
                    yield SenseSentence(example, [word])
                    break


def _find_lemma(lemma: str, text: str) -> tuple[int, int] | None:
    """Return where a text uses a lemma, perhaps with another ending."""
    for cut in range(3):
        stem = lemma[: max(len(lemma) - cut, 3)]
        for match in re.finditer(rf"\b{re.escape(stem)}[a-z]*\b", text):
            if match.end() - match.start() <= len(lemma) + 4:
                return match.span()
    return None


# Looking up


def look_up_senses(
    knowledge: WordNetKnowledge,
    sentences: Iterable[SenseSentence],
    *,
    counted: Iterable[SenseSentence] = (),
) -> SenseTexts:
    """Look up the senses of the annotated words of sentences.

    WordNet's counts are of the sentences `counted`, as those of SemCor are: what a document added
    to them is taken off for its own words, whose senses the priors would otherwise give away.
    """
    index_of, look_up = _sense_keys(knowledge.graph), cache(knowledge.counts)
    own_counts = _counts(counted, index_of)
    texts, spans, gold, entities, priors = [], [], [], [], []
    for index, (text, words, document) in enumerate(sentences):
        texts.append(text)
        for start, end, lemma, pos, keys in sorted(words, key=lambda word: word[:2]):
            senses, counts = look_up(lemma, pos)
            own = [own_counts[document, lemma, pos, sense] for sense in senses.tolist()]
            spans.append((index, start, end))
            gold.append(_senses_of(keys, index_of))
            entities.append(senses)
            priors.append(sense_prior(np.maximum(counts - np.array(own, np.float32), 0)))
    return SenseTexts(texts, _mentions(spans, entities, priors), gold)


def _mentions(
    spans: list[tuple[int, int, int]], entities: list[np.ndarray], priors: list[np.ndarray]
) -> Mentions:
    text, start, end = np.array(spans, np.int64).reshape(-1, 3).T
    entity = np.concatenate([np.zeros(0, np.int64), *entities])
    return Mentions(
        text=text,
        start=start,
        end=end,
        bounds=np.cumsum([0, *map(len, entities)]),
        entity=entity,
        prior=np.concatenate([np.zeros(0), *priors]).astype(np.float32),
        match=np.full(len(entity), Match.NAME, np.uint8),
        forms=np.zeros(len(entity), np.uint8),
        score=np.zeros(len(entity), np.float32),
    )


def _sense_keys(graph: Graph) -> dict[str, int]:
    """Return the synsets of a WordNet graph by their sense keys."""
    keys = graph.entities["sense_keys"].to_pylist()
    return {key: index for index, own in enumerate(keys) for key in own.split("|") if key}


def _counts(
    sentences: Iterable[SenseSentence], index_of: dict[str, int]
) -> Counter[tuple[str, str, str, int]]:
    """Count the senses of each document by document, lemma, part of speech and synset."""
    return Counter(
        (document, word.lemma, word.pos, index_of[key])
        for _, words, document in sentences
        for word in words
        for key in word.sense_keys
        if document and key in index_of
    )


def sense_prior(count: np.ndarray) -> np.ndarray:
    """Return how likely senses are by their counts; to that of the nth is added 1/n.

    >>> sense_prior(np.array([2.0, 0.5]))
    array([0.75, 0.25])
    """
    weight = count + 1 / np.arange(1, len(count) + 1, dtype=np.float32)
    return weight / weight.sum()


# Windows


def locate_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> MentionWindows:
    """Put annotated words into the windows of their texts; each has one right synset as gold.

    Grafts after other layers find mentions of their own.
    """
    windows = encoder.windows(data.texts, extra_inputs=False)
    located = {
        number: LocatedMentions.of(knowledge.find(data.texts), windows)
        for number, knowledge in encoder.grafts.knowledge.items()
        if number != layer
    }
    words = replace(data.mentions, gold=data.first_gold)
    located[layer] = LocatedMentions.of(words, windows, max_tokens=encoder.max_length)
    return MentionWindows.of(windows, located)


def locate_open_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> MentionWindows:
    """Let the knowledge find words itself, as in any text; annotated ones have a right synset.

    Lemmas and parts of speech are not used: a word may mean the synsets of all of them.
    """
    words = data.mentions
    mentions = Mentions.without_candidates(words.text, words.start, words.end, gold=data.first_gold)
    return locate_mentions(encoder, AnnotatedTexts(data.texts, mentions), layer)


def _senses_of(keys: Iterable[str], index_of: Mapping[str, int]) -> frozenset[int]:
    """Return the senses that keys stand for, without those that the graph lacks."""
    return frozenset(index_of[key] for key in keys if key in index_of)
