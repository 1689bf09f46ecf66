"""Which facts a question recalls: SimpleQuestions over Wikidata.

make bench-reason.recall
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.data.simple_questions import FOLDER, SimpleQuestion, simple_questions
from benchmarks.data.texts import open_graph
from benchmarks.harness import WORK, Benchmark, Goal, Run, shared_data
from kgraft.graph import Graph, Mentions
from kgraft.graph.names import NameMatcher
from kgraft.measure import Queries
from kgraft.progress import progress_bar
from kgraft.reason import FactMemory, RecalledFact, RecallSettings
from kgraft.reason.memory.slots import SlotWords, slots_of
from kgraft.storage import sha256
from kgraft.text import StaticEncoder

BENCHMARK = Benchmark(
    name="reason_recall",
    measures="the facts that questions recall, against names and words alone",
    minutes=25,
    data=("graphs/wikidata", "qa/simplequestions"),
)

LIMIT = 10
PROTOCOL = """
All dev questions of SimpleQuestions that name their topic, over graphs/wikidata (110,992 entities,
247,733 triples). Only the text is given, not the topic. A result is one line: a fact, or all facts
of one entity and one relation in one direction, of which up to ten are shown. hits10: one of ten
lines is the topic with the relation that is asked for, in its direction (which holds all answers),
or shows one of the facts that answer. strict_hits10: each fact counts singly, the best connected
first, and one of the first ten facts answers. recall: the default encoder, slots of the entities
that the question names. everywhere: the slots of the whole graph, whatever is named. topic_given:
the topic is given. unnamed: the dev questions whose topic goes by another name. static: the static
encoder. Baselines over the same slots as recall: graph_order: as they stand in the graph.
longest_name: entities by the length of their name in the question, then as they stand. words: the
sum of idf of the words that question and slot share, over the square root of that of the slot.
Temperature, prior, the weight of nested names and the words of slots were chosen on train
questions; nothing is trained on questions.
"""
GOALS: dict[str, Goal] = {"recall_facts_hits10": {"at_least": 0.75}}

Recall = Callable[[SimpleQuestion], list[RecalledFact]]
Order = Callable[[str, Mentions, Queries], np.ndarray]
"""From a question, its mentions and its slots to a score per slot."""


def main() -> None:
    """Recall and record."""
    data = shared_data()
    if data is None:
        return
    graph = open_graph("wikidata", data)
    questions = simple_questions(data, "dev")
    path = data / FOLDER / "dev.jsonl.gz"
    described = {"name": "simplequestions dev", "sha256": sha256(path)}
    with BENCHMARK.run(protocol=PROTOCOL, data=described, goals=GOALS) as run:
        run.figure("questions", len(questions))
        _baselines(run, graph, questions)
        unnamed = simple_questions(data, "dev", named=False)
        run.figure("unnamed_questions", len(unnamed))
        settings = RecallSettings(shown=LIMIT)
        static = FactMemory(graph, StaticEncoder.load(), settings=settings, cache=False)
        _record(run, "static", questions, lambda q: static.recall(q.text))
        memory = FactMemory(graph, settings=settings, cache=WORK / "memory")
        with progress_bar() as progress:
            memory.fill(progress=progress)
        _record(run, "recall_facts", questions, lambda q: memory.recall(q.text))
        _record(run, "topic_given", questions, lambda q: memory.recall(q.text, entities=[q.topic]))
        for name, asked in (("", questions), ("unnamed_", unnamed)):
            everywhere = f"{name}everywhere"
            _record(run, everywhere, asked, lambda q: memory.recall(q.text, everywhere=True))
        _record(run, "unnamed", unnamed, lambda q: memory.recall(q.text))


def _record(run: Run, name: str, questions: Sequence[SimpleQuestion], recall: Recall) -> None:
    ranks, strict = [], []
    for question in questions:
        facts = recall(question)
        ranks.append(_first(holds(fact, question) for fact in facts))
        triples = (triple for fact in facts for triple in fact.triples())
        gold = question.triples()
        strict.append(_first(triple in gold for triple in triples))
    run.figure(f"{name}_hits1", round(float(np.mean(np.array(ranks) < 1)), 4))
    run.figure(f"{name}_hits10", round(float(np.mean(np.array(ranks) < LIMIT)), 4))
    run.figure(f"{name}_strict_hits10", round(float(np.mean(np.array(strict) < LIMIT)), 4))


def holds(fact: RecalledFact, question: SimpleQuestion) -> bool:
    """Tell whether a line is what a question asks for, or shows a fact that answers it."""
    asked = (fact.entity.id, fact.relation.id, fact.forward)
    is_asked = asked == (question.topic, question.relation, question.forward)
    return is_asked or not question.triples().isdisjoint(fact.triples())


def _first(hits: Iterable[bool]) -> float:
    """Return the position of the first hit, from 0; infinity where there is none."""
    return next((float(n) for n, hit in enumerate(hits) if hit), np.inf)


# Baselines


def _baselines(run: Run, graph: Graph, questions: Sequence[SimpleQuestion]) -> None:
    matcher, overlap = NameMatcher(graph), WordOverlap(graph)
    orders: dict[str, Order] = {
        "graph_order": lambda _text, _mentions, slots: -np.arange(len(slots)),
        "longest_name": lambda _text, mentions, slots: name_lengths(mentions, slots),
        "words": lambda text, _mentions, slots: overlap(text, slots),
    }
    ranks: dict[str, list[float]] = {name: [] for name in orders}
    for question in questions:
        mentions = matcher.find([question.text])
        mentions = mentions.keep_candidates(mentions.rank < RecallSettings().candidates)
        slots = slots_of(graph, mentions.entity)
        relation = graph.relation_indices[question.relation]
        relation += 0 if question.forward else slots.relations
        topic = graph.index(question.topic)
        is_gold = (slots.entity == topic) & (slots.relation == relation)
        for name, order in orders.items():
            best = np.argsort(-order(question.text, mentions, slots), kind="stable")
            ranks[name].append(_first(is_gold[best].tolist()))
    for name, firsts in ranks.items():
        run.figure(f"{name}_hits1", round(float(np.mean(np.array(firsts) < 1)), 4))
        run.figure(f"{name}_hits10", round(float(np.mean(np.array(firsts) < LIMIT)), 4))


def name_lengths(mentions: Mentions, slots: Queries) -> np.ndarray:
    """Return the length of the longest name of the entity of each slot."""
    length = np.zeros(int(slots.entity.max(initial=-1)) + 1, np.int64)
    named = mentions.entity < len(length)
    owner = mentions.owner[named]
    np.maximum.at(length, mentions.entity[named], (mentions.end - mentions.start)[owner])
    return length[slots.entity]


class WordOverlap:
    """How much of the words of slots stands in a question, rare words counting more."""

    def __init__(self, graph: Graph) -> None:
        self.words = SlotWords(graph)
        slots = Queries.of(graph.triples, graph.manifest.relations)
        texts = self.words(slots.entity, slots.relation).to_pylist()
        counts: dict[str, int] = {}
        for word in (word for text in texts for word in _words(text)):
            counts[word] = counts.get(word, 0) + 1
        self.idf = {word: np.log(len(texts) / count) for word, count in counts.items()}

    def __call__(self, text: str, slots: Queries) -> np.ndarray:
        """Return the score of each slot."""
        asked = _words(text)
        scores = np.zeros(len(slots))
        for row, words in enumerate(
            map(_words, self.words(slots.entity, slots.relation).to_pylist())
        ):
            total = sum(self.idf[word] for word in words)
            shared = sum(self.idf[word] for word in words & asked)
            scores[row] = shared / np.sqrt(max(total, 1e-9))
        return scores


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


if __name__ == "__main__":
    main()
