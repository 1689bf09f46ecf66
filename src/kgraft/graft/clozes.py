"""Clozes: facts in words, each with a hidden object (Petroni et al. 2019).

A relation's template says a fact: "[X] is located in [Y] ." becomes "Laval is located in [MASK] ."
A relation without one is said by its label: "Laval country [MASK] ."
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kgraft.corpus import relation_templates
from kgraft.errors import BadInput
from kgraft.graft.windows import LocatedMentions, MentionWindows
from kgraft.graph import UNKNOWN, Graph, Mentions, TripleArrays, fill_pattern
from kgraft.text import NIL, Encoder

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder

FORGOTTEN = 0.4  # fraction of the facts trained on that the graph seems to lack


@dataclass(frozen=True)
class Clozes:
    """Facts with a hidden object."""

    texts: list[str]
    word: np.ndarray  # (N,) the token that is hidden
    others: list[np.ndarray]  # tokens of other right objects
    subject: np.ndarray  # (N,) the entity whose fact it is
    entity: np.ndarray  # (N,) the object

    def __len__(self) -> int:
        return len(self.texts)

    def select(self, rows: np.ndarray) -> Clozes:
        """Return some of the facts."""
        texts = [self.texts[row] for row in rows.tolist()]
        others = [self.others[row] for row in rows.tolist()]
        return Clozes(texts, self.word[rows], others, self.subject[rows], self.entity[rows])

    def digest(self) -> str:
        """Return a name for these facts: other ones have another."""
        digest = hashlib.sha256("\n".join(self.texts).encode(errors="surrogatepass"))
        digest.update(self.word.tobytes())
        return digest.hexdigest()[:16]


def make_clozes(
    encoder: Encoder, graph: Graph, triples: TripleArrays, true_triples: TripleArrays
) -> Clozes:
    """Say facts in words whose object is one token, and hide it.

    `true_triples` are all right facts, whose objects do not count as wrong.
    """
    token = object_tokens(encoder, graph)
    right = _right_tokens(true_triples, token)
    sentences = dict(_sentences(encoder, graph, triples, token))
    facts = triples.take(np.array([*sentences], np.int64))
    words = token[facts.tail].astype(np.int64)
    others = []
    for head, relation, word in zip(
        facts.head.tolist(), facts.relation.tolist(), words.tolist(), strict=True
    ):
        objects = np.array(right.get((head, relation), []), np.int64)
        others.append(objects[objects != word])
    return Clozes([*sentences.values()], words, others, facts.head, facts.tail)


def _sentences(
    encoder: Encoder, graph: Graph, triples: TripleArrays, token: np.ndarray
) -> Iterator[tuple[int, str]]:
    """Yield the rows of facts whose object is one token, and texts that hide it."""
    labels = graph.entities["label"].to_pylist()
    templates = relation_templates(graph)
    mask_token = encoder.tokenizer.mask_token
    for row, (head, relation, tail) in enumerate(zip(*_columns(triples), strict=True)):
        if token[tail] >= 0 and labels[head]:
            text, _ = fill_pattern(templates[relation], {"x": labels[head], "y": mask_token})
            yield row, text


def _right_tokens(triples: TripleArrays, token: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """Return the tokens of all objects of each head and relation."""
    right: dict[tuple[int, int], list[int]] = {}
    for head, relation, tail in zip(*_columns(triples), strict=True):
        if token[tail] >= 0:
            right.setdefault((head, relation), []).append(int(token[tail]))
    return right


def _columns(triples: TripleArrays) -> tuple[list[int], list[int], list[int]]:
    return triples.head.tolist(), triples.relation.tolist(), triples.tail.tolist()


def object_tokens(encoder: Encoder, graph: Graph) -> np.ndarray:
    """Return the token that each entity's label consists of, -1 where it takes several."""
    labels = [label or "" for label in graph.entities["label"].to_pylist()]
    tokens = encoder.windows(labels, extra_inputs=False).tokens
    size = np.diff(tokens.bounds)
    first = tokens.ids[np.minimum(tokens.bounds[:-1], max(len(tokens.ids) - 1, 0))]
    return np.where(size == 1, first, -1).astype(np.int64)


def locate_clozes(
    encoder: GraftedEncoder,
    layer: int,
    clozes: Clozes,
    *,
    forgotten: float = FORGOTTEN,
    seed: int = 0,
) -> MentionWindows:
    """Cut clozes of a graph's facts into windows to train on: the hidden words are known.

    So is what they mean to the knowledge after `layer`, which recalls the facts of the same graph.
    It does not use a fraction `forgotten` of the facts, as if the graph lacked them.
    """
    from kgraft.graft.knowledge.fact_recall import FactRecallKnowledge

    windows = encoder.windows(clozes.texts, extra_inputs=False)
    is_forgotten = np.random.default_rng(seed).random(len(clozes)) < forgotten
    located = {}
    for number, knowledge in encoder.grafts.knowledge.items():
        if number != layer:
            located[number] = LocatedMentions.of(knowledge.find(clozes.texts), windows)
            continue
        if not isinstance(knowledge, FactRecallKnowledge):
            raise BadInput(
                f"the knowledge after layer {layer} recalls no facts",
                remedy="open it with kind='fact-recall'",
            )
        exclude = np.where(is_forgotten, clozes.entity, UNKNOWN)
        mentions = knowledge.find(clozes.texts, exclude=exclude)
        mentions = _with_gold(mentions, clozes, knowledge.mask_token, is_forgotten)
        located[number] = LocatedMentions.of(mentions, windows)
    masked_word = clozes.word[windows.text]
    return replace(MentionWindows.of(windows, located), masked_word=masked_word)


def _with_gold(
    mentions: Mentions, clozes: Clozes, mask_token: str, is_forgotten: np.ndarray
) -> Mentions:
    """Return mentions with what the hidden words mean, UNKNOWN for the other ones.

    That is NIL where the fact is forgotten, and what it says no candidate.
    """
    start = np.array([text.index(mask_token) for text in clozes.texts], np.int64)
    row = mentions.rows_of(np.arange(len(clozes)), start, start + len(mask_token))
    gold = np.full(len(mentions), UNKNOWN)
    gold[row[row >= 0]] = clozes.entity[row >= 0]
    owner = mentions.owner
    is_candidate = np.bincount(owner, mentions.entity == gold[owner], minlength=len(mentions)) > 0
    gold[is_forgotten[mentions.text] & (gold >= 0) & ~is_candidate] = NIL
    return replace(mentions, gold=gold)
