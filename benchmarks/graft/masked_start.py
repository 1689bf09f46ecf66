"""The default encoder, taught to say hidden words: where trainings on masked words begin.

It was published for whole texts and without a head. Texts: the openings of 10,033 articles and 85
of 100 linked Wikipedia articles; 5 others are the validation, and the last ten are left out.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from benchmarks.data.linked_wikipedia import read_articles, vital_texts
from benchmarks.harness import WORK
from kgraft.graph import Graph
from kgraft.storage import Kind, new_folder
from kgraft.text import Encoder, MaskedHead, MaskedSettings, train_masked

FOLDER = WORK / "masked-start"
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
SETTINGS = MaskedSettings(epochs=1, encoder_rate=2e-4, head_rate=2e-3)


def masked_start(data: Path) -> Path:
    """Return the folder of the encoder with its head, trained if it is not there."""
    if FOLDER.exists():
        return FOLDER
    articles = read_articles(data, Graph.open("world"))
    encoder = Encoder.load(max_length=128)
    torch.manual_seed(SETTINGS.seed)
    head = MaskedHead.of(encoder)
    texts = encoder.windows([*vital_texts(data), *articles.train.texts], overlap=0)
    valid = encoder.windows(articles.valid.texts)
    run = FOLDER.with_suffix(".training")
    identity = {"texts": articles.train.digest()}
    for epoch in train_masked(
        encoder, head, texts, run, valid=valid, settings=SETTINGS, identity=identity
    ):
        print(FOLDER.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    encoder.model.config.update(NO_DROPOUT)  # trainings from here see each text once or twice
    with new_folder(FOLDER, Kind("encoder", "config.json")) as written:
        encoder.save(written)
        head.save(written)
    shutil.rmtree(run)
    return FOLDER
