"""Checkpoints: a state and its position in one safetensors file with a checksum."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from kgraft.errors import KgraftError
from kgraft.storage import new_file
from kgraft.training.position import Position


def write_checkpoint(path: Path, state: Mapping[str, torch.Tensor], position: Position) -> None:
    """Write a checkpoint; what was there stays if that fails (with an OSError)."""
    text = json.dumps(asdict(position))
    metadata = {"position": text, "sha256": _digest(state, text)}
    try:
        with new_file(path) as partial:
            save_file(dict(state), partial, metadata=metadata)
    except SafetensorError as error:
        raise _as_os_error(error) from error


def copy_checkpoint(source: Path, target: Path) -> None:
    """Make one checkpoint another one's equal, without a second copy where the disk allows it."""
    with new_file(target) as partial:
        try:
            os.link(source, partial)  # safe, as checkpoints are replaced and never written into
        except OSError:
            shutil.copyfile(source, partial)


def read_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], Position]:
    """Read a checkpoint and verify its checksum."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if _digest(state, metadata["position"]) != metadata["sha256"]:
            raise ValueError("its checksum is wrong")
        return state, Position(**json.loads(metadata["position"]))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise KgraftError(
            f"{path}: cannot be resumed from, it is damaged ({error}); "
            "name another folder, or pass --overwrite to begin anew"
        ) from error


def step_of(path: Path) -> int | None:
    """Return the step a checkpoint stands at; None where there is none that can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            return int(json.loads(file.metadata()["position"])["step"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return None


def _as_os_error(error: SafetensorError) -> OSError:
    number = re.search(r"\(os error (\d+)\)", str(error))
    code = int(number[1]) if number else errno.EIO
    return OSError(code, os.strerror(code))


def _digest(state: Mapping[str, torch.Tensor], position: str) -> str:
    """Return the SHA-256 of all names, types, shapes and bytes of a checkpoint."""
    digest = hashlib.sha256(position.encode())
    for name in sorted(state):
        tensor = state[name].detach()
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
