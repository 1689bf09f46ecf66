"""Descriptions of entities and relations, read by the lower half of an encoder.

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
from kgraft.text import Encoder, Windows, length_batches
from kgraft.vectors import Part, entity_texts

FIELDS = ("label", "description", "aliases")  # not types and facts, which are asked for
LENGTH = 48  # tokens of a description that are read
TOKENS = 4096  # of a batch, padding included


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
        host = language.encoder
        self.encoder = Encoder(
            host.model, host.tokenizer, name=host.name, max_length=min(length, host.max_length)
        )

    def texts(self, part: Part, rows: np.ndarray) -> tuple[list[str], list[str]]:
        """Return the texts of some entities or relations, and the names they begin with."""
        if part == "entities":
            texts = entity_texts(self.graph, rows, self.fields).to_pylist()
            names = self.graph.entities["label"].take(rows).to_pylist()
            return texts, [name or "" for name in names]
        relations = self.graph.relations.take(rows)
        labels, ids = relations["label"].to_pylist(), relations["id"].to_pylist()
        names = [label or id_ for label, id_ in zip(labels, ids, strict=True)]
        if "description" not in relations.column_names:
            return list(names), names
        descriptions = relations["description"].to_pylist()
        pairs = zip(names, descriptions, strict=True)
        return [f"{name}: {text}" if text else name for name, text in pairs], names

    def read(self, part: Part, rows: np.ndarray) -> np.ndarray:
        """Return E⁰ of some entities or relations, (n, F)."""
        texts, names = self.texts(part, rows)
        training = self.language.training
        self.language.eval()
        with torch.no_grad():
            vectors = self.vectors(texts, names)
        self.language.train(training)
        return vectors.cpu().numpy()

    def vectors(self, texts: list[str], names: list[str]) -> Tensor:
        """Return E⁰ of texts that begin with names, (n, F); gradients flow where they are on."""
        if not texts:
            return torch.zeros(0, self.language.encoder.dimension)
        windows = self.encoder.windows(texts).firsts()
        first, last = _name_ends(windows, names)
        parts, batches = [], length_batches(windows.lengths, TOKENS)
        for batch in batches:
            ids, mask = map(torch.from_numpy, windows.padded(batch))
            hidden = self.language.lower(ids, mask)
            row = torch.arange(len(batch))
            parts.append((hidden[row, first[batch]] + hidden[row, last[batch]]) / 2)
        order = torch.from_numpy(np.argsort(np.concatenate(batches)))
        return torch.cat(parts)[order]


def _name_ends(windows: Windows, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of the first and the last token of the name each text begins with."""
    indices, lengths = np.arange(len(names)), np.array([*map(len, names)], np.int64)
    spans = windows.locate(indices, np.zeros_like(indices), lengths)
    has_name = spans.window >= 0
    first = np.where(has_name, spans.first, len(windows.prefix))
    return first, np.where(has_name, spans.last - 1, first)
