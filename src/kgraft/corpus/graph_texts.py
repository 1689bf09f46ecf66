"""Texts made from a graph: its facts, names and descriptions in words, with the mentions marked.

So a model can learn the names of a graph without any annotated text. The sentences are plain, and
many of them in small letters, as people write questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kgraft.corpus.annotated import AnnotatedTexts, annotate
from kgraft.corpus.verbalise import (
    Example,
    Phrase,
    plural,
    question_patterns,
    relation_templates,
    verbalise,
)
from kgraft.errors import BadInput
from kgraft.graph import Entity, Graph, Relation, TripleArrays, placeholders

COUNT = 4000  # texts that say what a graph knows
ABOUT_HEAD = (
    "what is the {r} of {x}?",
    "who is the {r} of {x}?",
    "what {r} does {x} have?",
    "what was {x}'s {r}?",
    "where is the {r} of {x}?",
    "which {r} did {x} have?",
    "name the {r} of {x}",
    "what is {x} {r}?",
    "{x} {r}",
    "tell me about {x}.",
    "when was {x} first mentioned?",
)
ABOUT_BOTH = (
    "the {r} of {x} is {y}.",
    "{x}: {r} {y}.",
    "is {y} the {r} of {x}?",
    "{x} and {y} have been known for long.",
    "who was the {r} of {x} in {y}?",
    "{y} is the {r} of {x}, as everybody knows.",
)
DESCRIBED = ("{x} is {d}.", "{d}: {x}", "{x}, {d}, was in the news.")
UNDESCRIBED = ("who is {x}?", "what is {x}?", "where is {x}?", "what do you know about {x}?")
TYPE_LABELS = ("instance of", "is a", "type")  # of the relation that says what a thing is
YEARS = (1900, 2026)
# Probabilities
QUESTION, BOTH_ENDS, TEMPLATE, SWAPPED = 0.7, 0.4, 0.5, 0.5
DESCRIPTION, SMALL_LETTERS = 0.1, 0.6
ALIAS, LAST_WORD, WITHOUT_SIGNS = 0.3, 0.12, 0.2


def verbalise_graph(graph: Graph, *, count: int = COUNT, seed: int = 0) -> AnnotatedTexts:
    """Say what a graph knows: half of the texts state its facts, the others ask and describe."""
    parts = [graph_texts(graph, count // 2, seed=seed)]
    if len(graph.triples):
        parts.append(fact_texts(graph, count // 2, seed=seed))
    return AnnotatedTexts.concat(parts)


def fact_texts(graph: Graph, count: int, *, seed: int = 0) -> AnnotatedTexts:
    """State `count` facts of a graph, drawn at random, or all of them where there are fewer.

    >>> from kgraft.graph import Graph
    >>> len(fact_texts(Graph.open("world"), 5))
    5
    """
    facts = graph.triples
    if not len(facts):
        remedy = "give texts, or a graph with triples"
        raise BadInput("the graph has no facts to state", remedy=remedy)
    order = np.random.default_rng(seed).permutation(len(facts))[:count]
    return annotate(graph, _statements(graph, facts.take(order)))


def _statements(graph: Graph, facts: TripleArrays) -> Iterator[Example]:
    templates = relation_templates(graph)
    labels, ids = (graph.entities[name].to_pylist() for name in ("label", "id"))
    for head, relation, tail in zip(facts.head, facts.relation, facts.tail, strict=True):
        ends = {"x": head, "y": tail}
        phrases = {name: Phrase(labels[end] or ids[end], ids[end]) for name, end in ends.items()}
        yield verbalise(templates[relation], phrases)


def graph_texts(graph: Graph, count: int, *, seed: int = 0) -> AnnotatedTexts:
    """Make texts that state, ask and describe what a graph knows, by names as people use them."""
    if not len(graph.entities):
        raise BadInput("the graph has no entities to make texts of")
    return annotate(graph, _TextSampler(graph, np.random.default_rng(seed)).texts(count))


class _TextSampler:
    """Draws facts, names and patterns from a stream of random numbers."""

    def __init__(self, graph: Graph, random: np.random.Generator) -> None:
        self.graph, self.random = graph, random
        self.type_of = _types(graph)

    def texts(self, count: int) -> Iterator[Example]:
        """Yield texts with their mentions."""
        triples, entities = self.graph.triples, len(self.graph.entities)
        rows = self.random.integers(len(triples), size=count) if len(triples) else None
        for index in range(count):
            if rows is None or self.random.random() < DESCRIPTION:
                yield self._description(self.graph.entity(int(self.random.integers(entities))))
            else:
                yield self._fact(int(rows[index]))

    def _fact(self, row: int) -> Example:
        """State a fact, or ask for one."""
        triples = self.graph.triples
        ends = [int(triples.head[row]), int(triples.tail[row])]
        head, tail = self.graph.entities_at(ends)
        relation = self.graph.all_relations[int(triples.relation[row])]
        x, y = self._name(head), self._name(tail)
        phrases = {
            "x": x,
            "y": y,
            "xy": Phrase(f"{x.words} {y.words}", head.id),
            "r": Phrase(relation.label.replace("_", " ")),
            "n": Phrase(str(self.random.integers(*YEARS))),
            **self._type_phrases(ends),
        }
        return self._write(self._pattern(relation, phrases), phrases)

    def _type_phrases(self, ends: list[int]) -> dict[str, Phrase]:
        """Return what kind of thing each end of a fact is, where the graph says it."""
        phrases = {}
        for name, index in zip("dc", self.type_of[ends].tolist(), strict=True):
            if index < 0:
                continue
            entity = self.graph.entity(index)
            if entity.label:
                phrases[name] = Phrase(entity.label, entity.id)
                phrases[f"{name}s"] = Phrase(plural(entity.label), entity.id)
        return phrases

    def _pattern(self, relation: Relation, phrases: dict[str, Phrase]) -> str:
        """Return how to say a fact with these phrases; it may swap the ends."""
        questions = [
            pattern
            for pattern in question_patterns().get(relation.label.replace("_", " ").lower(), ())
            if placeholders(pattern) <= phrases.keys()
        ]
        if questions and self.random.random() < QUESTION:
            return self._one_of(questions)
        if self.random.random() < BOTH_ENDS:
            if relation.template and self.random.random() < TEMPLATE:
                return relation.verbalise("{x}", "{y}")
            return self._one_of(ABOUT_BOTH)
        if self.random.random() < SWAPPED:
            phrases["x"], phrases["y"] = phrases["y"], phrases["x"]
        return self._one_of(ABOUT_HEAD)

    def _one_of(self, patterns: Sequence[str]) -> str:
        return patterns[int(self.random.integers(len(patterns)))]

    def _description(self, entity: Entity) -> Example:
        first_sentence = entity.description.partition(".")[0][:200]
        phrases = {"x": self._name(entity), "d": Phrase(first_sentence)}
        patterns = DESCRIBED if first_sentence else UNDESCRIBED
        return self._write(self._one_of(patterns), phrases)

    def _name(self, entity: Entity) -> Phrase:
        """Call an entity by its label, an alias, or the last word; sometimes without signs."""
        name = entity.label or entity.id
        drawn = self.random.random()
        if entity.aliases and drawn < ALIAS:
            name = entity.aliases[self.random.integers(len(entity.aliases))]
        elif drawn > 1 - LAST_WORD:
            words = name.split()
            if len(words) in (2, 3) and all(word.istitle() and word.isalpha() for word in words):
                name = words[-1]
        if self.random.random() < WITHOUT_SIGNS:
            name = name.replace(".", "").replace(",", "") or name
        return Phrase(name, entity.id)

    def _write(self, pattern: str, phrases: dict[str, Phrase]) -> Example:
        """Fill a pattern, often in small letters."""
        text, mentions = verbalise(pattern, phrases)
        small = text.lower()
        keeps_offsets = len(small) == len(text)
        is_small = keeps_offsets and self.random.random() < SMALL_LETTERS
        return (small if is_small else text), mentions


def _types(graph: Graph) -> np.ndarray:
    """Return for each entity the kind of thing that some triple says it is, -1 where none does."""
    type_of = np.full(len(graph.entities), -1)
    relations = [
        relation.index
        for relation in graph.all_relations
        if relation.label.lower().replace("_", " ") in TYPE_LABELS
    ]
    rows = np.isin(graph.triples.relation, relations)
    type_of[graph.triples.head[rows]] = graph.triples.tail[rows]
    return type_of
