"""Word senses: which synset a marked word of a sentence means (Raganato et al. 2017).

Each word comes with its lemma and part of speech, and may mean the synsets of those. It is right
when the synset that weighs most is one of the marked ones; a word without an answer is wrong.
Without knowledge the answer is the sense that is meant most often.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, Noticed, NoticedWindows, looking, notice
from kgraft.graft.mentions import UNKNOWN
from kgraft.graft.wordnet import WordNetKnowledge, prior
from kgraft.graph import Graph
from kgraft.graph.adjacency import expand
from kgraft.graph.annotated import Annotated, document_of, json_lines
from kgraft.graph.names import Named
from kgraft.json_text import parse_json
from kgraft.text import join_sentences, length_batches, passages

Word = tuple[int, int, str, str, list[str]]
"""A marked word: start, end, lemma, part of speech (NOUN …), sense keys."""


class Sentence(NamedTuple):
    """A text with its marked words."""

    text: str
    words: list[Word]
    document: str = ""  # that it is of


@dataclass(frozen=True)
class SenseTexts:
    """Sentences with words whose sense is marked."""

    texts: list[str]
    named: Named  # the marked words, with their candidates
    gold: list[frozenset[int]]  # of each word: the synsets it means

    def __len__(self) -> int:
        return len(self.gold)


def sense_keys(graph: Graph) -> dict[str, int]:
    """Return the synsets of a WordNet graph by their sense keys."""
    keys = graph.entities["sense_keys"].to_pylist()
    return {key: number for number, held in enumerate(keys) for key in held.split("|") if key}


def read_senses(knowledge: WordNetKnowledge, path: Path) -> SenseTexts:
    """Read sentences with marked senses, in passages."""
    return collect(knowledge, sense_sentences(path))


def sense_sentences(path: Path) -> Iterator[Sentence]:
    """Yield sentences with marked senses; those that follow one another are read together.

    The id of a sentence says by all before its last dot which document it is of.
    """
    documents, sentences = [], []
    for number, (name, text, words) in enumerate(_lines(path)):
        documents.append(document_of(name) or f"#{number}")
        sentences.append(Sentence(text, words, documents[-1]))
    for group in passages(documents, [sentence.text for sentence in sentences]):
        yield _joined([sentences[number] for number in group])


def _joined(sentences: list[Sentence]) -> Sentence:
    text, starts = join_sentences([sentence.text for sentence in sentences])
    words = [
        (start + shift, end + shift, lemma, pos, keys)
        for sentence, shift in zip(sentences, starts, strict=True)
        for start, end, lemma, pos, keys in sentence.words
    ]
    return Sentence(text, words, sentences[0].document)


def _lines(path: Path) -> Iterator[tuple[str, str, list[Word]]]:
    for number, line in json_lines(path):
        try:
            told = parse_json(line)
            name = str(told.get("id", ""))
            yield name, told["text"], [_word(mention) for mention in told["mentions"]]
        except (ValueError, LookupError, TypeError) as error:
            reason = f"no sentence with senses ({type(error).__name__}: {error})"
            raise BadInput(reason, file=str(path), line=number) from error


def _word(mention: dict[str, Any]) -> Word:
    names = ("start", "end", "lemma", "pos", "entities")
    start, end, lemma, pos, keys = (mention[name] for name in names)
    return start, end, lemma, pos, keys


def collect(
    knowledge: WordNetKnowledge,
    sentences: Iterable[Sentence],
    *,
    counted: Iterable[Sentence] = (),
) -> SenseTexts:
    """Look up the senses of the marked words of sentences.

    WordNet's counts are of sentences that were `counted`, as those of SemCor are: what a document
    added to them is taken off for its own words, whose senses the priors would else give away.
    """
    known, look_up = sense_keys(knowledge.graph), cache(knowledge.counts)
    own = _counts(counted, known)
    texts, rows, gold, entity, priors = [], [], [], [], []
    shift = 0
    for text, words, document in sentences:
        texts.append(text)
        for start, end, lemma, pos, keys in sorted(words, key=lambda word: word[:2]):
            senses, counts = look_up(lemma, pos)
            less = [own[document, lemma, pos, sense] for sense in senses.tolist()]
            rows.append((start + shift, end + shift))
            gold.append(frozenset(known[key] for key in keys if key in known))
            entity.append(senses)
            priors.append(prior(np.maximum(counts - np.array(less, np.float32), 0)))
        shift += len(text) + 1
    sizes = [len(senses) for senses in entity]
    first, last = np.array(rows, np.int64).reshape(-1, 2).T
    bounds = np.cumsum([0, *(len(text) + 1 for text in texts)])
    nothing = np.zeros(0, np.int64)
    named = Named(
        bounds, nothing, nothing, first, last, np.cumsum([0, *sizes]),
        np.concatenate([nothing, *entity]), np.concatenate([nothing, *priors]).astype(np.float32),
    )  # fmt: skip
    return SenseTexts(texts, named, gold)


_Counted = tuple[str, str, str, int]  # document, lemma, part of speech, synset


def _counts(sentences: Iterable[Sentence], known: dict[str, int]) -> Counter[_Counted]:
    """Count the senses of each document that says what it is."""
    return Counter(
        (document, lemma, pos, known[key])
        for _, words, document in sentences
        for _, _, lemma, pos, keys in words
        for key in keys
        if document and key in known
    )


def sentences_digest(sentences: Sequence[Sentence]) -> str:
    """Return a name for sentences and their marks: other ones have another."""
    return hashlib.sha256(repr(sentences).encode(errors="surrogatepass")).hexdigest()[:16]


def example_sentences(knowledge: WordNetKnowledge) -> Iterator[Sentence]:
    """Yield the examples in WordNet's own glosses that use a word of their synset."""
    columns = ["label", "aliases", "examples", "sense_keys", "pos"]
    table = knowledge.graph.entities.select(columns)
    names = {"n": "NOUN", "v": "VERB", "a": "ADJ", "s": "ADJ", "r": "ADV"}
    for row in table.to_pylist():
        lemmas = [row["label"], *(row["aliases"] or [])]
        for example in filter(None, row["examples"].split("|")):
            for lemma, key in zip(lemmas, row["sense_keys"].split("|"), strict=False):
                found = _used(lemma.lower(), example.lower())
                if found and key:
                    yield Sentence(example, [(*found, lemma, names[row["pos"]], [key])])
                    break


