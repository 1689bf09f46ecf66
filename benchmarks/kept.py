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
    if not folder.exists():
        return False
    facts = read_config(folder).facts
    wanted = json.loads(json.dumps({**asdict(settings), **identity}))
    same = all(facts.get(name) == value for name, value in wanted.items())
    if not same:
        print(f"{folder.name} was trained with other settings or texts: anew", flush=True)
        shutil.rmtree(folder)
    return same


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
