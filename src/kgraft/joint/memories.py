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
from kgraft.vectors.memory import Memory, Part
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
    made_by, cache = digest(model, descriptions), cache_folder().parent / "memory"
    sizes = {"entities": len(graph.entities), "relations": len(graph.relations)}
    place = folder or cache / f"{made_by}-{graph.manifest.version}-{graph.only or 'all'}"
    memory = Memory(place, **sizes, size=model.encoder.dimension)
    store = VectorStore(cache / made_by, model.encoder.dimension)

    def read(part: Part, rows: np.ndarray) -> np.ndarray:
        keys = text_keys(pa.array(descriptions.said(part, rows)[0], pa.string()))
        vectors, found = store.take(keys)
        if not found.all():
            vectors[~found] = descriptions.read(part, rows[~found])
            store.add(keys[~found], vectors[~found])
        return vectors

    memory.refresh(read, progress=progress)
    return memory


def digest(model: JointModel, descriptions: Descriptions) -> str:
    """Return a name for what makes first vectors: the encoder, its cut, and what is read."""
    told = (descriptions.fields, descriptions.encoder.max_length, model.language.cut)
    found = hashlib.sha256(repr(told).encode())
    for name, tensor in sorted(model.encoder.model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()[:16]
