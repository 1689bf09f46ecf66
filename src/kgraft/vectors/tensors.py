"""Tensors on disk: safetensors files, written straight to disk and mapped for reading."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from kgraft.errors import BadInput

_NAMES = {torch.float32: "F32", torch.int64: "I64", torch.int8: "I8", torch.uint8: "U8"}
UNREADABLE = (OSError, SafetensorError, ValueError)
"""What is raised for a file that is absent, cut short or no safetensors file."""


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors of float32 and of whole numbers as a safetensors file.

    The library's own writer makes a file that nobody else may read, and hides from the caller
    that a disk is full.
    """
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header, end = {}, 0
    for name, tensor in whole.items():
        begin, end = end, end + tensor.nbytes
        shape = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape)}
        header[name] = {**shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in whole.values():
            file.write(tensor.numpy().data.cast("B") if tensor.nbytes else b"")


def load_tensors(module: nn.Module, path: Path) -> None:
    """Put the tensors of a safetensors file into a module that has the same ones."""
    try:
        module.load_state_dict(map_tensors(path))
    except (*UNREADABLE, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be read ({reason})", file=str(path)) from error


def map_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a safetensors file without reading them; they are not to be changed."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except RuntimeError as error:  # torch's word for a file that goes away while it is opened
        if path.exists():
            raise
        raise FileNotFoundError(str(path)) from error
