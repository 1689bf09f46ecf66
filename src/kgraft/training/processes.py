"""The processes that train together: one by default, several under `accelerate launch`."""

from __future__ import annotations

import atexit
import json
import os
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.distributed as dist

from kgraft.errors import import_optional

Plain = TypeVar("Plain")
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Processes:
    """This process among those of the run; with one process every method does nothing.

    `accelerate launch --multi_gpu --num_processes 2 SCRIPT` starts two, also on a machine without a
    GPU, where they talk by gloo; with `--cpu` it starts only one.
    """

    index: int = 0
    count: int = 1
    device: torch.device = CPU

    @classmethod
    def here(cls) -> Processes:
        """Return the process this is; more than one only where WORLD_SIZE says so."""
        if int(os.environ.get("WORLD_SIZE") or 1) <= 1:
            return cls()
        accelerate = import_optional("accelerate", "accelerate")
        state = accelerate.PartialState(cpu=not torch.cuda.is_available())
        atexit.register(_part)
        return cls(state.process_index, state.num_processes, state.device)

    @property
    def main(self) -> bool:
        """Whether this is the process that writes files and shows progress."""
        return self.index == 0

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Replace a tensor by its sum over all processes, in place, and return it."""
        if self.count > 1:
            on_device = tensor.detach().to(self.device).contiguous()
            dist.all_reduce(on_device)
            tensor.detach().copy_(on_device)
        return tensor

    def gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensors of all processes one after another; only their lengths may differ."""
        if self.count == 1:
            return tensor
        lengths = torch.zeros(self.count, dtype=torch.int64)
        lengths[self.index] = len(tensor)
        self.sum_(lengths)
        padded = torch.zeros(
            (int(lengths.max()), *tensor.shape[1:]), dtype=tensor.dtype, device=self.device
        )
        padded[: len(tensor)] = tensor.detach()
        pieces = [torch.empty_like(padded) for _ in range(self.count)]
        dist.all_gather(pieces, padded)
        cut = [piece[:length] for piece, length in zip(pieces, lengths.tolist(), strict=True)]
        return torch.cat(cut).to(tensor.device)

    def broadcast(self, value: Plain) -> Plain:
        """Return the main process's value, anything that JSON can hold."""
        if self.count == 1:
            return value
        text = json.dumps(value).encode() if self.main else b""
        size = int(self.sum_(torch.tensor(len(text))))
        content = torch.tensor(list(text.ljust(size, b"\0")), dtype=torch.uint8)
        return cast(Plain, json.loads(bytes(self.sum_(content).tolist())))

    def wait(self) -> None:
        """Return when all processes have come here."""
        if self.count > 1:
            dist.barrier()


def _part() -> None:
    """Leave the others in order: a process that ends with its threads still talking may abort."""
    if dist.is_initialized():
        dist.destroy_process_group()
