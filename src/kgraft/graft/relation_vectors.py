"""Relations as vectors, in both directions: what an encoder makes of the phrases that say them."""

from __future__ import annotations

import torch
from torch import Tensor

from kgraft.corpus import relation_phrases
from kgraft.graph import Graph
from kgraft.text import Encoder

PHRASES = 2  # of a relation: the words of its template, and its label
INVERSE = "inverse of {}"


def relation_vectors(graph: Graph, encoder: Encoder) -> Tensor:
    """Return the vectors of all relations, then of their inverses, of the length √D, (2R, D)."""
    phrases = [every[:PHRASES] for every in relation_phrases(graph)]
    flat = [phrase for every in phrases for phrase in every]
    owner = torch.tensor([n for n, every in enumerate(phrases) for _ in every], dtype=torch.long)
    directions = [flat, [INVERSE.format(phrase) for phrase in flat]]
    vectors = [_sums(encoder, texts, owner, len(phrases)) for texts in directions]
    both = torch.nn.functional.normalize(torch.cat(vectors), dim=-1)
    return both * encoder.dimension**0.5


def _sums(encoder: Encoder, texts: list[str], owner: Tensor, owners: int) -> Tensor:
    """Return the sums of the vectors of each owner's texts, (owners, D)."""
    sums = torch.zeros(owners, encoder.dimension)
    if not texts:
        return sums
    return sums.index_add(0, owner, torch.from_numpy(encoder.encode(texts)))
