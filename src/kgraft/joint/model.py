"""The joint model: a knowledge module and a language module that feed each other.

Yu et al. 2022, "JAKET: Joint Pre-training of Knowledge Graph and Language Understanding". LM1 reads
descriptions and gives the graph attention its first vectors (through a memory); the graph attention
gives LM2 vectors of the entities that a text mentions. Entity vectors are computed, never learned
one by one: the model works on a graph that it has not seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.graph import Graph
from kgraft.joint.language import Language
from kgraft.joint.settings import JointConfig
from kgraft.joint.windows import TextBatch
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import load_tensors, write_tensors
from kgraft.text import Encoder
from kgraft.training import ModelManifest, Pretrained, seeded
from kgraft.vectors import GraphAttention, Memory, neighbourhoods

WEIGHTS, ENCODER = "joint.safetensors", "encoder"


class JointModel(nn.Module, Pretrained[JointConfig]):
    """Language module and knowledge module; on disk the encoder is in Hugging Face's own form."""

    kind = Kind("joint model", MODEL_MANIFEST)
    format = 2
    made_by = "kgraft joint pretrain"
    unversioned_file = "joint.json"
    config_class = JointConfig

    def __init__(
        self, encoder: Encoder, config: JointConfig | None = None, *, seed: int = 0
    ) -> None:
        super().__init__()
        self.config = (config or JointConfig()).replace(max_length=encoder.max_length)
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
        """Return E^KM of entities, (n, F), from sampled neighbourhoods (see `neighbourhoods`)."""
        sampled = neighbourhoods(graph, entities, self.config.fan_out, seed=seed, hidden=hidden)
        sampled = sampled.to(self.encoder.device)
        relations = memory.relations.to(self.encoder.device)
        vectors: Tensor = self.knowledge(sampled, memory.take(sampled.entity), relations)
        return vectors

    def read(
        self,
        batch: TextBatch,
        graph: Graph,
        memory: Memory,
        *,
        seed: int,
        shown: Tensor | None = None,
        hidden: np.ndarray | None = None,
        use_knowledge: bool = True,
    ) -> Tensor:
        """Return what is read of texts, (B, L, F), with the knowledge of their mentions.

        Mentions that are not `shown` (S,) get no knowledge. What is related to the entity of a
        mention in `hidden` (S, p) is not seen. Without `use_knowledge` the merge adds nothing.
        """
        ids, mask, mentions = batch
        entity = mentions.first_entity.numpy()
        if not use_knowledge or not len(entity):
            return self.language(ids, mask)
        if hidden is None:
            distinct, row = np.unique(entity, return_inverse=True)
            vectors = self.entity_vectors(graph, memory, distinct, seed=seed)
            vectors = vectors[torch.from_numpy(row)]
        else:
            vectors = self.entity_vectors(graph, memory, entity, seed=seed, hidden=hidden)
        knowledge = mentions.spread(vectors.to(ids.device), ids.shape[1], shown)
        return self.language(ids, mask, knowledge)

    def _write_files(self, folder: Path) -> None:
        self.encoder.save(folder / ENCODER)
        write_tensors(folder / WEIGHTS, self._own_parts().state_dict())

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: JointConfig,
        manifest: ModelManifest,  # noqa: ARG003
        **context: Any,
    ) -> Self:
        device: str | None = context.get("device")
        encoder = Encoder.load(folder / ENCODER, device=device, max_length=config.max_length)
        model = cls(encoder, config)
        load_tensors(model._own_parts(), folder / WEIGHTS)
        return model.eval()

    def _own_parts(self) -> nn.ModuleDict:
        """Return the parts that are not the encoder's."""
        return nn.ModuleDict({"knowledge": self.knowledge, "norm": self.language.norm})
