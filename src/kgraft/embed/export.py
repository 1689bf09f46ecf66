"""Vectors in the formats of other programs.

| format | suffix | what is written |
| --- | --- | --- |
| tsv | .tsv | a header; then id, label and D numbers per line, escaped as in the TSV of graphs |
| word2vec | .vec, .txt | "N D"; then a key and D numbers per line, with blanks between |
| numpy | .npy | a matrix (N, D) of float32; the ids and labels of its rows in NAME.ids.json |
| safetensors | .safetensors | tensors `entities` and `relations`; NAME.ids.json as above |

Vectors of relations, if given, are in a file of their own, NAME.relations.SUFFIX (safetensors
holds both). Text gives each float32 its shortest form that reads back to the same bits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from safetensors.numpy import save_file
from torch import Tensor

from kgraft.columns import arrow_numbers, arrow_strings, escape_cells, flat, string_buffers
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.progress import Progress, Silent
from kgraft.storage import new_file

BLOCK = 1 << 20  # numbers that become text at a time
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class Rows:
    """A matrix with the id and the label of each row."""

    what: str  # entities or relations
    vectors: Tensor  # (N, D)
    ids: pa.Array  # (N,) strings
    labels: pa.Array  # (N,) strings, empty for none

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.ids):
            raise BadInput(
                f"there are vectors of {len(self.vectors):,} {self.what}, but the graph has "
                f"{len(self.ids):,}",
                remedy="name the graph they were trained on",
            )

    def block(self, first: int, last: int) -> np.ndarray:
        """Return some rows as float32."""
        return _plain(self.vectors[first:last]).numpy()


def export_vectors(
    graph: Graph,
    vectors: Tensor,
    target: Path,
    *,
    format: str | None = None,
    relations: Tensor | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the vectors (N, D) of a graph's entities, and return the files written.

    The format is named, or follows from the target's suffix. `relations` has one row per relation,
    or two: then the second half, the inverse relations, is named `^id` as in SPARQL.
    """
    format = format or _format_of(target)
    if format not in FORMATS:
        raise BadInput(f"unknown format {format!r}", remedy=f"formats are {', '.join(FORMATS)}")
    parts = [_entity_rows(graph, vectors)]
    if relations is not None:
        parts.append(_relation_rows(graph, relations))
    files = FORMATS[format].files(target, parts)
    for file in files:
        if file.exists():
            raise BadInput(f"{file} exists already", remedy="name another file")
    with ExitStack() as stack:
        partials = [stack.enter_context(new_file(file)) for file in files]
        FORMATS[format].write(parts, partials, progress or Silent())
    return files


def _format_of(target: Path) -> str:
    suffixes = {suffix: name for name, f in FORMATS.items() for suffix in f.suffixes}
    if target.suffix.lower() in suffixes:
        return suffixes[target.suffix.lower()]
    remedy = f"use {', '.join(suffixes)}, or name a format ({', '.join(FORMATS)})"
    raise BadInput(f"the name {target.name} implies no format", remedy=remedy)


def _entity_rows(graph: Graph, vectors: Tensor) -> Rows:
    return Rows("entities", vectors, *_names(graph.entities))


def _relation_rows(graph: Graph, vectors: Tensor) -> Rows:
    ids, labels = _names(graph.relations)
    if len(ids) and len(vectors) == 2 * len(ids):
        ids = pa.concat_arrays([ids, pc.binary_join_element_wise("^", ids, "")])
        labels = pa.concat_arrays([labels, pc.binary_join_element_wise("^", labels, "")])
    return Rows("relations", vectors, ids, labels)


def _names(table: pa.Table) -> tuple[pa.Array, pa.Array]:
    return flat(table["id"]), flat(pc.fill_null(table["label"], ""))


def _plain(vectors: Tensor) -> Tensor:
    return vectors.detach().to("cpu", torch.float32).contiguous()


# Text


def write_tsv(parts: Sequence[Rows], files: Sequence[Path], progress: Progress) -> None:
    """Write id, label and the numbers of each row, with tabs between and a header above."""
    for rows, path in zip(parts, files, strict=True):
        header = ["id", "label", *(f"v{i}" for i in range(rows.vectors.shape[1]))]
        keys = pc.binary_join_element_wise(escape_cells(rows.ids), escape_cells(rows.labels), "\t")
        with path.open("wb") as file:
            file.write("\t".join(header).encode() + b"\n")
            _write_lines(file, keys, rows, "\t", progress)


