"""Word senses: which synset an annotated word of a text means (Raganato et al. 2017).

Each word comes with its lemma and part of speech, and may mean the synsets of those. It is right
when the synset that weighs most is one of the annotated ones; a word without an answer is wrong.
Without knowledge the answer is the sense that is meant most often.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft import (
    GraftedEncoder,
    SenseTexts,
    WordNetKnowledge,
    locate_senses,
    look_up_senses,
    record_grafts,
    sense_sentences,
)
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.graft import GRAFT_TASKS
from kgraft.tasks.interfaces import GraftEvaluation
from kgraft.text import length_batches, token_spans

TOKENS = 4096  # read at once


@torch.no_grad()
def choose_senses(encoder: GraftedEncoder, layer: int, data: SenseTexts) -> np.ndarray:
    """Return the synset that weighs most for each annotated word, -1 where there is none."""
    windows = locate_senses(encoder, layer, data)
    spans, word_of = token_spans(data.mentions, windows, longest=encoder.max_length)
    chosen = first_senses(data)
    encoder.model.eval()
    for indices in length_batches(windows.lengths, TOKENS):
        mentions = windows.mentions(indices)
        ids, mask = map(torch.from_numpy, windows.padded(indices))
        with record_grafts() as record:
            encoder.read(ids, mask, knowledge=mentions)
        if layer not in record:
            continue
        best = record[layer].scores.argmax(-1, keepdim=True).cpu()
        entity = mentions[layer].entity.gather(-1, best)[..., 0]  # (B, M)
        chosen[word_of[spans.rows_in(indices)[1]]] = entity[mentions[layer].present].numpy()
    return chosen


def first_senses(data: SenseTexts) -> np.ndarray:
    """Return each word's likeliest synset by its prior alone, -1 where there is none."""
    first = data.mentions.bounds[:-1]
    entities = np.append(data.mentions.entity, -1)
    return np.where(data.mentions.sizes > 0, entities[first], -1)


def sense_counts(data: SenseTexts, chosen: np.ndarray) -> np.ndarray:
    """Return hit and try of each word, (N, 2)."""
    right = [int(entity) in gold for entity, gold in zip(chosen, data.gold, strict=True)]
    return np.stack([right, np.ones(len(right))], axis=1)


class SenseEvaluation(GraftEvaluation):
    """Word senses, on all the files of a folder; nothing is trained."""

    def compare(
        self,
        model: Path,
        data: Path,
        *,
        seeds: int = 1,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Difference:
        """Compare what the graft chooses with the senses that are meant most often."""
        encoder = GraftedEncoder.from_pretrained(model)
        sources = encoder.grafts.knowledge.items()
        wordnet = [(layer, k) for layer, k in sources if isinstance(k, WordNetKnowledge)]
        if not wordnet:
            reason = "the graft has no knowledge of word senses"
            raise BadInput(reason, remedy="graft WordNet", file=str(model))
        layer, knowledge = wordnet[0]
        paths = sorted(data.glob("*.jsonl"))
        texts = [look_up_senses(knowledge, sense_sentences(path)) for path in paths]
        on = [sense_counts(part, choose_senses(encoder, layer, part)) for part in texts]
        off = [sense_counts(part, first_senses(part)) for part in texts]
        return paired_difference(np.concatenate(on), np.concatenate(off))


GRAFT_TASKS.register("senses")(SenseEvaluation())
