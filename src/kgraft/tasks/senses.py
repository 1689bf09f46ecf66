"""Word senses: which synset an annotated word of a text means (Raganato et al. 2017).

Each word comes with its lemma and part of speech, and may mean the synsets of those. It is right
when the synset that weighs most is one of the annotated ones; a word without an answer is wrong.
Without knowledge the answer is the sense that is meant most often.
"""

from __future__ import annotations

import numpy as np
import torch

from kgraft.graft import GraftedEncoder, SenseTexts, locate_senses, record_grafts
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
