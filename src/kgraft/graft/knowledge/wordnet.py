"""WordNet as knowledge: the senses of all words, also of those that are inflected.

A word of a text is reduced to its base by the rules of WordNet's own search: `mice` by its list of
exceptions, which the import made names of the synsets, `walked` by cutting endings. It may mean the
synsets of that base and part of speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from kgraft.corpus import hold_out
from kgraft.errors import BadInput
from kgraft.graft.graft_texts import GraftTexts
from kgraft.graft.knowledge import KNOWLEDGE
from kgraft.graft.knowledge.graph import GraphKnowledge
from kgraft.graft.part_of_speech import PartOfSpeech
from kgraft.graft.senses import (
    example_sentences,
    has_senses,
    locate_open_senses,
    locate_senses,
    look_up_senses,
    sense_prior,
    sense_sentences,
    sentences_digest,
)
from kgraft.graft.settings import KnowledgeConfig, TextSettings
from kgraft.graph import Graph, Mentions
from kgraft.progress import Progress
from kgraft.vectors import EntityVectors, NeighbourVectors, TextVectors

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder

COLUMNS = {"pos", "sense_numbers", "examples"}  # of a graph of word senses
PARTS_OF_SPEECH = {"NOUN": "n", "VERB": "v", "ADJ": "as", "ADV": "r"}
ENDINGS = {
    "n": [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
          ("men", "man"), ("ies", "y")],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
          ("ing", "e"), ("ing", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
}  # fmt: skip
"""By part of speech: an ending, and what replaces it in the base."""


@KNOWLEDGE.register("wordnet")
class WordNetKnowledge(GraphKnowledge):
    """The senses of words: synsets of a WordNet graph, with priors from how often each is meant."""

    closed = True

    def __init__(self, graph: Graph, vectors: EntityVectors, *, name: str | None = None) -> None:
        _refuse_without_senses(graph)
        super().__init__(graph, vectors, name=name)
        self._forms: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    @classmethod
    def suits(cls, graph: Graph) -> bool:
        """Tell whether a graph is of word senses."""
        return set(graph.entities.column_names) >= COLUMNS

    @classmethod
    def open(cls, graph: Graph, config: KnowledgeConfig, progress: Progress | None = None) -> Self:
        """Open the knowledge of a graph of word senses."""
        _refuse_without_senses(graph)
        return super().open(graph, config, progress)

    @classmethod
    def vector_parts(cls, graph: Graph, text: TextVectors) -> list[EntityVectors]:
        """Return the vectors of glosses, the mean of the glosses around, and parts of speech."""
        return [text, NeighbourVectors(text), PartOfSpeech(graph)]

    def find(self, texts: Sequence[str]) -> Mentions:
        """Find the words of texts that have senses, inflected or not, and compounds of words."""
        return self._matcher.find(texts, exact=True, forms=self._inflected)

    def senses(self, lemma: str, part_of_speech: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the synsets of a lemma and part of speech (NOUN …), likeliest first, with priors.

        Those that were never counted come in WordNet's own order: see `sense_prior`.
        """
        entity, count = self.counts(lemma, part_of_speech)
        return entity, sense_prior(count)

    def counts(self, lemma: str, part_of_speech: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the same synsets with how often each was counted, plus one."""
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
        fits = np.isin(self._pos[entity], list(letters))
        entity, weight = entity[fits], weight[fits]
        rank = np.array([self._rank(int(e), word) for e in entity])
        order = np.lexsort((rank, -weight))
        return entity[order], weight[order]

    def _rank(self, entity: int, word: str) -> int:
        """Return the number of a sense among those of its word, large where there is none."""
        names, ranks = self._ranks
        for name, rank in zip(names[entity], ranks[entity].split("|"), strict=False):
            if name.lower() == word.lower() and rank:
                return int(rank)
        return 1 << 20

    @cached_property
    def _ranks(self) -> tuple[list[list[str]], list[str]]:
        table = self.graph.entities
        labels, aliases = table["label"].to_pylist(), table["aliases"].to_pylist()
        names = [[label, *(own or [])] for label, own in zip(labels, aliases, strict=True)]
        return names, table["sense_numbers"].to_pylist()

    def _inflected(self, words: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what words mean whose base is another word; see `WordForms`."""
        none = np.zeros(0, np.int64), np.zeros(0, np.float32)
        senses = [self._form(word) for word in words]
        index = np.repeat(np.arange(len(words)), [len(entity) for entity, _ in senses])
        entity, weight = (np.concatenate(column) for column in zip(none, *senses, strict=True))
        return index, entity, weight

    def _form(self, word: str) -> tuple[np.ndarray, np.ndarray]:
        if word not in self._forms:
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
            self._forms[word] = entity[first], weight[first]
        return self._forms[word]

    def training_texts(
        self,
        encoder: GraftedEncoder,
        layer: int,
        path: Path | None = None,
        settings: TextSettings | None = None,
        *,
        seed: int = 0,
    ) -> GraftTexts:
        """Prepare the texts of a file, with annotated senses or entities, or WordNet's examples.

        With `open_vocabulary`, words are looked up as in any text, not by their annotated lemma and
        part of speech. With `exclude_own_counts`, the graph's counts of senses are of these texts.
        """
        settings = settings or TextSettings()
        if settings.next_sentence or (path is not None and not has_senses(path)):
            return super().training_texts(encoder, layer, path, settings, seed=seed)
        sentences = list(sense_sentences(path) if path else example_sentences(self.graph))
        counted = sentences if settings.exclude_own_counts else ()
        train, valid = (
            look_up_senses(self, (sentences[row] for row in rows.tolist()), counted=counted)
            for rows in hold_out(len(sentences), seed=seed)
        )
        locate = locate_open_senses if settings.open_vocabulary else locate_senses
        return GraftTexts(
            locate(encoder, layer, train),
            locate(encoder, layer, valid),
            sentences_digest(sentences),
            f"{len(train.texts):,} texts with {len(train):,} annotated words, "
            f"{len(valid.texts):,} texts to validate on",
        )


def _refuse_without_senses(graph: Graph) -> None:
    if not WordNetKnowledge.suits(graph):
        raise BadInput(
            f"{graph.manifest.name or graph.folder.name} has no parts of speech",
            remedy="import a WordNet folder: kgraft graph import WORDNET --out wordnet",
        )
