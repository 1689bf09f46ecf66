"""Tensors on disk: safetensors files, written completely or not at all, and mapped for reading."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from kgraft.errors import BadInput
from kgraft.storage import new_file

UNREADABLE = (OSError, SafetensorError, ValueError)
"""What is raised for a file that is absent, cut short or not a safetensors file."""


def write_tensors(
    path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file that appears complete, or raise an OSError.

    Others may read the file as they may read any new file. Tensors may share memory.
    """
    state = dict(_without_sharing(tensors))
    with new_file(path) as partial:
        partial.touch()
        mode = partial.stat().st_mode
        with _os_errors(partial):
            save_file(state, partial, metadata=dict(metadata) if metadata else None)
        partial.chmod(mode)  # the library's file is its owner's alone


def load_tensors(module: nn.Module, path: Path) -> None:
    """Load the tensors of a safetensors file into a module that has the same ones."""
    try:
        module.load_state_dict(map_tensors(path))
    except (*UNREADABLE, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be read ({reason})", file=str(path)) from error


def map_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Map the tensors of a safetensors file into memory; do not change them in place."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except RuntimeError as error:  # torch's error for a file that goes away while it is opened
        if path.exists():
            raise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from error


def tensor_digest(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return the SHA-256 of named tensors: of their names, shapes, types and bytes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        flat = tensor.detach().cpu().contiguous().flatten()
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _without_sharing(tensors: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield tensors as the library takes them: contiguous, none in the memory of another."""
    storages = set()
    for name, tensor in tensors.items():
        packed = tensor.detach().cpu().contiguous()
        address = packed.untyped_storage().data_ptr()
        yield name, packed.clone() if address in storages else packed
        storages.add(address)


@contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    """Raise the OSError that the library hides in its own error, such as that of a full disk."""
    try:
        yield
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        code = int(number[1]) if number else errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from error