def _used(lemma: str, text: str) -> tuple[int, int] | None:
    """Return where a text uses a lemma, with another ending perhaps."""
    for cut in range(3):
        stem = lemma[: max(len(lemma) - cut, 3)]
        for found in re.finditer(rf"\b{re.escape(stem)}[a-z]*\b", text):
            if found.end() - found.start() <= len(lemma) + 4:
                return found.span()
    return None


def noticed_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> NoticedWindows:
    """Put marked words into the windows of their sentences; each knows one right synset.

    Grafts after other layers find mentions of their own.
    """
    windows = encoder.windows(data.texts, extra_inputs=False)
    others = {
        number: Noticed.of(windows, knowledge.find(data.texts))
        for number, knowledge in encoder.grafts.knowledge.items()
        if number != layer
    }
    noticed = Noticed.of(windows, data.named, gold=_first_gold(data), longest=encoder.max_length)
    return NoticedWindows.of(windows, others | {layer: noticed})


def found_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> NoticedWindows:
    """Let the knowledge find words itself, as in any text; marked ones know one right synset.

    Nothing is told of lemmas and parts of speech: a word may mean the synsets of all of them.
    """
    places = data.named.characters(data.named.start, data.named.end)
    return notice(encoder, Annotated(data.texts, *places, _first_gold(data)), layer)


def _first_gold(data: SenseTexts) -> np.ndarray:
    """Return one right synset of each marked word, UNKNOWN where WordNet lacks it."""
    return np.array([min(meant, default=UNKNOWN) for meant in data.gold], np.int64)


@torch.no_grad()
def choose_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> np.ndarray:
    """Return the synset that weighs most for each marked word, -1 where there is none."""
    windows = noticed_senses(encoder, layer, data)
    places = windows.locate(*data.named.characters(data.named.start, data.named.end))
    order = np.argsort(places.window, kind="stable")
    order = order[places.window[order] >= 0]  # of the words, as `Noticed` has them
    chosen = first_senses(data)
    encoder.model.eval()
    for numbers in length_batches(windows.lengths, 4096):
        mentions = windows.mentions(numbers)
        ids, mask = map(torch.from_numpy, windows.padded(numbers))
        with looking() as seen:
            encoder.read(ids, mask, knowledge=mentions)
        if layer not in seen:
            continue
        best = seen[layer].scores.argmax(-1, keepdim=True).cpu()
        entity = mentions[layer].entity.gather(-1, best)[..., 0].numpy()
        sides = (np.searchsorted(places.window[order], numbers, side=s) for s in ("left", "right"))
        begin, stop = sides
        row, word = expand(begin, stop)
        chosen[order[word]] = entity[row, word - begin[row]]
    return chosen


def first_senses(data: SenseTexts) -> np.ndarray:
    """Return each marked word's likeliest synset by its prior alone, -1 where there is none."""
    first, last = data.named.candidates[:-1], data.named.candidates[1:]
    whole = np.append(data.named.entity, -1)
    return np.where(last > first, whole[first], -1)


def sense_counts(data: SenseTexts, chosen: np.ndarray) -> np.ndarray:
    """Return hit and try of each word, (N, 2)."""
    right = [int(entity) in meant for entity, meant in zip(chosen, data.gold, strict=True)]
    return np.stack([right, np.ones(len(right))], axis=1)
