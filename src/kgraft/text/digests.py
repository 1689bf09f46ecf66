"""Digests of files and tensors; that of a file is computed once and kept in the cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgraft.json_text import read_json_file
from kgraft.storage import cache_folder, new_file, sha256

if TYPE_CHECKING:
    from torch import Tensor

RECORD = "digests.json"
KEPT = 200  # files the record remembers besides the newest

Stamp = tuple[Path, int, int]  # resolved path, size, mtime_ns: as long as they stay, so does a file


def stamp(file: Path) -> Stamp:
    """Return what tells whether a file is still the same one, without reading it."""
    facts = file.stat()
    return file.resolve(), facts.st_size, facts.st_mtime_ns


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file; an untouched file is read only once on a machine."""
    return _digest(*stamp(file))


@cache
def _digest(file: Path, size: int, mtime_ns: int) -> str:
    """Hash a file that the record does not have; a folder that cannot be written costs no more."""
    record = cache_folder() / RECORD
    name, facts = str(file), [size, mtime_ns]
    kept = _read(record).get(name)
    if isinstance(kept, list) and kept[:2] == facts and isinstance(kept[-1], str):
        return kept[-1]
    digest = sha256(file)
    if stamp(file) == (file, size, mtime_ns):  # not changed meanwhile
        others = [pair for pair in _read(record).items() if pair[0] != name]
        _write(record, dict([*others[-KEPT:], (name, [*facts, digest])]))
    return digest


def _read(record: Path) -> dict[str, object]:
    """Return what is on record: nothing where the record is absent or spoilt."""
    try:
        kept = read_json_file(record)
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(record: Path, kept: dict[str, object]) -> None:
    """Write the record; where that fails the next process hashes again."""
    with contextlib.suppress(OSError), new_file(record) as partial:
        partial.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of named tensors, with their names, shapes and types."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        flat = tensor.detach().cpu().contiguous().flatten()
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
