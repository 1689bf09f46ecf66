"""A tiny task: a linear model with dropout and Adam, whose figure goes up and down."""

import json
from dataclasses import dataclass

import torch

from kgraft.settings import setting
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import write_tensors
from kgraft.training import (
    Processes,
    Purpose,
    TrainingSettings,
    TrainingTask,
    stream,
    torch_stream,
)

EXAMPLES, INPUTS, BATCH = 20, 6, 6
STEPS = 4  # an epoch: batches of 6, 6, 6 and 2


@dataclass(frozen=True)
class TinySettings(TrainingSettings):
    """Settings with one of their own."""

    epochs: int = 5
    seed: int = 3
    size: int = setting(6, "Numbers in the weight.")


class Tiny(TrainingTask):
    """Learns y = Xw; every process takes its share of each batch."""

    kind = Kind("tiny model", MODEL_MANIFEST)
    watch = "mrr"

    def __init__(self, *, valid=True, processes=None, data="v1"):
        self.data = data
        self.valid, self.processes = valid, processes or Processes()
        draw = torch_stream(11)
        self.x = torch.randn(EXAMPLES, INPUTS, generator=draw)
        self.y = self.x @ torch.randn(INPUTS, generator=draw)
        self.weight = torch.randn(INPUTS, generator=draw)
        self.first, self.second = torch.zeros(INPUTS), torch.zeros(INPUTS)
        self.updates = torch.tensor(0)

    def state(self):
        return {
            "weight": self.weight,
            "adam.first": self.first,
            "adam.second": self.second,
            "adam.updates": self.updates,
        }

    def load_state(self, state):
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def batches(self, epoch):
        order = stream(3, Purpose.ORDER, epoch).permutation(EXAMPLES)
        return [order[i : i + BATCH] for i in range(0, EXAMPLES, BATCH)]

    def step(self, batch, step):
        keep = (
            torch.rand(len(batch), INPUTS, generator=torch_stream(3, Purpose.STEP, step)) > 0.2
        ) / 0.8
        mine = slice(self.processes.index, None, self.processes.count)
        x = self.x[batch][mine] * keep[mine]
        error = x @ self.weight - self.y[batch][mine]
        loss = self.processes.sum_((error**2).sum() / len(batch))
        gradient = self.processes.sum_(2 * (x.T @ error) / len(batch))
        self.first.lerp_(gradient, 0.1)
        self.second.lerp_(gradient**2, 0.01)
        self.updates += 1
        rate = 0.05 * (1 - 0.99**self.updates) ** 0.5 / (1 - 0.9**self.updates)
        self.weight -= rate * self.first / (self.second.sqrt() + 1e-8)
        return {"loss": float(loss), "size": float(self.weight.norm())}

    def validate(self):
        return {"mrr": float(torch.cos(7 * self.weight.sum()))} if self.valid else {}

    def identity(self):
        return {"data": self.data}

    def save(self, folder):
        write_tensors(folder / "weight.safetensors", {"weight": self.weight})
        (folder / MODEL_MANIFEST).write_text('{"kind": "tiny model"}')


def bits(state):
    """Return a state as bytes by name, to compare it to the bit."""
    return {name: tensor.clone().numpy().tobytes() for name, tensor in state.items()}


def log_lines(folder):
    """Return the lines of a log without times and without notes of resuming."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines if "epoch" in line]
