"""Windows of texts with the mentions in them, found once and taken batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from kgraft.corpus import AnnotatedTexts
from kgraft.graft.next_sentence import Pairs
from kgraft.graph import UNKNOWN, Match, Mentions
from kgraft.text import MentionBatch, TokenSpans, Windows, token_spans

if TYPE_CHECKING:
    from kgraft.graft.encoder import GraftedEncoder

MAX_CANDIDATES = 30  # of a mention
MAX_TOKENS = 6  # of a mention
UNAMBIGUOUS = 5  # characters of a name that is hardly a word by chance


class LocatedMentions(NamedTuple):
    """Mentions in order of their window, and where they are in it."""

    mentions: Mentions
    spans: TokenSpans

    @classmethod
    def of(
        cls,
        mentions: Mentions,
        windows: Windows,
        *,
        max_candidates: int = MAX_CANDIDATES,
        max_tokens: int = MAX_TOKENS,
    ) -> Self:
        """Lay mentions on windows, with their likeliest candidates.

        Those that no window holds, and those of more than `max_tokens` tokens, are left out.
        """
        spans, rows = token_spans(mentions, windows, longest=max_tokens)
        located = mentions.select(rows)
        return cls(located.keep_candidates(located.rank < max_candidates), spans)


@dataclass(frozen=True)
class MentionWindows(Windows):
    """Windows with the mentions in them, for each layer with a graft."""

    located: Mapping[int, LocatedMentions]
    follows: np.ndarray | None = None  # (W,) NEXT, OTHER or UNKNOWN, see `next_sentence`
    masked_word: np.ndarray | None = None  # (W,) the token behind the mask token in the text

    @classmethod
    def of(cls, windows: Windows, located: Mapping[int, LocatedMentions]) -> Self:
        """Put mentions to windows."""
        columns = {f.name: getattr(windows, f.name) for f in fields(Windows)}
        return cls(**columns, located=located)

    def mentions(self, indices: np.ndarray) -> dict[int, MentionBatch]:
        """Return the mentions of some windows, by layer."""
        return {
            layer: MentionBatch.of(located.mentions, located.spans, indices)
            for layer, located in self.located.items()
        }


def locate_mentions(
    encoder: GraftedEncoder,
    data: AnnotatedTexts | Pairs | Sequence[str],
    layer: int,
    *,
    add_annotated: bool = False,
    trust_unambiguous: bool = False,
) -> MentionWindows:
    """Cut texts into windows with the mentions that the knowledge finds; annotated ones have gold.

    The annotations are of the knowledge after `layer`; the other layers only find mentions. An
    annotation where the knowledge finds no mention is lost, or with `add_annotated` a mention with
    that candidate alone. With `trust_unambiguous`, longer names that only one entity has count as
    annotated too. Of pairs, the windows that hold both halves know whether the second follows.
    """
    if isinstance(data, Pairs):
        pairs = locate_mentions(
            encoder,
            data.data,
            layer,
            add_annotated=add_annotated,
            trust_unambiguous=trust_unambiguous,
        )
        is_whole = np.bincount(pairs.text)[pairs.text] == 1
        return replace(pairs, follows=np.where(is_whole, data.follows[pairs.text], UNKNOWN))
    texts = data.texts if isinstance(data, AnnotatedTexts) else list(data)
    windows = encoder.windows(texts, extra_inputs=False)
    located = {}
    for number, knowledge in encoder.grafts.knowledge.items():
        mentions = knowledge.find(texts)
        if isinstance(data, AnnotatedTexts) and number == layer:
            mentions = _with_gold(mentions, data, add_annotated, trust_unambiguous)
        located[number] = LocatedMentions.of(mentions, windows)
    return MentionWindows.of(windows, located)


def _with_gold(
    mentions: Mentions, data: AnnotatedTexts, add_annotated: bool, trust_unambiguous: bool
) -> Mentions:
    """Return mentions with their gold entities, UNKNOWN where no annotation says it."""
    annotated = data.mentions
    length = np.array([len(text) for text in data.texts], np.int64)[annotated.text]
    inside = (annotated.start >= 0) & (annotated.start < annotated.end) & (annotated.end <= length)
    annotated = annotated.select(inside & (data.gold >= 0))
    assert annotated.gold is not None
    spans = annotated.text, annotated.start, annotated.end
    if add_annotated:
        is_new = mentions.rows_of(*spans) < 0
        new = single_candidates(*(c[is_new] for c in (*spans, annotated.gold)))
        mentions, _ = Mentions.merge(mentions, new)
    gold = _unambiguous(mentions) if trust_unambiguous else np.full(len(mentions), UNKNOWN)
    row = mentions.rows_of(*spans)
    gold[row[row >= 0]] = annotated.gold[row >= 0]
    return replace(mentions, gold=gold)


def single_candidates(
    text: np.ndarray, start: np.ndarray, end: np.ndarray, entity: np.ndarray
) -> Mentions:
    """Return mentions that refer to one entity each, without doubt."""
    kinds = np.full(len(text), Match.PINNED, np.uint8)
    forms = np.zeros(len(text), np.uint8)
    return Mentions.group(text, start, end, entity, np.ones(len(text), np.float32), kinds, forms)


def _unambiguous(mentions: Mentions) -> np.ndarray:
    """Return the entity of each long name that only one has, UNKNOWN for the other mentions."""
    only = (mentions.sizes == 1) & (mentions.end - mentions.start >= UNAMBIGUOUS)
    gold = np.full(len(mentions), UNKNOWN)
    gold[only] = mentions.entity[mentions.best[only]]
    return gold
