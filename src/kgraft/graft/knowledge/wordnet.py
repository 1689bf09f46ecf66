"""WordNet as knowledge: the senses of all words, also of those that are inflected.

A word of a text is taken back to its base by the rules of WordNet's own search: `mice` by its list
of exceptions, which the import made names of the synsets, `walked` by cutting endings. It may mean
the synsets of that base and part of speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft.knowledge import GraphKnowledge
from kgraft.graph import Graph
from kgraft.graph.names import Named
from kgraft.vectors import EntityVectors

SENSES = {"pos", "sense_numbers", "examples"}  # columns of a graph of word senses
LETTERS = "nvasr"
PARTS_OF_SPEECH = {"NOUN": "n", "VERB": "v", "ADJ": "as", "ADV": "r"}
ENDINGS = {
    "n": [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
          ("men", "man"), ("ies", "y")],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
          ("ing", "e"), ("ing", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
}  # fmt: skip
"""By part of speech: an ending, and what stands in its place in the base."""


class WordNetKnowledge(GraphKnowledge):
    """The senses of words: synsets of a WordNet graph, with priors from how often each is meant."""

    closed = True

    def __init__(self, graph: Graph, vectors: EntityVectors, *, name: str | None = None) -> None:
        super().__init__(graph, vectors, name=name)
        if not set(graph.entities.column_names) >= SENSES:
            raise BadInput(
                f"{self.name} tells no parts of speech",
                remedy="import a WordNet folder: kgraft graph import WORDNET --out wordnet",
            )
        self._known: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def find(self, texts: Sequence[str]) -> Named:
        """Find the words of texts that have senses, inflected or not, and compounds of words."""
        return self._names.find(texts, forms=self._inflected)

    def senses(self, lemma: str, part_of_speech: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the synsets of a lemma and part of speech (NOUN …), likeliest first, with priors.

        Which of those that were never counted comes first is WordNet's own order: see `prior`.
        """
        entity, count = self.counts(lemma, part_of_speech)
        return entity, prior(count)

    def counts(self, lemma: str, part_of_speech: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the same synsets with how often each was counted, and once more."""
        return self._of_base(lemma.replace("_", " "), PARTS_OF_SPEECH[part_of_speech])

    @cached_property
    def _pos(self) -> np.ndarray:
        """The part of speech of each synset, one letter."""
        return np.array(self.graph.entities["pos"].to_pylist(), "U1")

    def _of_base(self, word: str, letters: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the synsets of a word that have one of some parts of speech, with weights."""
        aliases = self.graph.aliases
        row = aliases.row(word)
        if row is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        _, entity, weight = aliases.weights(np.array([row]))
        kept = np.isin(self._pos[entity], list(letters))
        entity, weight = entity[kept], weight[kept]
        rank = np.array([self._rank(int(e), word) for e in entity])
        order = np.lexsort((rank, -weight))
        return entity[order], weight[order]

    def _rank(self, entity: int, word: str) -> int:
        """Return the number of a sense among those of its word."""
        names, ranks = self._ranks
        for name, rank in zip(names[entity], ranks[entity].split("|"), strict=False):
            if name.lower() == word.lower() and rank:
                return int(rank)
        return 1 << 20

    @cached_property
    def _ranks(self) -> tuple[list[list[str]], list[str]]:
        table = self.graph.entities
        labels, aliases = table["label"].to_pylist(), table["aliases"].to_pylist()
        names = [[label, *(more or [])] for label, more in zip(labels, aliases, strict=True)]
        return names, table["sense_numbers"].to_pylist()

    def _inflected(self, words: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what words mean whose base is another word; see `graph.names.Forms`."""
        found = [self._form(word.lower()) for word in words]
        sizes = [len(entity) for entity, _ in found]
        which = np.repeat(np.arange(len(words)), sizes)
        entity, weight = (np.concatenate(column) for column in zip(*found, strict=True))
        return which, entity, weight

    def _form(self, word: str) -> tuple[np.ndarray, np.ndarray]:
        if word not in self._known:
            bases = [
                (word.removesuffix(ending) + base, letter + ("s" if letter == "a" else ""))
                for letter, endings in ENDINGS.items()
                for ending, base in endings
                if word.endswith(ending) and len(word) > len(ending) + 1
            ]
            parts = [self._of_base(*base) for base in bases]
            parts.append((np.zeros(0, np.int64), np.zeros(0, np.float32)))
            entity, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
            _, first = np.unique(entity, return_index=True)
            self._known[word] = entity[first], weight[first]
        return self._known[word]


def prior(count: np.ndarray) -> np.ndarray:
    """Return how likely senses are by their counts; to that of the nth is added 1/n.

    >>> prior(np.array([2.0, 0.5]))
    array([0.75, 0.25])
    """
    weight = count + 1 / np.arange(1, len(count) + 1, dtype=np.float32)
    return weight / weight.sum()


class PartOfSpeech(EntityVectors):
    """The part of speech of a synset, as one of five numbers that is not zero."""

    dimension = len(LETTERS)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        letters = graph.entities["pos"].to_pylist()
        self._place = np.array([LETTERS.index(letter) for letter in letters])

    def _take(self, entities: np.ndarray) -> torch.Tensor:
        places = torch.from_numpy(self._place[entities])
        return torch.nn.functional.one_hot(places, self.dimension).float()

    def _origin(self, entities: np.ndarray) -> np.ndarray:
        return np.full(len(entities), "text", "U16")