def write_word2vec(parts: Sequence[Rows], files: Sequence[Path], progress: Progress) -> None:
    """Write the count and the size, then the key and the numbers of each row."""
    for rows, path in zip(parts, files, strict=True):
        keys = arrow_strings(word_keys(rows.ids.to_pylist(), rows.labels.to_pylist()))
        with path.open("wb") as file:
            file.write(f"{len(rows.vectors)} {rows.vectors.shape[1]}\n".encode())
            _write_lines(file, keys, rows, " ", progress)


def word_keys(ids: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return a key for each row: its label, else its id, with `_` for blanks.

    A label that occurs twice gets the id behind it, and the row's number if that is still not
    enough.

    >>> word_keys(["Q90", "Q830149", "Q60"], ["Paris", "Paris", "New York"])
    ['Paris_(Q90)', 'Paris_(Q830149)', 'New_York']
    """
    keys = [_BLANK.sub("_", label or key) for key, label in zip(ids, labels, strict=True)]
    for marks in _marks(ids):
        count = Counter(keys)
        if len(count) == len(keys):
            break
        marked = zip(keys, marks, strict=True)
        keys = [key if count[key] == 1 else f"{key}_({mark})" for key, mark in marked]
    return keys


def _marks(ids: Sequence[str]) -> Iterator[Sequence[object]]:
    """Yield marks that distinguish rows: ids once, then indices until all differ.

    That ends, because two rows that both end in their index differ.
    """
    yield [_BLANK.sub("_", key) for key in ids]
    while True:
        yield range(len(ids))


def _write_lines(file: IO[bytes], keys: pa.Array, rows: Rows, gap: str, progress: Progress) -> None:
    progress.start(f"writing {rows.what}", len(keys))
    step = max(BLOCK // max(rows.vectors.shape[1], 1), 1)
    for first in range(0, len(keys), step):
        block_keys = keys[first : first + step].cast(pa.string())
        numbers = _joined(rows.block(first, first + len(block_keys)), gap)
        lines = pc.binary_join_element_wise(block_keys, numbers, gap)
        octets, _ = string_buffers(pc.binary_join_element_wise(lines, "", "\n"))
        file.write(octets.data)
        progress.advance(len(block_keys))


def _joined(block: np.ndarray, gap: str) -> pa.Array:
    """Return the numbers of each row as one text: (n, D) to (n,)."""
    bounds = np.arange(len(block) + 1, dtype=np.int32) * np.int32(block.shape[1])
    texts = arrow_numbers(block.reshape(-1)).cast(pa.string())
    return pc.binary_join(pa.ListArray.from_arrays(arrow_numbers(bounds), texts), gap)


# Arrays


def write_numpy(parts: Sequence[Rows], files: Sequence[Path], progress: Progress) -> None:
    """Write one matrix per file, then the ids."""
    for rows, path in zip(parts, files, strict=False):
        progress.start(f"writing {rows.what}", len(rows.ids))
        with path.open("wb") as file:
            np.save(file, _plain(rows.vectors).numpy(), allow_pickle=False)
        progress.advance(len(rows.ids))
    _write_ids(parts, files[-1])


def write_safetensors(parts: Sequence[Rows], files: Sequence[Path], progress: Progress) -> None:
    """Write all matrices in one file, then the ids."""
    total = sum(len(rows.ids) for rows in parts)
    progress.start("writing vectors", total)
    save_file({rows.what: _plain(rows.vectors).numpy() for rows in parts}, files[0])
    progress.advance(total)
    _write_ids(parts, files[-1])


def _write_ids(parts: Sequence[Rows], path: Path) -> None:
    names = {r.what: {"ids": r.ids.to_pylist(), "labels": r.labels.to_pylist()} for r in parts}
    with path.open("w", encoding="utf-8", newline="") as file:
        json.dump(names, file, ensure_ascii=False, indent=0)
        file.write("\n")


# Which files


class Format(NamedTuple):
    """A format: its suffixes, its function, and which files that writes."""

    suffixes: tuple[str, ...]
    write: Callable[[Sequence[Rows], Sequence[Path], Progress], None]
    one_per_part: bool = True
    ids: bool = False

    def files(self, target: Path, parts: Sequence[Rows]) -> list[Path]:
        """Return the target and the files that go with it."""
        named = target.suffix.lower() in self.suffixes
        name, suffix = (target.stem, target.suffix) if named else (target.name, "")
        more = [f"{name}.{rows.what}{suffix}" for rows in parts[1:] if self.one_per_part]
        ids = [f"{name}.ids.json"] if self.ids else []
        return [target, *(target.with_name(file) for file in more + ids)]


FORMATS = {
    "tsv": Format((".tsv",), write_tsv),
    "word2vec": Format((".vec", ".txt"), write_word2vec),
    "numpy": Format((".npy",), write_numpy, ids=True),
    "safetensors": Format((".safetensors",), write_safetensors, one_per_part=False, ids=True),
}
