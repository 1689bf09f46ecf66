"""The default encoder, taught to say hidden words: where trainings on masked words begin.

It was published for whole texts and without a head. Texts: the openings of 10,033 articles and 85
of 100 linked Wikipedia articles; 5 others are the validation, and the last ten are left out.
"""

from __future__ import annotations

from pathlib import Path

import torch

from benchmarks.data.linked_wikipedia import read_articles, vital_texts
from benchmarks.harness import WORK
from kgraft.graph import Graph
from kgraft.text import Encoder, MaskedHead, MaskedSettings, MaskedTask
from kgraft.training import fit

FOLDER = WORK / "masked-start"
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
SETTINGS = MaskedSettings(epochs=1, encoder_rate=2e-4, head_rate=2e-3)


class MaskedStartTask(MaskedTask):
    """Trains encoder and head; later trainings use no dropout: they see each text twice at most."""

    def save(self, folder: Path) -> None:
        """Write encoder and head."""
        self.encoder.model.config.update(NO_DROPOUT)
        super().save(folder)


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
    identity = {"texts": articles.train.digest()}
    task = MaskedStartTask(encoder, head, texts, valid, SETTINGS, identity=identity)
    for epoch in fit(task, FOLDER, SETTINGS):
        print(FOLDER.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    return FOLDER
