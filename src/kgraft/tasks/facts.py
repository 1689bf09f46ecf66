"""Facts recalled by cloze: the hidden object of a fact said in words (Petroni et al. 2019).

A relation's template says a fact: "[X] is located in [Y] ." becomes "Laval is located in [MASK] ."
A relation without one is said by its label: "Laval country [MASK] ."
The word that the object consists of is ranked among all words; other right objects of the same
subject and relation are left out of the ranking.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft import ExpectingKnowledge, GraftedEncoder, NoticedWindows
from kgraft.graft.mentions import NIL, UNKNOWN
from kgraft.graft.noticed import Noticed
from kgraft.graph import Graph, TripleArrays
from kgraft.graph.names import Named
from kgraft.graph.say import OBJECT, SUBJECT, templates
from kgraft.text import Encoder, MaskedHead, length_batches

FORGOTTEN = 0.4  # share of the facts learnt from that the graph seems to lack


@dataclass(frozen=True)
class Clozes:
    """Facts with a hidden object."""

    texts: list[str]
    word: np.ndarray  # (N,) the token that is hidden
    others: list[np.ndarray]  # tokens of other right objects
    subject: np.ndarray  # (N,) whose fact it is
    entity: np.ndarray  # (N,) the object

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, rows: np.ndarray) -> Clozes:
        """Return some of the facts."""
        chosen = rows.tolist()
        texts, others = [self.texts[n] for n in chosen], [self.others[n] for n in chosen]
        return Clozes(texts, self.word[rows], others, self.subject[rows], self.entity[rows])

    def digest(self) -> str:
        """Return a name for these facts: other ones have another."""
        digest = hashlib.sha256("\n".join(self.texts).encode(errors="surrogatepass"))
        digest.update(self.word.tobytes())
        return digest.hexdigest()[:16]


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
    texts, words, rivals, rows = [], [], [], []
    for row, (head, relation, tail) in enumerate(zip(*_columns(triples), strict=True)):
        if token[tail] < 0 or not labels[head]:
            continue
        texts.append(said[relation].replace(SUBJECT, labels[head]).replace(OBJECT, mask))
        words.append(token[tail])
        also = np.array(right.get((head, relation), []), np.int64)
        rivals.append(also[also != token[tail]])
        rows.append(row)
    chosen = np.array(rows, np.int64)
    ends = triples.head[chosen], triples.tail[chosen]
    return Clozes(texts, np.array(words, np.int64), rivals, *ends)


def _columns(triples: TripleArrays) -> tuple[list[int], list[int], list[int]]:
    return triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist()


def object_tokens(encoder: Encoder, graph: Graph) -> np.ndarray:
    """Return the token that each entity's label consists of, -1 where it takes several."""
    labels = [label or "" for label in graph.entities["label"].to_pylist()]
    tokens = encoder.windows(labels).tokens
    size = np.diff(tokens.bounds)
    first = tokens.ids[np.minimum(tokens.bounds[:-1], max(len(tokens.ids) - 1, 0))]
    return np.where(size == 1, first, -1).astype(np.int64)


def noticed_clozes(
    encoder: GraftedEncoder,
    layer: int,
    asked: Clozes,
    *,
    forgotten: float = FORGOTTEN,
    seed: int = 0,
) -> NoticedWindows:
    """Cut clozes of a graph's facts into windows to learn from: the hidden words are known.

    So is what they mean to the knowledge after `layer`, which is of the same graph and expects. It
    does not use some of the facts, a share `forgotten`, as if the graph lacked them.
    """
    windows = encoder.windows(asked.texts, extra_inputs=False)
    lost = np.random.default_rng(seed).random(len(asked)) < forgotten
    noticed = {}
    for number, knowledge in encoder.grafts.knowledge.items():
        if number == layer:
            if not isinstance(knowledge, ExpectingKnowledge):
                said = f"the knowledge after layer {layer} expects nothing of hidden words"
                raise BadInput(said, remedy="open it with hidden='[MASK]'")
            named = knowledge.find(asked.texts, without=np.where(lost, asked.entity, UNKNOWN))
            gold = _meant(named, asked, encoder.tokenizer.mask_token)
            gold = np.where(lost[named.text_of(named.start)], _offered(named, gold), gold)
            noticed[number] = Noticed.of(windows, named, gold=gold)
        else:
            noticed[number] = Noticed.of(windows, knowledge.find(asked.texts))
    return replace(NoticedWindows.of(windows, noticed), hidden=asked.word[windows.text])


def _meant(named: Named, asked: Clozes, sign: str) -> np.ndarray:
    """Return what each name means: UNKNOWN but where it stands for a hidden word."""
    place = np.array([text.index(sign) for text in asked.texts], np.int64)
    start = named.bounds[:-1] + place
    row = named.rows(start, start + len(sign))
    gold = np.full(len(named), UNKNOWN)
    gold[row[row >= 0]] = asked.entity[row >= 0]
    return gold


def _offered(named: Named, gold: np.ndarray) -> np.ndarray:
    """Return what names mean, NIL where that is known and not among their candidates."""
    owner = np.repeat(np.arange(len(named)), np.diff(named.candidates))
    there = np.bincount(owner, named.entity == gold[owner], minlength=len(named)) > 0
    return np.where(there | (gold < 0), gold, NIL)


@torch.no_grad()
def reciprocal_ranks(
    encoder: GraftedEncoder, head: MaskedHead, asked: Clozes, *, knowing: bool = True
) -> np.ndarray:
    """Return 1 over the rank of each hidden word, and 1: the counts of an MRR, (N, 2)."""
    windows = encoder.windows(asked.texts, extra_inputs=knowing)
    mask_token = encoder.tokenizer.mask_token_id
    encoder.model.eval()
    counts = np.stack([np.zeros(len(asked)), np.ones(len(asked))], axis=1)
    for numbers in length_batches(windows.lengths, 4096):
        ids, mask = map(torch.from_numpy, windows.padded(numbers))
        read = encoder.read(ids, mask, **encoder.extra_inputs(windows, numbers))
        column = (ids == mask_token).int().argmax(1)
        logits = head(read[torch.arange(len(ids)), column], encoder.words)
        fact = windows.text[numbers]
        for row, number in enumerate(fact.tolist()):  # of the few that have other right objects
            logits[row, torch.from_numpy(asked.others[number])] = -torch.inf
        mine = logits.gather(1, torch.from_numpy(asked.word[fact])[:, None])
        counts[fact, 0] = 1 / (1 + (logits > mine).sum(1)).numpy()
    return counts
