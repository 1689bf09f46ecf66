"""The memory of any graph for a joint model: what was read before is not read again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.model import JointModel
from kgraft.progress import Progress
from kgraft.text import layers_of
from kgraft.vectors.memory import Memory, Part, Read
from kgraft.vectors.store import VectorStore, cache_folder
from kgraft.vectors.text_vectors import text_keys


def open_memory(
    model: JointModel,
    graph: Graph,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Memory:
    """Return the memory of a graph for a model.

    It lies in kgraft's cache unless a folder is given. What the model has read before, for this
    graph or another, comes from the cache too: of a graph that grew only what is new is read.
    """
    descriptions = Descriptions(graph, model.language)
    name = f"{digest(descriptions)}-{graph.manifest.version}-{graph.only or 'all'}"
    sizes = {"entities": len(graph.entities), "relations": len(graph.relations)}
    memory = Memory(folder or _cache() / name, **sizes, size=model.encoder.dimension)
    memory.refresh(remembering(descriptions), progress=progress)
    return memory


def remembering(descriptions: Descriptions) -> Read:
    """Return `descriptions.read` of an encoder that stays as it is: nothing is read twice."""
    store = VectorStore(_cache() / digest(descriptions), descriptions.encoder.dimension)

    def read(part: Part, rows: np.ndarray) -> np.ndarray:
        keys = text_keys(pa.array(descriptions.said(part, rows)[0], pa.string()))
        vectors, found = store.take(keys)
        if not found.all():
            store.add(keys[~found], descriptions.read(part, rows[~found]))
            vectors, _ = store.take(keys)  # the same for like texts, now and later
        return vectors

    return read


def _cache() -> Path:
    return cache_folder().parent / "memory"


def digest(descriptions: Descriptions) -> str:
    """Return a name for what makes first vectors: the lower half of the encoder, and what it reads.

    The upper half may learn on: what was read stays.
    """
    told = (descriptions.fields, descriptions.encoder.max_length, descriptions.language.cut)
    found = hashlib.sha256(repr(told).encode())
    host = descriptions.encoder.model
    upper = {id(held) for held in layers_of(host)[descriptions.language.cut :].parameters()}
    for name, tensor in sorted(host.state_dict(keep_vars=True).items()):
        if id(tensor) not in upper:
            bits = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
            found.update(name.encode() + bits.numpy().tobytes())
    return found.hexdigest()[:16]
