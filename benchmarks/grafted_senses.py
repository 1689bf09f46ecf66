"""Encoders with WordNet grafted on, trained to tell senses apart, for two benchmarks."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from benchmarks.harness import ROOT
from kgraft.graft import (
    GraftedEncoder,
    GraftSettings,
    WordNetKnowledge,
    open_knowledge,
    train_graft,
)
from kgraft.graft.attention import AttentionSettings
from kgraft.graph import build_graph, open_source
from kgraft.tasks.senses import (
    collect,
    example_sentences,
    noticed_senses,
    read_senses,
    sense_sentences,
)
from kgraft.text import Encoder

WORK = ROOT / "build" / "benchmarks"
SEEDS = (0, 1, 2)
LAYER = 6
ATTENTION = AttentionSettings(size=384)
SETTINGS = GraftSettings(
    linker_epochs=0, epochs=2, masked=0.0, graft_rate=5e-4, host_rate=1e-4, above_rate=1e-4
)


def wordnet(data: Path) -> WordNetKnowledge:
    """Return the senses of WordNet 3.0, its graph built if it is not there."""
    folder = WORK / "wordnet"
    if not folder.exists():
        build_graph(open_source(data / "wordnet-3.0"), folder, name="wordnet")
    knowledge = open_knowledge(folder)
    assert isinstance(knowledge, WordNetKnowledge)
    return knowledge


def trained_folder(knowledge: WordNetKnowledge, data: Path, seed: int) -> Path:
    """Return the folder of a graft, trained if it is not there."""
    folder = WORK / f"grafted-senses.{seed}"
    if not folder.exists():
        host = Encoder.load(max_length=128)
        encoder = GraftedEncoder(host, {LAYER: knowledge}, settings={LAYER: ATTENTION}, seed=seed)
        encoder.model.get_input_embeddings().requires_grad_(requires_grad=False)
        semcor = sense_sentences(data / "wsd" / "semcor.jsonl.gz")
        texts = collect(knowledge, chain(semcor, example_sentences(knowledge)))
        valid = read_senses(knowledge, data / "wsd" / "semeval2007.jsonl")
        for epoch in train_graft(
            encoder,
            noticed_senses(encoder, LAYER, texts),
            folder,
            valid=noticed_senses(encoder, LAYER, valid),
            settings=SETTINGS.changed(seed=seed),
        ):
            print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    return folder
