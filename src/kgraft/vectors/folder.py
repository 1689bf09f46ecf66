"""The folder of trained vectors: tensors, the ids of their rows, and a description of both."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import torch

from kgraft.errors import BadInput, NotFound
from kgraft.graph.columns import arrow_strings, flat
from kgraft.graph.folder import write_table
from kgraft.json_text import read_json_file, to_json
from kgraft.storage import Kind, changed_file, check_kinds, describe_file, flush
from kgraft.tensors import UNREADABLE, map_tensors, write_tensors

FORMAT = 1
MARKER = "vectors.json"
VECTORS = Kind("vectors folder", MARKER)
TRAIN = "train again: kgraft embed train GRAPH --out VECTORS"
_FILES = ("entities.safetensors", "entity_ids.arrow", "relation_ids.arrow")
_RELATIONS = "relations.safetensors"

Strings: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray


@dataclass(frozen=True)
class VectorsManifest:
    """What a vectors folder says about itself; `facts` are the writer's own, any JSON."""

    graph: str  # name of the graph it was trained on
    version: str  # and its version
    dimension: int
    entities: int
    relations: int
    facts: dict[str, Any]
    kind: str = "table"
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # name → bytes, sha256
    format: int = FORMAT


@dataclass(frozen=True)
class StoredVectors:
    """Trained vectors: one row per entity id, and where there are any, rows of relations.

    Relations have one row per id, or two blocks of them: forth, then back.
    """

    manifest: VectorsManifest
    entities: torch.Tensor  # (N, D) float32, mapped: do not change
    relations: torch.Tensor | None  # (R, W) or (2R, W) float32
    entity_ids: pa.Array
    relation_ids: pa.Array

    @property
    def facts(self) -> dict[str, Any]:
        """What the writer said about the vectors: model, settings, seed, figures."""
        return self.manifest.facts


def write_table_vectors(
    folder: Path,
    *,
    entities: torch.Tensor,
    entity_ids: Strings,
    relations: torch.Tensor | None = None,
    relation_ids: Strings = (),
    graph_name: str,
    graph_version: str,
    facts: dict[str, Any],
) -> None:
    """Write trained vectors into a folder, the description last.

    Give the folder that `storage.new_folder(target, VECTORS)` opens, and the vectors appear whole
    or not at all.
    """
    ids = {"entity_ids": _strings(entity_ids), "relation_ids": _strings(relation_ids)}
    _check_shapes(entities, relations, *map(len, ids.values()))
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / _FILES[0], {"vectors": entities.float()})
    if relations is not None:
        write_tensors(folder / _RELATIONS, {"vectors": relations.float()})
    for name, column in ids.items():
        write_table(folder, name, pa.table({"id": column}))
    names = _FILES if relations is None else (*_FILES, _RELATIONS)
    manifest = VectorsManifest(
        graph=graph_name,
        version=graph_version,
        dimension=entities.shape[1],
        entities=len(entities),
        relations=len(ids["relation_ids"]),
        facts=facts,
        files={name: describe_file(folder / name) for name in names},
    )
    text = to_json(asdict(manifest), indent=1)
    (folder / MARKER).write_text(text + "\n", "utf-8")
    for name in (*names, MARKER):
        flush(folder / name)
    flush(folder)


def _strings(texts: Strings) -> pa.Array:
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return flat(texts).cast(pa.large_string())
    return arrow_strings(texts)


def _check_shapes(
    entities: torch.Tensor, relations: torch.Tensor | None, ids: int, relation_ids: int
) -> None:
    if entities.dim() != 2 or len(entities) != ids or entities.shape[1] < 1:
        raise BadInput(f"entity vectors are {tuple(entities.shape)} for {ids} ids")
    if relations is not None and (
        relations.dim() != 2 or len(relations) not in (relation_ids, 2 * relation_ids)
    ):
        raise BadInput(f"relation vectors are {tuple(relations.shape)} for {relation_ids} ids")
    if not all(torch.isfinite(t).all() for t in (entities, relations) if t is not None):
        raise BadInput("a vector holds a number that is not finite; nothing was written")


def read_vectors(folder: str | Path) -> StoredVectors:
    """Open a vectors folder: verify its description, map its tensors and ids."""
    folder = Path(folder)
    manifest = _read_manifest(folder)
    relations = _tensor(folder / _RELATIONS) if _RELATIONS in manifest.files else None
    ids = (_ids(folder / name) for name in _FILES[1:])
    stored = StoredVectors(manifest, _tensor(folder / _FILES[0]), relations, *ids)
    promised = (manifest.entities, manifest.dimension, manifest.entities, manifest.relations)
    if (*stored.entities.shape, *map(len, (stored.entity_ids, stored.relation_ids))) != promised:
        raise _damaged(folder / MARKER, "its counts are not those of the files")
    return stored


def _read_manifest(folder: Path) -> VectorsManifest:
    path = folder / MARKER
    if not folder.is_dir():
        raise NotFound(f"no vectors at {folder}; {TRAIN.replace(' VECTORS', f' {folder}')}")
    if not path.is_file():
        remedy = "name the folder that 'kgraft embed train' wrote"
        raise BadInput(f"{folder} is not a vectors folder (it has no {MARKER})", remedy=remedy)
    try:
        stored = read_json_file(path)
        number = operator.index(stored["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, str(error)) from error
    if number != FORMAT:
        remedy = "update kgraft: pip install -U kgraft" if number > FORMAT else TRAIN
        reason = f"{folder} is of format {number}, this kgraft reads format {FORMAT}"
        raise BadInput(reason, remedy=remedy)
    try:
        manifest = VectorsManifest(**stored)
        check_kinds(manifest, VectorsManifest("", "", 0, 0, 0, {}))
    except TypeError as error:
        raise _damaged(path, str(error)) from error
    _verify_files(folder, manifest)
    return manifest


def _damaged(path: Path, reason: str) -> BadInput:
    return BadInput(f"{path} is damaged ({reason})", remedy=TRAIN)


def _verify_files(folder: Path, manifest: VectorsManifest) -> None:
    absent = set(_FILES) - manifest.files.keys()
    if absent:
        raise _damaged(folder / MARKER, f"it does not list {min(absent)}")
    changed = changed_file(folder, manifest.files)
    if changed:
        raise BadInput(changed, remedy=TRAIN)


def _tensor(path: Path) -> torch.Tensor:
    try:
        vectors = map_tensors(path)["vectors"]
    except (*UNREADABLE, KeyError) as error:
        raise _damaged(path, str(error)) from error
    if vectors.dim() != 2 or vectors.dtype != torch.float32:
        raise _damaged(path, f"it holds {vectors.dtype} of shape {tuple(vectors.shape)}")
    return vectors


def _ids(path: Path) -> pa.Array:
    try:
        with pa.memory_map(str(path)) as source:
            return flat(pa.ipc.open_file(source).read_all()["id"])
    except (OSError, pa.ArrowException, KeyError) as error:
        raise _damaged(path, str(error)) from error
