"""What was trained or counted is kept between runs, as long as it is made in the same way."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.harness import WORK
from kgraft.graft import GraftSettings
from kgraft.graft.saving import read_config


def kept(folder: Path, settings: GraftSettings, identity: Mapping[str, object]) -> bool:
    """Tell whether a graft is there; one of other settings or texts is removed."""
    return same(folder, lambda: read_config(folder).facts, {**asdict(settings), **identity})


def same(
    folder: Path, facts: Callable[[], Mapping[str, object]], wanted: Mapping[str, object]
) -> bool:
    """Tell whether a model is there whose facts are the wanted ones; another is removed."""
    if not folder.exists():
        return False
    held, asked = facts(), json.loads(json.dumps(wanted))
    found = all(held.get(name) == value for name, value in asked.items())
    if not found:
        print(f"{folder.name} was trained with other settings or texts: anew", flush=True)
        shutil.rmtree(folder)
    return found


def counted(name: str, told: object, work: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the counts of a measurement; one made in the same way is not made again.

    `told` says how: all settings and data by their names.
    """
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:12]
    path = WORK / "counts" / f"{name}.{digest}.npy"
    if not path.exists():
        found = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.partial-{os.getpid()}.npy")
        np.save(beside, found)
        beside.replace(path)
    counts: np.ndarray = np.load(path)
    return counts
