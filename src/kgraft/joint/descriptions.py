"""Descriptions: what entities and relations are said to be, read by the lower half of an encoder.

E⁰ = (Z_start + Z_end) / 2 of the entity's own name, with which its description begins; of the first
token where it has no name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from kgraft.graph import Graph
from kgraft.joint.language import Language
from kgraft.text import Encoder, length_batches
from kgraft.vectors.entity_text import entity_texts
from kgraft.vectors.memory import Part

FIELDS = ("label", "description", "aliases")  # neither types nor facts: they are to be told
LENGTH = 48  # tokens of a description that are read
BUDGET = 4096  # tokens of a batch, padding included


class Descriptions:
    """The texts of a graph's entities and relations; `read` is what fills a memory."""

    def __init__(
        self,
        graph: Graph,
        language: Language,
        *,
        fields: Sequence[str] = FIELDS,
        length: int = LENGTH,
    ) -> None:
        self.graph, self.language, self.fields = graph, language, tuple(fields)
        held = language.encoder
        self.encoder = Encoder(
            held.model, held.tokenizer, name=held.name, max_length=min(length, held.max_length)
        )

    def said(self, part: Part, rows: np.ndarray) -> tuple[list[str], list[str]]:
        """Return the texts of some entities or relations, and the names they begin with."""
        if part == "entities":
            texts = entity_texts(self.graph, rows, self.fields).to_pylist()
            names = self.graph.entities["label"].take(rows).to_pylist()
            return texts, [name or "" for name in names]
        taken = self.graph.relations.take(rows)
        names = [label or name for label, name in _columns(taken, "label", "id")]
        described = taken["description"].to_pylist() if "description" in taken.column_names else []
        described = described or [""] * len(names)
        return [f"{n}: {d}" if d else n for n, d in zip(names, described, strict=True)], names

    def read(self, part: Part, rows: np.ndarray) -> np.ndarray:
        """Return E⁰ of some entities or relations, (n, F)."""
        texts, names = self.said(part, rows)
        training = self.language.training
        self.language.eval()
        with torch.no_grad():
            vectors = self.vectors(texts, names)
        self.language.train(training)
        return vectors.cpu().numpy()

    def vectors(self, texts: list[str], names: list[str]) -> Tensor:
        """Return E⁰ of texts that begin with names, (n, F); gradients flow where they are on."""
        windows = self.encoder.windows(texts).firsts()
        numbers = np.arange(len(texts))
        places = windows.locate(
            numbers, np.zeros(len(texts), np.int64), np.array([*map(len, names)])
        )
        own = places.window >= 0
        begin = np.where(own, places.first, len(windows.prefix))
        end = np.where(own, places.last - 1, begin)
        parts, order = [], []
        for batch in length_batches(windows.lengths, BUDGET):
            ids, mask = map(torch.from_numpy, windows.padded(batch))
            read = self.language.lower(ids, mask)
            row = torch.arange(len(batch))
            parts.append((read[row, begin[batch]] + read[row, end[batch]]) / 2)
            order.append(batch)
        if not parts:
            return torch.zeros(0, self.language.encoder.dimension)
        back = torch.from_numpy(np.argsort(np.concatenate(order)))
        return torch.cat(parts)[back]


def _columns(table: object, *names: str) -> zip[tuple[str, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)  # type: ignore[index]
