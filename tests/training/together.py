"""Train in as many processes as there are, resuming once; a script for `accelerate launch`."""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tests.training.tiny import Tiny, TinySettings

from kgraft.training import Processes, fit

EPOCHS = 4


def run(folder, processes):
    """Train, stopping after two epochs and resuming with a fresh task."""
    settings = TinySettings(epochs=EPOCHS, patience=3)
    task = Tiny(processes=processes)
    training = fit(task, folder / "out", settings, processes=processes)
    next(training), next(training)
    training.close()
    task = Tiny(processes=processes)
    epochs = list(fit(task, folder / "out", settings, processes=processes))
    assert [epoch.number for epoch in epochs] == [3, 4]
    return task.state()


def collective(processes):
    """Return what each collective call gives."""
    here = processes.index
    told = processes.broadcast({"figures": [0.1, float("inf")], "from": here})
    assert told == {"figures": [0.1, float("inf")], "from": 0}
    return {
        "sum": processes.sum_(torch.tensor([1.0, here])),
        "numbers": processes.gather(torch.arange(4 * here).reshape(2 * here, 2)),
        "rows": processes.gather(torch.full((here + 1, 2), float(here))),
    }


if __name__ == "__main__":
    processes = Processes.here()
    folder = Path(sys.argv[1])
    found = run(folder, processes) | collective(processes)
    save_file(found, folder / f"process{processes.index}.safetensors")
    processes.wait()
