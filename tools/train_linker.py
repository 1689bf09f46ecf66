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
from pathlib import Path

import numpy as np
from benchmarks.harness import shared_data

from benchmarks.link import texts
from kgraft.graph.annotated import Annotated
from kgraft.link.head_training import collect_examples, fit_head
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import LinkModel
from kgraft.link.sentences import graph_texts
from kgraft.link.settings import LinkSettings
from kgraft.link.train import new_model, train_linker
from kgraft.link.training_texts import FULL, TrainingTexts, Unmarked
from kgraft.text import Encoder

SETTINGS = LinkSettings(epochs=1, part=3000)
HEAD_TEXTS = 1200  # of each source that the link head learns from
REPEATS = {"world": 4, "dbpedia": 2, **dict.fromkeys(texts.DOMAINS, 2)}  # of small sources
INDEXED = "wikidata"  # the graph whose texts the link head sees with candidates by meaning too
PARTIAL = Unmarked()
GRAPH_TEXTS = 3000


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
    for source in training_sources(data, most=HEAD_TEXTS, made=False):
        name = source.knowledge.graph.manifest.name
        examples += collect_examples(model, source) * REPEATS.get(name, 1)
        if name == INDEXED:
            examples += collect_examples(model, _with_index(source))
    print(f"{len(examples)} batches of examples for the link head", flush=True)
    fit_head(model, examples, seed=SETTINGS.seed)
    model.save_pretrained(out)


def _with_index(source: TrainingTexts) -> TrainingTexts:
    """Return texts with candidates by meaning too; the index is built if it is not there."""
    knowledge = Knowledge(source.knowledge.graph, source.knowledge.encoder)
    if knowledge.index is None:
        knowledge.build_index()
    return replace(source, knowledge=knowledge)


def training_sources(
    data: Path, *, most: int | None = None, made: bool = True
) -> list[TrainingTexts]:
    """Return all texts with their graphs, at most so many of each source.

    `made` tells whether texts made from graphs are among them: their names are too easy for the
    link head, which would learn to trust names too much.
    """
    encoder = Encoder.load()
    opened: dict[str, Knowledge] = {}

    def knowledge(name: str) -> Knowledge:
        if name not in opened:
            opened[name] = Knowledge(texts.open_graph(name, data), encoder)
            opened[name].index = None
        return opened[name]

    def noised(annotated: Annotated) -> Annotated:
        return texts.with_case_noise(annotated)

    sources = {
        "wikidata": [
            _source(knowledge("wikidata"), texts.wikipedia(data, train=True), PARTIAL),
            _source(knowledge("wikidata"), noised(texts.rebel(data, "train")), PARTIAL),
            _source(knowledge("wikidata"), noised(texts.knowledgenet(data)), PARTIAL),
            _source(knowledge("wikidata"), noised(texts.relation_sentences(data)), PARTIAL, 9000),
            _source(knowledge("wikidata"), texts.simple_questions(data), PARTIAL, 9000),
        ],
        "wordnet": [
            _vocabulary(knowledge("wordnet-nouns"), texts.senses(data, "semcor"), 6000),
            *(
                _vocabulary(knowledge(name), texts.senses(data, "semcor", name), 2000)
                for name in texts.DOMAINS
            ),
        ],
        "world": [
            _source(knowledge("world"), noised(texts.news(data, "train")), FULL),
            *([_source(knowledge("world"), _made(knowledge("world")), PARTIAL)] if made else []),
        ],
        "dbpedia": [
            _source(knowledge("dbpedia"), noised(texts.dbpedia(data, "train")), PARTIAL),
            *(
                [_source(knowledge("dbpedia"), _made(knowledge("dbpedia")), PARTIAL)]
                if made
                else []
            ),
        ],
    }
    return [_limited(source, most) for group in sources.values() for source in group]


def _limited(source: TrainingTexts, most: int | None) -> TrainingTexts:
    return replace(source, texts=_sample(source.texts, most))


def _made(knowledge: Knowledge) -> Annotated:
    return graph_texts(knowledge.graph, GRAPH_TEXTS)


def _source(
    knowledge: Knowledge, annotated: Annotated, unmarked: Unmarked, most: int | None = None
) -> TrainingTexts:
    return TrainingTexts(knowledge, _sample(annotated, most), unmarked)


def _vocabulary(knowledge: Knowledge, annotated: Annotated, most: int) -> TrainingTexts:
    """Return texts in which every noun of the vocabulary is marked, ordinary ones too."""
    sample = _sample(annotated, most)
    return TrainingTexts(knowledge, sample, FULL, none_ratio=0.5, teaches_mentions=False)


def _sample(annotated: Annotated, most: int | None) -> Annotated:
    if most is None or most >= len(annotated):
        return annotated
    order = np.random.default_rng(SETTINGS.seed).permutation(len(annotated))
    return annotated.part(np.sort(order[:most]))


if __name__ == "__main__":
    main()
