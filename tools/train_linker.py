"""Train the linker that ships with kgraft, from the public texts of the data folder.

    python -m tools.train_linker src/kgraft/data/linker

It sees texts of many kinds over many graphs, so that it learns nothing about one of them: linked
Wikipedia and web text, questions, sense-tagged text over WordNet and over small domains of it, news
over `world`, and sentences made from the facts of `world` and DBpedia. It never sees WebQSP, the
graphs `medic` and `hpo` or texts about them, nor any text made from graphs/wikidata. Interrupted,
the same command resumes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.harness import shared_data

from benchmarks.data import texts
from kgraft.corpus import AnnotatedTexts, graph_texts
from kgraft.link import LinkModel, LinkSettings, TrainingTexts, new_model, train_linker
from kgraft.link.head_training import collect_examples, fit_head
from kgraft.link.knowledge import Knowledge
from kgraft.link.training_texts import FULL, Unmarked
from kgraft.text import Encoder

SETTINGS = LinkSettings(epochs=1, part=3000)
HEAD_TEXTS = 1200  # of each source that the link head learns from
HEAD_QUESTIONS = 4800  # they hold one mention each
REPEATS = {"world": 4, "dbpedia": 2, **dict.fromkeys(texts.DOMAINS, 2)}  # of small sources
INDEXED = "wikidata"  # the graph whose texts the link head sees with candidates by meaning too
PARTIAL = Unmarked()
GRAPH_TEXTS = 3000  # made from each of
MADE_FROM = ("world", "dbpedia")


def main() -> None:
    """Train the encoder with all heads, and then the link head alone."""
    out, data = Path(sys.argv[1]), shared_data()
    if data is None:
        return
    first = out.with_name(f"{out.name}-encoder")
    if not first.exists():
        model = new_model(None, SETTINGS)
        for epoch in train_linker(model, training_sources(data), first, settings=SETTINGS):
            losses = {name: round(value, 3) for name, value in epoch.losses.items()}
            print(epoch.number, f"{epoch.seconds / 60:.1f} min", losses, flush=True)
    model = LinkModel.from_pretrained(first)
    examples = []
    for source in training_sources(data, for_head=True):
        name = source.knowledge.graph.manifest.name
        examples += collect_examples(model, source) * REPEATS.get(name, 1)
        if name == INDEXED:
            examples += collect_examples(model, _with_index(source))
    print(f"{len(examples)} batches of examples for the link head", flush=True)
    fit_head(model, examples, seed=SETTINGS.seed)
    model.save_pretrained(out, facts={"settings": SETTINGS.to_dict()})


def _with_index(source: TrainingTexts) -> TrainingTexts:
    """Return texts with candidates by meaning too; the index is built if it is not there."""
    knowledge = Knowledge(source.knowledge.graph, source.knowledge.encoder)
    if knowledge.index is None:
        knowledge.build_index()
    return replace(source, knowledge=knowledge)


def training_sources(data: Path, *, for_head: bool = False) -> list[TrainingTexts]:
    """Return all texts with their graphs, or those that the link head learns from.

    These are fewer, and none of them is made from a graph: its names are too easy for the link
    head, which would learn to trust names too much.
    """
    encoder = Encoder.load()

    @cache
    def knowledge(name: str) -> Knowledge:
        opened = Knowledge(texts.open_graph(name, data), encoder)
        opened.index = None
        return opened

    def partly_marked(
        graph: str, annotated: AnnotatedTexts, most: int | None = None, head_texts: int = HEAD_TEXTS
    ) -> TrainingTexts:
        sample = _sample(annotated, head_texts if for_head else most)
        return TrainingTexts(knowledge(graph), sample, PARTIAL)

    def vocabulary(graph: str, most: int) -> TrainingTexts:
        sample = _sample(texts.senses(data, "semcor", graph), HEAD_TEXTS if for_head else most)
        return _vocabulary(knowledge(graph), sample)

    noised = texts.with_case_noise
    questions = texts.simple_questions(data)
    sources = [
        partly_marked("wikidata", texts.wikipedia(data, train=True)),
        partly_marked("wikidata", noised(texts.rebel(data, "train"))),
        partly_marked("wikidata", noised(texts.knowledgenet(data))),
        partly_marked("wikidata", noised(texts.relation_sentences(data)), 9000),
        partly_marked("wikidata", questions, 9000, head_texts=HEAD_QUESTIONS),
        vocabulary("wordnet-nouns", 6000),
        *(vocabulary(domain, 2000) for domain in texts.DOMAINS),
        TrainingTexts(knowledge("world"), noised(texts.news(data, "train")), FULL),
        partly_marked("dbpedia", noised(texts.dbpedia(data, "train"))),
    ]
    if for_head:
        return sources
    made = (graph_texts(knowledge(name).graph, GRAPH_TEXTS) for name in MADE_FROM)
    return sources + [partly_marked(name, part) for name, part in zip(MADE_FROM, made, strict=True)]


def _vocabulary(knowledge: Knowledge, annotated: AnnotatedTexts) -> TrainingTexts:
    """Return texts in which every noun of the vocabulary is marked, ordinary ones too."""
    return TrainingTexts(knowledge, annotated, FULL, none_ratio=0.5, teaches_mentions=False)


def _sample(annotated: AnnotatedTexts, most: int | None) -> AnnotatedTexts:
    if most is None or most >= len(annotated):
        return annotated
    order = np.random.default_rng(SETTINGS.seed).permutation(len(annotated))
    return annotated.select(np.sort(order[:most]))


if __name__ == "__main__":
    main()
