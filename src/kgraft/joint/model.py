"""The joint model: a knowledge module and a language module that feed each other.

Yu et al. 2022, "JAKET: Joint Pre-training of Knowledge Graph and Language Understanding". LM1 reads
descriptions and gives the graph attention its first vectors (through a memory); the graph attention
gives LM2 vectors of the entities that a text mentions. Entity vectors are computed, never learnt
one by one: the model works on a graph that it has not seen.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint.language import Language
from kgraft.joint.settings import JointConfig
from kgraft.joint.texts import LinkedBatch
from kgraft.text import Encoder
from kgraft.training.seeds import seeded
from kgraft.vectors.graph_attention import GraphAttention
from kgraft.vectors.memory import Memory
from kgraft.vectors.neighbourhood import neighbourhoods


class JointModel(nn.Module):
    """Language module and knowledge module."""

    def __init__(
        self, encoder: Encoder, config: JointConfig | None = None, *, seed: int = 0
    ) -> None:
        super().__init__()
        self.config = config or JointConfig()
        with seeded(seed):
            self.language = Language(encoder, self.config.cut)
            self.knowledge = GraphAttention(encoder.dimension, self.config.attention)
        self.knowledge.to(encoder.device)

    @property
    def encoder(self) -> Encoder:
        """The encoder whose layers are used."""
        return self.language.encoder

    def entity_vectors(
        self,
        graph: Graph,
        memory: Memory,
        entities: np.ndarray,
        *,
        seed: int,
        hidden: np.ndarray | None = None,
    ) -> Tensor:
        """Return E^KM of entities, (n, F), from sampled neighbourhoods; see `neighbourhoods`."""
        around = neighbourhoods(graph, entities, self.config.fan_out, seed=seed, hidden=hidden)
        around = around.to(self.encoder.device)
        relations = memory.relations.to(self.encoder.device)
        vectors: Tensor = self.knowledge(around, memory.take(around.entity), relations)
        return vectors

    def read(
        self,
        batch: LinkedBatch,
        graph: Graph,
        memory: Memory,
        *,
        seed: int,
        ids: Tensor | None = None,
        shown: Tensor | None = None,
        hidden: np.ndarray | None = None,
        knowing: bool = True,
    ) -> Tensor:
        """Return what is read of texts, (B, L, F), with what the graph knows of their mentions.

        `ids` stand in place of the batch's own, where words are masked; mentions that are not
        `shown` (S,) get no knowledge. With `knowing` false none does: the merge is skipped.
        """
        ids = batch.ids if ids is None else ids
        if not knowing or not len(batch.entity):
            return self.language(ids, batch.mask)
        distinct, place = np.unique(batch.entity.numpy(), return_inverse=True)
        if hidden is None:
            vectors = self.entity_vectors(graph, memory, distinct, seed=seed)
            vectors = vectors[torch.from_numpy(place)]
        else:
            asked = batch.entity.numpy()
            vectors = self.entity_vectors(graph, memory, asked, seed=seed, hidden=hidden)
        known = batch.known(vectors.to(ids.device), shown)
        return self.language(ids, batch.mask, known)
