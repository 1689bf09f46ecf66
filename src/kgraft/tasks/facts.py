"""Facts recalled by cloze: the hidden object of a fact said in words (Petroni et al. 2019).

A relation's template says a fact: "[X] is located in [Y] ." becomes "Laval is located in [MASK] ."
A relation without one is said by its label: "Laval country [MASK] ."
The word that the object consists of is ranked among all words; other right objects of the same
subject and relation are left out of the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from kgraft.graft import GraftedEncoder, NoticedWindows
from kgraft.graph import Graph, TripleArrays
from kgraft.graph.say import OBJECT, SUBJECT, templates
from kgraft.text import Encoder, length_batches
from kgraft.text.masked import MaskedHead


@dataclass(frozen=True)
class Clozes:
    """Facts with a hidden object."""

    texts: list[str]
    word: np.ndarray  # (N,) the token that is hidden
    others: list[np.ndarray]  # tokens of other right objects
    triple: np.ndarray  # (N,) row of the fact among the triples it was made of

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, rows: np.ndarray) -> Clozes:
        """Return some of the facts."""
        chosen = rows.tolist()
        texts, others = [self.texts[n] for n in chosen], [self.others[n] for n in chosen]
        return Clozes(texts, self.word[rows], others, self.triple[rows])


def clozes(encoder: Encoder, graph: Graph, triples: TripleArrays, known: TripleArrays) -> Clozes:
    """Say facts in words whose object is one token.

    `known` are all right facts, whose objects do not count as wrong.
    """
    token = object_tokens(encoder, graph)
    labels = graph.entities["label"].to_pylist()
    said = templates(graph)
    mask = encoder.tokenizer.mask_token
    right: dict[tuple[int, int], list[int]] = {}
    for head, relation, tail in zip(*_columns(known), strict=True):
        if token[tail] >= 0:
            right.setdefault((head, relation), []).append(int(token[tail]))
    texts, words, others, rows = [], [], [], []
    for row, (head, relation, tail) in enumerate(zip(*_columns(triples), strict=True)):
        if token[tail] < 0 or not labels[head]:
            continue
        texts.append(said[relation].replace(SUBJECT, labels[head]).replace(OBJECT, mask))
        words.append(token[tail])
        also = np.array(right.get((head, relation), []), np.int64)
        others.append(also[also != token[tail]])
        rows.append(row)
    return Clozes(texts, np.array(words, np.int64), others, np.array(rows, np.int64))


def _columns(triples: TripleArrays) -> tuple[list[int], list[int], list[int]]:
    return triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist()


def object_tokens(encoder: Encoder, graph: Graph) -> np.ndarray:
    """Return the token that each entity's label consists of, -1 where it takes several."""
    labels = [label or "" for label in graph.entities["label"].to_pylist()]
    tokens = encoder.windows(labels).tokens
    size = np.diff(tokens.bounds)
    first = tokens.ids[np.minimum(tokens.bounds[:-1], max(len(tokens.ids) - 1, 0))]
    return np.where(size == 1, first, -1).astype(np.int64)


@torch.no_grad()
def reciprocal_ranks(
    encoder: GraftedEncoder, head: MaskedHead, asked: Clozes, *, knowing: bool = True
) -> np.ndarray:
    """Return 1 over the rank of each hidden word, and 1: the counts of an MRR, (N, 2)."""
    windows = encoder.windows(asked.texts)
    assert isinstance(windows, NoticedWindows)
    mask_token = encoder.tokenizer.mask_token_id
    encoder.model.eval()
    counts = np.stack([np.zeros(len(asked)), np.ones(len(asked))], axis=1)
    for numbers in length_batches(windows.lengths, 4096):
        ids, mask = map(torch.from_numpy, windows.padded(numbers))
        beside = encoder.beside(windows, numbers) if knowing else {}
        read = encoder.read(ids, mask, **beside)
        column = (ids == mask_token).int().argmax(1)
        logits = head(read[torch.arange(len(ids)), column], encoder.words)
        fact = windows.text[numbers]
        for row, number in enumerate(fact.tolist()):  # of the few that have other right objects
            logits[row, torch.from_numpy(asked.others[number])] = -torch.inf
        mine = logits.gather(1, torch.from_numpy(asked.word[fact])[:, None])
        counts[fact, 0] = 1 / (1 + (logits > mine).sum(1)).numpy()
    return counts
