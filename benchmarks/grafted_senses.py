"""Encoders with WordNet grafted on, trained to tell senses apart, for two benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.harness import WORK
from benchmarks.kept import kept
from kgraft.graft import (
    GraftedEncoder,
    GraftSettings,
    WordNetKnowledge,
    open_knowledge,
    train_graft,
)
from kgraft.graft.attention import AttentionSettings
from kgraft.graph import build_graph, open_source
from kgraft.graph.annotated import json_lines
from kgraft.tasks.senses import (
    Sentence,
    collect,
    example_sentences,
    noticed_senses,
    read_senses,
    sense_sentences,
    sentences_digest,
)
from kgraft.text import Encoder

SEEDS = (0, 1, 2)
LAYER = 6
ATTENTION = AttentionSettings(size=384, threshold=None)
LEARNING = replace(ATTENTION, own=64)  # beside what is told of a synset, some is learnt
SETTINGS = GraftSettings(
    linker_epochs=0, epochs=2, masked=0.0, frozen=1,
    graft_rate=5e-4, host_rate=1e-4, above_rate=1e-4,
)  # fmt: skip
LINKER = GraftSettings(linker_epochs=2, epochs=0, linker_rate=1e-3)


def wordnet(data: Path) -> WordNetKnowledge:
    """Return the senses of WordNet 3.0, its graph built if it is not there."""
    folder = WORK / "wordnet"
    if not folder.exists():
        build_graph(open_source(data / "wordnet-3.0"), folder, name="wordnet")
    knowledge = open_knowledge(folder)
    assert isinstance(knowledge, WordNetKnowledge)
    return knowledge


def _examples(knowledge: WordNetKnowledge, data: Path) -> Iterator[Sentence]:
    """Yield WordNet's examples but those that words in context are measured on."""
    apart = set()
    for name in ("dev", "test"):
        for _, line in json_lines(data / "wic" / f"{name}.jsonl"):
            told = json.loads(line)
            apart |= {_letters(told["text1"]), _letters(told["text2"])}
    for sentence in example_sentences(knowledge):
        if _letters(sentence.text) not in apart:
            yield sentence


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def trained_folder(knowledge: WordNetKnowledge, data: Path, seed: int) -> Path:
    """Return the folder of a graft that was trained with its host."""
    settings = SETTINGS.changed(seed=seed)
    return _trained(knowledge, data, f"grafted-senses.{seed}", settings, LEARNING)


def linker_folder(knowledge: WordNetKnowledge, data: Path) -> Path:
    """Return the folder of a graft whose host stayed as it was."""
    return _trained(knowledge, data, "grafted-senses.linker", LINKER, ATTENTION)


def _trained(
    knowledge: WordNetKnowledge,
    data: Path,
    name: str,
    settings: GraftSettings,
    attention: AttentionSettings,
) -> Path:
    folder = WORK / name
    semcor = sense_sentences(data / "wsd" / "semcor.jsonl.gz")
    sentences = [*semcor, *_examples(knowledge, data)]
    identity = {
        "texts": sentences_digest(sentences), "graph": knowledge.graph.manifest.version,
        "attention": asdict(attention),
    }  # fmt: skip
    if kept(folder, settings, identity):
        return folder
    encoder = GraftedEncoder(
        Encoder.load(max_length=128), {LAYER: knowledge}, settings={LAYER: attention},
        seed=settings.seed,
    )  # fmt: skip
    valid = read_senses(knowledge, data / "wsd" / "semeval2007.jsonl")
    for epoch in train_graft(
        encoder,
        noticed_senses(encoder, LAYER, collect(knowledge, sentences, counted=sentences)),
        folder,
        valid=noticed_senses(encoder, LAYER, valid),
        settings=settings,
        identity=identity,
        overwrite=True,
    ):
        print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    return folder
