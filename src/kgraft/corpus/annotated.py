"""Annotated texts: texts with their mentions and the entities that these refer to.

A file of them is JSON Lines, with one text per line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from kgraft.corpus.json_lines import read_json_lines
from kgraft.corpus.splits import hold_out
from kgraft.errors import BadInput
from kgraft.graph import IGNORED, Graph, Mentions
from kgraft.json_text import parse_json
from kgraft.settings import shorten

FORMAT = '{"text": "…", "mentions": [{"start": 0, "end": 5, "entity": "id"}]}'
LARGEST = 1 << 31  # of the offsets that make sense
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}

T = TypeVar("T")


@dataclass(frozen=True)
class AnnotatedTexts:
    """Texts and their mentions with gold entities, in order of the text.

    A mention of an entity that the graph lacks has the gold entity UNKNOWN. A span with IGNORED
    counts neither as right nor as wrong when it is linked.
    """

    texts: list[str]
    mentions: Mentions

    def __post_init__(self) -> None:
        if self.mentions.gold is None:
            raise ValueError("the mentions of annotated texts need gold entities")

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def gold(self) -> np.ndarray:
        """The gold entity of each mention, (M,) int64."""
        assert self.mentions.gold is not None
        return self.mentions.gold

    def digest(self) -> str:
        """Return a name for the texts and their mentions: other ones have another."""
        digest = hashlib.sha256("\0".join(self.texts).encode(errors="surrogatepass"))
        for column in (self.mentions.text, self.mentions.start, self.mentions.end, self.gold):
            digest.update(np.ascontiguousarray(column, np.int64).data)
        return digest.hexdigest()[:16]

    def select(self, rows: np.ndarray) -> Self:
        """Return the texts of some rows (indices or a mask) with their mentions, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        new_index = np.full(len(self.texts), -1)
        new_index[rows] = np.arange(len(rows))
        text = new_index[self.mentions.text]
        selected = np.flatnonzero(text >= 0)
        selected = selected[np.argsort(text[selected], kind="stable")]
        mentions = replace(self.mentions.select(selected), text=text[selected])
        return type(self)([self.texts[row] for row in rows], mentions)

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Return several sets of texts as one."""
        first = np.cumsum([0] + [len(part) for part in parts])
        shifted = [part.mentions.shifted(n) for part, n in zip(parts, first, strict=False)]
        return cls([text for part in parts for text in part.texts], Mentions.concat(shifted))

    def hold_out(self, *, fraction: float = 0.1, seed: int = 0) -> tuple[Self, Self]:
        """Return the texts to train on and, of them, a fraction to validate on."""
        train, valid = hold_out(len(self), fraction=fraction, seed=seed)
        return self.select(train), self.select(valid)


def annotate(graph: Graph, examples: Iterable[tuple[str, list[dict[str, Any]]]]) -> AnnotatedTexts:
    """Collect texts with mentions {start, end, entity id}; a mention without an id is IGNORED."""
    texts, rows, ids = [], [], []
    for index, (text, mentions) in enumerate(examples):
        texts.append(text)
        rows += [(index, mention["start"], mention["end"]) for mention in mentions]
        ids += [mention["entity"] for mention in mentions]
    spans = np.array(rows, np.int64).reshape(-1, 3).T
    gold = graph.indices_of([item or "" for item in ids])
    gold = np.where([item is None for item in ids], IGNORED, gold) if ids else gold
    return AnnotatedTexts(texts, Mentions.without_candidates(*spans, gold=gold))


def read_annotated(path: str | Path, graph: Graph) -> AnnotatedTexts:
    """Read a file of annotated texts, plain or .gz; a bad line is refused with its number."""
    data = annotate(graph, _examples(Path(path)))
    if not len(data):
        raise BadInput("contains no text", file=str(path), remedy=f"write {FORMAT}")
    return data


def read_links(path: str | Path, graph: Graph) -> AnnotatedTexts:
    """Read a file of links, as `kgraft link --file` writes it, as if they were annotated."""
    return annotate(graph, _linked_examples(Path(path)))


def _linked_examples(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for number, line in read_json_lines(path):
        try:
            example = parse_json(line)
            mentions = [
                {"start": link["start"], "end": link["end"], "entity": link["id"]}
                for link in example["links"]
            ]
            text = example["text"]
        except (ValueError, KeyError, TypeError) as error:
            reason = f"not a text with links ({_explain(error)})"
            remedy = "remove the file; it is made again"
            raise BadInput(reason, file=str(path), line=number, remedy=remedy) from error
        yield text, mentions


def _examples(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for number, line in read_json_lines(path):
        try:
            example = _of_type(dict, parse_json(line), "the line")
            text = _of_type(str, example["text"], "the text")
            mentions = _spans(example["mentions"], "mentions")
            unlinked = _spans(example.get("unlinked", []), "unlinked")
            for mention in mentions:
                _of_type(str, mention["entity"], "the entity of a mention")
        except (ValueError, KeyError, TypeError) as error:
            reason = f"not an annotated text ({_explain(error)})"
            raise BadInput(reason, file=str(path), line=number, remedy=f"write {FORMAT}") from error
        yield text, [*mentions, *({**span, "entity": None} for span in unlinked)]


def _explain(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _of_type(kind: type[T], value: object, name: str) -> T:
    """Return a value of JSON; refuse one of another kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {shorten(value)}, not {_KINDS[kind]}")
    return value


def _spans(value: object, name: str) -> list[dict[str, Any]]:
    """Return a list of mentions; an empty text or object means none."""
    spans = _of_type(list, [] if value in ("", {}) else value, name)
    for span in spans:
        _check_span(span)
    return spans


def _check_span(span: object) -> None:
    mention = _of_type(dict, span, "a mention")
    for side in (mention["start"], mention["end"]):
        if type(side) is not int or abs(side) >= LARGEST:
            raise TypeError(f"a mention starts or ends at {shorten(side)}, not a whole number")
