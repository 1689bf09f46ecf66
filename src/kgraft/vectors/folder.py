"""The folder of trained vectors: tensors, the ids of their rows, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import pyarrow as pa
import torch

from kgraft.arrow_files import write_table
from kgraft.columns import arrow_strings, flat
from kgraft.errors import BadInput
from kgraft.settings import Settings, setting
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import map_tensors, write_tensors
from kgraft.training import ModelManifest, Pretrained

_ENTITIES, _RELATIONS = "entities.safetensors", "relations.safetensors"
_PARAMETERS = "parameters.safetensors"
_ENTITY_IDS, _RELATION_IDS = "entity_ids", "relation_ids"

Strings: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray


@dataclass(frozen=True)
class VectorsConfig(Settings):
    """The graph that vectors were trained on, and their sizes."""

    graph: str = setting("", "Name of the graph.")
    version: str = setting("", "Version of the graph.")
    dimension: int = setting(1, "Numbers per entity.", (1, 1 << 24))
    entities: int = setting(0, "Entities.", (0, 1 << 62))
    relations: int = setting(0, "Relations.", (0, 1 << 62))


class StoredVectors(Pretrained[VectorsConfig]):
    """Trained vectors: one row per entity id, and where there are any, rows of relations.

    Relations have one row per id, or two blocks of them: forth, then back. `parameters` are what
    else a model has learnt, by name. Opened from a folder, the tensors are mapped into memory: do
    not change them.
    """

    kind = Kind("vectors folder", MODEL_MANIFEST)
    format = 2
    made_by = "kgraft embed train"
    config_class = VectorsConfig
    check_content: ClassVar[bool] = False  # hashing large tables would take longer than their use

    def __init__(
        self,
        config: VectorsConfig,
        entities: torch.Tensor,
        relations: torch.Tensor | None,
        entity_ids: pa.Array,
        relation_ids: pa.Array,
        facts: Mapping[str, Any] | None = None,
        parameters: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self.config = config
        self.entities = entities  # (N, D) float32
        self.relations = relations  # (R, W) or (2R, W) float32
        self.entity_ids, self.relation_ids = entity_ids, relation_ids
        self.facts = dict(facts or {})  # how they were made: model, settings, seed, figures
        self.parameters = dict(parameters or {})
        self._check_shapes()

    def _check_shapes(self) -> None:
        shape, ids = tuple(self.entities.shape), len(self.entity_ids)
        if shape != (self.config.entities, self.config.dimension) or ids != shape[0]:
            raise BadInput(f"entity vectors are {shape} for {ids} ids")
        ids = len(self.relation_ids)
        if ids != self.config.relations:
            raise BadInput(f"there are {ids} relation ids for {self.config.relations} relations")
        if self.relations is not None:
            shape = tuple(self.relations.shape)
            if len(shape) != 2 or shape[0] not in (ids, 2 * ids):
                raise BadInput(f"relation vectors are {shape} for {ids} ids")

    def _write_files(self, folder: Path) -> None:
        write_tensors(folder / _ENTITIES, {"vectors": self.entities.float()})
        if self.relations is not None:
            write_tensors(folder / _RELATIONS, {"vectors": self.relations.float()})
        if self.parameters:
            write_tensors(folder / _PARAMETERS, self.parameters)
        write_table(folder, _ENTITY_IDS, pa.table({"id": self.entity_ids}))
        write_table(folder, _RELATION_IDS, pa.table({"id": self.relation_ids}))

    @classmethod
    def _read_files(
        cls, folder: Path, config: VectorsConfig, manifest: ModelManifest, **_context: Any
    ) -> Self:
        relations = _tensor(folder / _RELATIONS) if _RELATIONS in manifest.files else None
        has_parameters = _PARAMETERS in manifest.files
        parameters = map_tensors(folder / _PARAMETERS) if has_parameters else {}
        entities = _tensor(folder / _ENTITIES)
        entity_ids = _ids(folder / f"{_ENTITY_IDS}.arrow")
        relation_ids = _ids(folder / f"{_RELATION_IDS}.arrow")
        return cls(
            config, entities, relations, entity_ids, relation_ids, manifest.facts, parameters
        )


def write_table_vectors(
    folder: Path,
    *,
    entities: torch.Tensor,
    entity_ids: Strings,
    relations: torch.Tensor | None = None,
    relation_ids: Strings = (),
    parameters: Mapping[str, torch.Tensor] | None = None,
    graph_name: str,
    graph_version: str,
    facts: Mapping[str, Any],
) -> None:
    """Write trained vectors into a folder.

    Give the folder that `storage.new_folder(target, StoredVectors.kind)` opens, and the vectors
    appear complete or not at all.
    """
    parameters = dict(parameters or {})
    tensors = [tensor for tensor in (entities, relations) if tensor is not None]
    tensors += parameters.values()
    if not all(torch.isfinite(tensor).all() for tensor in tensors):
        raise BadInput("a vector holds a number that is not finite; nothing was written")
    if entities.dim() != 2 or entities.shape[1] < 1:
        raise BadInput(f"entity vectors are {tuple(entities.shape)} for {len(entity_ids)} ids")
    config = VectorsConfig(
        graph_name, graph_version, entities.shape[1], len(entities), len(relation_ids)
    )
    vectors = StoredVectors(
        config,
        entities,
        relations,
        _strings(entity_ids),
        _strings(relation_ids),
        parameters=parameters,
    )
    vectors.save_pretrained(folder, facts=facts)


def read_vectors(folder: str | Path) -> StoredVectors:
    """Open a vectors folder: verify its manifest, map its tensors and ids."""
    return StoredVectors.from_pretrained(folder)


def _strings(texts: Strings) -> pa.Array:
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return flat(texts).cast(pa.large_string())
    return arrow_strings(texts)


def _tensor(path: Path) -> torch.Tensor:
    vectors = map_tensors(path)["vectors"]
    if vectors.dim() != 2 or vectors.dtype != torch.float32:
        raise ValueError(f"{path.name} holds {vectors.dtype} of shape {tuple(vectors.shape)}")
    return vectors


def _ids(path: Path) -> pa.Array:
    with pa.memory_map(str(path)) as source:
        return flat(pa.ipc.open_file(source).read_all()["id"])
