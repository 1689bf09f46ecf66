"""Encoders with WordNet grafted on, trained to tell senses apart, for two benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.cached import graft_is_current
from benchmarks.harness import WORK
from kgraft.corpus import read_json_lines
from kgraft.graft import (
    AttentionSettings,
    GraftedEncoder,
    GraftSettings,
    MentionWindows,
    SenseTexts,
    WordNetKnowledge,
    locate_senses,
    look_up_senses,
    open_knowledge,
    sense_sentences,
    train_graft,
)
from kgraft.graft.senses import (
    SenseSentence,
    example_sentences,
    locate_open_senses,
    sentences_digest,
)
from kgraft.graph import build_graph, open_source
from kgraft.text import Encoder

SEEDS = (0, 1, 2)
LAYER = 6
ATTENTION = AttentionSettings(size=384, threshold=None)
LEARNING = ATTENTION.replace(own_size=64)  # learned, besides the vector of a synset's text
SETTINGS = GraftSettings(
    linker_epochs=0, epochs=2, masked_fraction=0.0, frozen_layers=1,
    graft_rate=5e-4, host_rate=1e-4, above_rate=1e-4,
)  # fmt: skip
LINKER_LAYER = 4  # words tell their senses best there, in an encoder that stays as it is
LINKER_ATTENTION = ATTENTION.replace(log_prior=True)
LINKER = GraftSettings(linker_epochs=1, epochs=0, linker_rate=1e-3)
HYPERNYMS = ("hypernym", "instance_hypernym")


def wordnet(data: Path, hypernym_relations: Sequence[str] = ()) -> WordNetKnowledge:
    """Return the senses of WordNet 3.0, its graph built if it is not there."""
    folder = WORK / "wordnet"
    if not folder.exists():
        build_graph(open_source(data / "wordnet-3.0"), folder, name="wordnet")
    knowledge = open_knowledge(folder, hypernym_relations=hypernym_relations)
    assert isinstance(knowledge, WordNetKnowledge)
    return knowledge


def _examples(
    knowledge: WordNetKnowledge, data: Path, without: Sequence[str]
) -> Iterator[SenseSentence]:
    """Yield WordNet's examples but those that are in some files of words in context."""
    apart = set()
    for name in without:
        for _, line in read_json_lines(data / "wic" / f"{name}.jsonl"):
            item = json.loads(line)
            apart |= {_letters(item["text1"]), _letters(item["text2"])}
    for sentence in example_sentences(knowledge.graph):
        if _letters(sentence.text) not in apart:
            yield sentence


def _letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def trained_folder(knowledge: WordNetKnowledge, data: Path, seed: int) -> Path:
    """Return the folder of a graft that was trained with its host."""
    return _trained(
        knowledge, data, f"grafted-senses.{seed}", LAYER, SETTINGS.replace(seed=seed), LEARNING,
        locate_senses, without=("dev", "test"),
    )  # fmt: skip


def linker_folder(knowledge: WordNetKnowledge, data: Path) -> Path:
    """Return the folder of a graft whose host stayed as it was.

    It finds words as it does in any text, and has seen none of those of words in context.
    """
    return _trained(
        knowledge, data, "grafted-senses.linker", LINKER_LAYER, LINKER, LINKER_ATTENTION,
        locate_open_senses, without=("train", "dev", "test"),
    )  # fmt: skip


def _trained(
    knowledge: WordNetKnowledge,
    data: Path,
    name: str,
    layer: int,
    settings: GraftSettings,
    attention: AttentionSettings,
    locate: Callable[[GraftedEncoder, int, SenseTexts], MentionWindows],
    *,
    without: Sequence[str],
) -> Path:
    folder = WORK / name
    semcor = sense_sentences(data / "wsd" / "semcor.jsonl.gz")
    sentences = [*semcor, *_examples(knowledge, data, without)]
    identity = {
        "texts": sentences_digest(sentences), "graph": knowledge.graph.manifest.version,
        "layer": layer, "attention": attention.to_dict(),
    }  # fmt: skip
    if graft_is_current(folder, settings, identity):
        return folder
    encoder = GraftedEncoder(
        Encoder.load(max_length=128), {layer: knowledge}, settings={layer: attention},
        seed=settings.seed,
    )  # fmt: skip
    valid = look_up_senses(knowledge, sense_sentences(data / "wsd" / "semeval2007.jsonl"))
    for epoch in train_graft(
        encoder,
        locate(encoder, layer, look_up_senses(knowledge, sentences, counted=sentences)),
        folder,
        valid=locate(encoder, layer, valid),
        settings=settings,
        identity=identity,
        overwrite=True,
    ):
        print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    return folder
