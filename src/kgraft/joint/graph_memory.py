"""The memory of any graph for a joint model: what was read before is not read again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from kgraft.graph import Graph
from kgraft.joint.descriptions import Descriptions
from kgraft.joint.model import JointModel
from kgraft.progress import Progress
from kgraft.tensors import tensor_digest
from kgraft.text import layers_of
from kgraft.vectors import Memory, Part, VectorStore, cache_folder, text_keys

Reader = Callable[[Part, np.ndarray], np.ndarray]


def open_memory(
    model: JointModel,
    graph: Graph,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Memory:
    """Return the memory of a graph for a model.

    It is in kgraft's cache unless a folder is given. What the model has read before, for this
    graph or another, comes from the cache too: of a graph that grew only what is new is read.
    """
    descriptions = Descriptions(graph, model.language)
    name = f"{reader_digest(descriptions)}-{graph.manifest.version}-{graph.only or 'all'}"
    memory = Memory(
        folder or _cache() / name,
        entities=len(graph.entities),
        relations=len(graph.relations),
        size=model.encoder.dimension,
    )
    memory.refresh(cached_reader(descriptions), progress=progress)
    return memory


def cached_reader(descriptions: Descriptions) -> Reader:
    """Return `descriptions.read` of an encoder that stays as it is: nothing is read twice."""
    store = VectorStore(_cache() / reader_digest(descriptions), descriptions.encoder.dimension)

    def read(part: Part, rows: np.ndarray) -> np.ndarray:
        keys = text_keys(pa.array(descriptions.texts(part, rows)[0], pa.string()))
        vectors, is_stored = store.take(keys)
        if not is_stored.all():
            store.add(keys[~is_stored], descriptions.read(part, rows[~is_stored]))
            vectors, _ = store.take(keys)  # equal texts have one vector, now and later
        return vectors

    return read


def _cache() -> Path:
    return cache_folder().parent / "memory"


def reader_digest(descriptions: Descriptions) -> str:
    """Return a digest of what makes first vectors: the lower half of the encoder, what it reads.

    The upper half may be trained further: what was read stays.
    """
    language = descriptions.language
    host = descriptions.encoder.model
    upper = {id(p) for layer in layers_of(host)[language.cut :] for p in layer.parameters()}
    state = host.state_dict(keep_vars=True)
    lower = tensor_digest({n: t for n, t in state.items() if id(t) not in upper})
    what_is_read = (descriptions.fields, descriptions.encoder.max_length, language.cut)
    return hashlib.sha256(f"{what_is_read} {lower}".encode()).hexdigest()[:16]
