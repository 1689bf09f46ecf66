"""Annotated texts: JSON Lines of texts with their mentions and the entities they mean."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kgraft.errors import BadInput, NotFound
from kgraft.graph.graph import Graph
from kgraft.graph.readers.stream import open_bytes
from kgraft.json_text import parse_json
from kgraft.progress import Silent

IGNORED = -2  # entity of a span that is neither right nor wrong to link
FORMAT = '{"text": "…", "mentions": [{"start": 0, "end": 5, "entity": "id"}]}'
LARGEST = 1 << 31  # of the offsets that make sense


@dataclass(frozen=True)
class Annotated:
    """Texts and their mentions; a mention of an entity that the graph lacks has the number -1.

    Spans with the number IGNORED count neither as right nor as wrong when they are linked.
    """

    texts: list[str]
    text: np.ndarray  # (M,) int64, number of the text
    start: np.ndarray  # (M,) int64
    end: np.ndarray  # (M,) int64, exclusive
    entity: np.ndarray  # (M,) int64, number in the graph

    def __len__(self) -> int:
        return len(self.texts)

    def digest(self) -> str:
        """Return a name for the texts and their marks: other ones have another."""
        digest = hashlib.sha256("\0".join(self.texts).encode(errors="surrogatepass"))
        for column in (self.text, self.start, self.end, self.entity):
            digest.update(np.ascontiguousarray(column, np.int64).data)
        return digest.hexdigest()[:16]

    def part(self, numbers: np.ndarray) -> Annotated:
        """Return some of the texts with their mentions, in the order given."""
        new = np.full(len(self.texts), -1)
        new[numbers] = np.arange(len(numbers))
        kept = new[self.text] >= 0
        text = new[self.text[kept]]
        order = np.argsort(text, kind="stable")
        columns = (self.start[kept], self.end[kept], self.entity[kept])
        texts = [self.texts[number] for number in numbers]
        return Annotated(texts, text[order], *(column[order] for column in columns))


def joined(parts: Sequence[Annotated]) -> Annotated:
    """Return several sets of texts as one."""
    before = np.cumsum([0] + [len(part) for part in parts])
    return Annotated(
        [text for part in parts for text in part.texts],
        np.concatenate([part.text + shift for part, shift in zip(parts, before, strict=False)]),
        *(np.concatenate([getattr(part, n) for part in parts]) for n in ("start", "end", "entity")),
    )


def split_texts(data: Annotated, *, seed: int = 0) -> tuple[Annotated, Annotated]:
    """Set a tenth of the texts apart, to choose by."""
    learnt, apart = a_tenth(len(data), seed=seed)
    return data.part(learnt), data.part(apart)


def a_tenth(count: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers below `count` but a tenth of them, and that tenth; each rising.

    The tenth of one is nothing, that of two or more at least one.

    >>> [part.tolist() for part in a_tenth(11)]
    [[0, 1, 2, 3, 5, 6, 7, 8, 9, 10], [4]]
    """
    order = np.random.default_rng(seed).permutation(count)
    apart = max(count // 10, 1) if count > 1 else 0
    return np.sort(order[apart:]), np.sort(order[:apart])


def annotate(graph: Graph, examples: Iterable[tuple[str, list[dict[str, Any]]]]) -> Annotated:
    """Collect texts with mentions {start, end, entity id}."""
    texts, rows, ids = [], [], []
    for number, (text, mentions) in enumerate(examples):
        texts.append(text)
        rows += [(number, mention["start"], mention["end"]) for mention in mentions]
        ids += [mention["entity"] for mention in mentions]
    of_text, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    entity = graph.numbers_of([item or "" for item in ids])
    entity = np.where([item is None for item in ids], IGNORED, entity) if ids else entity
    return Annotated(texts, of_text, start, end, entity)


def read_annotated(path: str | Path, graph: Graph) -> Annotated:
    """Read a file of annotated texts, plain or .gz; a bad line is refused with its number."""
    data = annotate(graph, _examples(Path(path)))
    if not len(data):
        raise BadInput("holds no text", file=str(path), remedy=f"write {FORMAT}")
    return data


def document_of(name: object) -> str:
    """Return the document of a text by its id: all before the last dot.

    >>> document_of("wiki7.12"), document_of("12"), document_of(None)
    ('wiki7', '', '')
    """
    return str(name).rpartition(".")[0] if name else ""


def documents_of(path: Path) -> list[str] | None:
    """Return the document of each text of a file: its id up to the last dot.

    None where that tells nothing: a text has no such id, or no two neighbours share it.
    """
    names = []
    for _, line in json_lines(path):
        told = parse_json(line)
        names.append(document_of(told.get("id")) if isinstance(told, dict) else "")
    shared = any(one == other for one, other in pairwise(names))
    return names if all(names) and shared else None


def _examples(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for number, line in json_lines(path):
        try:
            example = parse_json(line)
            text, mentions = example["text"], example["mentions"]
            for mention in mentions:
                _check(mention)
            unlinked = [{**span, "entity": None} for span in example.get("unlinked", ())]
            for span in unlinked:
                _check_span(span)
            if not isinstance(text, str):
                raise TypeError("its text is no string")
        except (ValueError, KeyError, TypeError) as error:
            reason = f"no annotated text ({type(error).__name__}: {error})"
            raise BadInput(reason, file=str(path), line=number, remedy=f"write {FORMAT}") from error
        yield text, [*mentions, *unlinked]


def _check(mention: dict[str, Any]) -> None:
    _check_span(mention)
    if not isinstance(mention["entity"], str):
        raise TypeError("the entity of a mention is an id")


def _check_span(mention: dict[str, Any]) -> None:
    sides = mention["start"], mention["end"]
    if not all(type(side) is int and abs(side) < LARGEST for side in sides):
        raise TypeError("start and end of a mention are whole numbers")


def json_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, plain or .gz, with their numbers; empty ones are left out.

    Where there is no such file, one of the same name with .gz does.
    """
    zipped = path.with_name(f"{path.name}.gz")
    path = zipped if zipped.is_file() and not path.is_file() else path
    if not path.is_file():
        raise NotFound(f"no file {path}; give JSON Lines")
    with open_bytes(path, Silent(), lines=True) as file:
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                remedy = "convert it: iconv -t UTF-8"
                raise BadInput("is no UTF-8", file=str(path), line=number, remedy=remedy) from error
            if line.strip():
                yield number, line
